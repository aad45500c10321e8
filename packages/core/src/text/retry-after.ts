/** One part of a duration such as `6m0s`, `1.5s` or `20ms`. */
const durationPart = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The wait that a server asks for, in any of the usual headers; null if it asks for none.
 *
 * @example
 * retryAfterMs(new Headers({ "retry-after": "2" }), Date.now()); // 2000
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const exactMs = numberIn(headers.get("retry-after-ms"));
  if (exactMs !== null) return exactMs;
  const retryAfter = headers.get("retry-after");
  if (retryAfter !== null) return secondsOrDate(retryAfter, nowMs);
  const resets = ["requests", "tokens"].flatMap((what) => {
    const left = numberIn(headers.get(`x-ratelimit-remaining-${what}`));
    return left === 0 ? [durationMs(headers.get(`x-ratelimit-reset-${what}`))] : [];
  });
  const known = resets.filter((reset) => reset !== null);
  if (known.length > 0) return Math.max(...known);
  return resetAt(numberIn(headers.get("x-ratelimit-reset")), nowMs);
}

function secondsOrDate(text: string, nowMs: number): number | null {
  const seconds = numberIn(text);
  if (seconds !== null) return seconds * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/** A duration with units, or a plain number of seconds. */
function durationMs(text: string | null): number | null {
  if (text === null) return null;
  const seconds = numberIn(text);
  if (seconds !== null) return seconds * 1_000;
  const parts = [...text.matchAll(durationPart)];
  if (parts.length === 0) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit ?? ""] ?? 0), 0);
}

/** A timestamp in ms or seconds since 1970, as OpenRouter sends it. */
function resetAt(timestamp: number | null, nowMs: number): number | null {
  if (timestamp === null || timestamp < 1e9) return null;
  return Math.max(0, (timestamp < 1e11 ? timestamp * 1_000 : timestamp) - nowMs);
}

function numberIn(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}
