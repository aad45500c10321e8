import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import { ConnectorError } from "../ports/connector-error.ts";
import type { ZonedTime } from "../ports/event-time.ts";

/** A rule whose first occurrence is `start`. */
export interface Recurrence {
  /** An RRULE of RFC 5545 without its name. */
  rule: string;
  start: ZonedTime;
}

const frequencies = /(?:^|;)FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)(?:;|$)/i;
/** The library stops there, so that a rule without a match, such as February 30, costs little. */
const iterationsMax = 10_000;
/** More occurrences than this within one span are refused: a daily event of fifty years has fewer. */
export const occurrencesMax = 20_000;

/**
 * The starts of all occurrences from `fromMs` until before `toMs`, in ms since 1970. The wall clock time stays the same all
 * year. An occurrence whose wall clock time the zone skips is left out, as RFC 5545 demands.
 *
 * @example
 * const start = { dateTime: "2026-03-24T14:00:00", timeZone: "Europe/Berlin" };
 * expandRecurrence({ rule: "FREQ=WEEKLY", start }, { fromMs: Date.UTC(2026, 2, 1), toMs: Date.UTC(2026, 3, 1) });
 * // [1774357200000, 1774958400000]: two Tuesdays, 14:00 before and after the clocks change
 */
export function expandRecurrence({ rule, start }: Recurrence, span: { fromMs: number; toMs: number }): number[] {
  const parsed = parsedRule({ rule, start });
  const starts = usable(rule, () => parsed.between(new Date(span.fromMs), new Date(span.toMs), true));
  return starts.map(({ epochMilliseconds }) => epochMilliseconds).filter((atMs) => atMs < span.toMs);
}

/**
 * Checks a rule. Throws `params` if it cannot be read, repeats within a day, or never happens.
 *
 * @example
 * checkRecurrence({ rule: "FREQ=HOURLY", start }); // throws: the rule has to repeat daily, weekly, monthly or yearly
 */
export function checkRecurrence(recurrence: Recurrence): void {
  if (!frequencies.test(recurrence.rule) || /BY(?:HOUR|MINUTE|SECOND)=/i.test(recurrence.rule)) {
    throw invalidRule(recurrence.rule, "it has to repeat daily, weekly, monthly or yearly");
  }
  const count = Number(/(?:^|;)COUNT=(\d+)/i.exec(recurrence.rule)?.[1] ?? 1);
  if (count > occurrencesMax) throw invalidRule(recurrence.rule, `COUNT is more than ${occurrencesMax}`);
  const { epochMilliseconds } = Temporal.ZonedDateTime.from(
    `${recurrence.start.dateTime}[${recurrence.start.timeZone}]`,
  );
  const parsed = parsedRule(recurrence);
  const first = usable(recurrence.rule, () => parsed.next(new Date(epochMilliseconds), true));
  if (first === null) throw invalidRule(recurrence.rule, "it has no occurrence");
}

function parsedRule({ rule, start }: Recurrence) {
  const compact = start.dateTime.replace(/[-:]/g, "").replace(/\..*$/, "").padEnd("20260324T140000".length, "0");
  const rruleString = `DTSTART;TZID=${start.timeZone}:${compact}\nRRULE:${rule}`;
  return usable(
    rule,
    () => new RRuleTemporal({ rruleString, temporal: Temporal, maxIterations: iterationsMax, cache: false }),
  );
}

/** The library throws for a rule that it cannot read, and for one that needs too many iterations. */
function usable<Result>(rule: string, act: () => Result): Result {
  try {
    return act();
  } catch (cause) {
    throw invalidRule(rule, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function invalidRule(rule: string, reason: string, cause?: unknown): ConnectorError {
  return new ConnectorError("params", `recurrence ${JSON.stringify(rule)} is not a usable RRULE: ${reason}`, {
    param: "recurrence",
    fix: "write it like FREQ=WEEKLY;BYDAY=TU",
    cause,
  });
}
