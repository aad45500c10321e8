/** Origins of a setting, the strongest first. */
export const originKinds = ["flag", "environment", "project", "user", "default"] as const;

export interface Origin {
  from: (typeof originKinds)[number];
  /** The flag, the variable, `file:line`, or the reason for the default. */
  where: string;
}

export interface Setting<T> {
  value: T;
  origin: Origin;
}

/** For display: `environment (NATS_URL)`. */
export function describeOrigin({ from, where }: Origin): string {
  return where === "" ? from : `${from} (${where})`;
}

/** One setting for display, without the value of a key. */
export interface ConfigRow {
  key: string;
  value: string | number | null;
  origin: Origin;
}
