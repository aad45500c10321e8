import { isIP } from "node:net";
import { TroupeError } from "@troupe/core";

/** A flag's text as a whole number within bounds; anything else names the value and the fix. */
export function parseWhole(flag: string, text: string, bounds: { min: number; max: number; fix: string }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  const wanted = `a whole number from ${bounds.min} to ${bounds.max}`;
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(text)} is not ${wanted}`, {
    fix: bounds.fix,
  });
}

/** 0 lets the system choose. */
export function parsePort(text: string): number {
  return parseWhole("--port", text, { min: 0, max: 65_535, fix: "troupe up --port 4711" });
}

/** Up to what a timer can hold. */
export function parseTimeoutMs(text: string): number {
  return parseWhole("--timeout", text, { min: 1, max: 2_147_483_647, fix: 'troupe run "…" --timeout 60000' });
}

export function parseLimit(text: string): number {
  return parseWhole("--limit", text, { min: 1, max: 500, fix: "troupe sessions ls --limit 20" });
}

/** Only this machine: whoever reaches the API can run commands on it. */
export function parseHost(text: string): string {
  if (text === "localhost" || text === "::1" || (isIP(text) === 4 && text.startsWith("127."))) return text;
  throw new TroupeError("USAGE", `--host ${JSON.stringify(text)} is not an address of this machine alone`, {
    fix: "troupe up --host 127.0.0.1",
  });
}
