/** How a header says a span of time: `6m0s`, `1.5s`, `20ms`; a bare number counts seconds. */
const spanPart = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * How long a server wants to be left alone, in whichever of the usual ways it says so; null where it does not.
 *
 * @example
 * retryAfterMs(new Headers({ "retry-after": "2" }), Date.now()); // 2000
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const exactMs = numberIn(headers.get("retry-after-ms"));
  if (exactMs !== null) return exactMs;
  const said = headers.get("retry-after");
  if (said !== null) return secondsOrDate(said, nowMs);
  const resets = ["requests", "tokens"].flatMap((what) => {
    const left = numberIn(headers.get(`x-ratelimit-remaining-${what}`));
    return left === 0 ? [spanMs(headers.get(`x-ratelimit-reset-${what}`))] : [];
  });
  const known = resets.filter((reset) => reset !== null);
  if (known.length > 0) return Math.max(...known);
  return resetAt(numberIn(headers.get("x-ratelimit-reset")), nowMs);
}

function secondsOrDate(said: string, nowMs: number): number | null {
  const seconds = numberIn(said);
  if (seconds !== null) return seconds * 1_000;
  const atMs = Date.parse(said);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

function spanMs(said: string | null): number | null {
  if (said === null) return null;
  const seconds = numberIn(said);
  if (seconds !== null) return seconds * 1_000;
  const parts = [...said.matchAll(spanPart)];
  if (parts.length === 0) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit ?? ""] ?? 0), 0);
}

/** A moment since 1970, in ms or seconds: as OpenRouter says it. */
function resetAt(moment: number | null, nowMs: number): number | null {
  if (moment === null || moment < 1e9) return null;
  return Math.max(0, (moment < 1e11 ? moment * 1_000 : moment) - nowMs);
}

function numberIn(said: string | null): number | null {
  if (said === null || said.trim() === "") return null;
  const value = Number(said);
  return Number.isFinite(value) && value >= 0 ? value : null;
}
