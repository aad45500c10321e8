/** Where a setting was said, the strongest first. */
export const originKinds = ["flag", "environment", "project", "user", "default"] as const;

export interface Origin {
  from: (typeof originKinds)[number];
  /** The flag, the variable, `file:line`, or why it is the default. */
  where: string;
}

export interface Setting<T> {
  value: T;
  origin: Origin;
}

/** As it is shown to people. */
export function describeOrigin({ from, where }: Origin): string {
  return where === "" ? from : `${from} (${where})`;
}

/** One setting as it is shown. A key's value is never part of it. */
export interface ConfigRow {
  key: string;
  value: string | number | null;
  origin: Origin;
}
