/** One line of a scenario's report: a check, its value, and the expected value. */
export interface OracleResult {
  what: string;
  value: string | number;
  /** In words; absent where nothing is promised. */
  wanted?: string;
  ok: boolean;
}

/** Something that must not have happened at all. */
export function none(what: string, found: readonly unknown[]): OracleResult {
  const shown = found.slice(0, 3).map(String).join("; ");
  const value = found.length === 0 ? 0 : `${found.length} (${shown}${found.length > 3 ? "; …" : ""})`;
  return { what, value, wanted: "0", ok: found.length === 0 };
}

export function all(what: string, count: number, of: number): OracleResult {
  return { what, value: `${count}/${of}`, wanted: `${of}/${of}`, ok: count === of };
}

export function atMost(what: string, value: number, max: number, unit = ""): OracleResult {
  return { what, value: `${round(value)}${unit}`, wanted: `≤ ${round(max)}${unit}`, ok: value <= max };
}

export function noted(what: string, value: string | number): OracleResult {
  return { what, value: typeof value === "number" ? round(value) : value, ok: true };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
