/** A time in the format of the record's rows. */
export function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function earlier(a: string, b: string): string {
  return a.localeCompare(b) <= 0 ? a : b;
}
