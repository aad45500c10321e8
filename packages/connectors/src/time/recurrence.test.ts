/** Wall clock times of recurring events, against a plain walk over all days. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkRecurrence, expandRecurrence, type Recurrence } from "./recurrence.ts";

const dayMs = 86_400_000;
const weekdays = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/** The offset of a zone by the formatter of the platform, which the library under test does not use. */
function wallText(instantMs: number, timeZone: string): string {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone, ...wallStyle });
  formats.set(timeZone, format);
  return format.format(instantMs).replace(" ", "T");
}

const wallStyle = { dateStyle: "short", timeStyle: "medium" } as const;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Every instant whose wall clock shows the time of the start on a matching day: the slow and obvious way. */
function walk(
  { start }: Recurrence,
  span: { fromMs: number; toMs: number },
  matches: (day: Date) => boolean,
): number[] {
  const found: number[] = [];
  const first = Date.parse(`${start.dateTime.slice(0, 10)}T00:00:00Z`);
  for (let dayStartMs = first; dayStartMs < span.toMs + dayMs; dayStartMs += dayMs) {
    if (!matches(new Date(dayStartMs))) continue;
    const wanted = `${new Date(dayStartMs).toISOString().slice(0, 10)}T${start.dateTime.slice(11)}`;
    const guesses = Array.from({ length: 4 * 28 }, (_, i) => dayStartMs + timeMs(start.dateTime) + (i - 56) * 900_000);
    const hit = guesses.find((guessMs) => wallText(guessMs, start.timeZone) === wanted);
    if (hit !== undefined && hit >= span.fromMs && hit < span.toMs) found.push(hit);
  }
  return found;
}

function timeMs(dateTime: string): number {
  return Date.parse(`1970-01-01T${dateTime.slice(11)}Z`);
}

const start = fc.record({
  dateTime: fc
    .tuple(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 0, max: 95 }))
    .map(([day, quarter]) =>
      new Date(Date.UTC(2025, 0, 1) + day * dayMs + quarter * 900_000).toISOString().slice(0, 19),
    ),
  timeZone: fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Etc/UTC"),
});

describe("occurrences", () => {
  it("of a weekly rule are at its wall clock time, on its days, whatever the zone does", () => {
    fc.assert(
      fc.property(
        start,
        fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 60 }),
        (first, days, offset) => {
          const rule = `FREQ=WEEKLY;BYDAY=${days.map((day) => weekdays[day]).join(",")}`;
          const fromMs = Date.parse(`${first.dateTime}Z`) + (offset - 5) * dayMs;
          const span = { fromMs, toMs: fromMs + 30 * dayMs };
          const expected = walk({ rule, start: first }, span, (day) => days.includes(day.getUTCDay()));
          expect(expandRecurrence({ rule, start: first }, span)).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([
    { rule: "FREQ=MONTHLY;BYMONTHDAY=31", days: ["2026-01-31", "2026-03-31", "2026-05-31"] },
    { rule: "FREQ=MONTHLY;BYDAY=-1FR", days: ["2026-01-30", "2026-02-27", "2026-03-27", "2026-04-24", "2026-05-29"] },
    { rule: "FREQ=DAILY;COUNT=2", days: ["2026-01-01", "2026-01-02"] },
    { rule: "FREQ=DAILY;INTERVAL=60", days: ["2026-01-01", "2026-03-02", "2026-05-01"] },
    { rule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", days: [] },
  ])("$rule", ({ rule, days }) => {
    const first = { dateTime: "2026-01-01T12:00:00", timeZone: "Etc/UTC" };
    const span = { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 5, 1) };
    const found = expandRecurrence({ rule, start: first }, span).map((atMs) =>
      new Date(atMs).toISOString().slice(0, 10),
    );
    expect(found).toEqual(days);
  });
});

describe("a rule", () => {
  const first = { dateTime: "2026-01-01T12:00:00", timeZone: "Etc/UTC" };

  it.each(["FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH", "freq=monthly;bymonthday=-1", "FREQ=YEARLY;COUNT=3"])(
    "%s is accepted",
    (rule) => {
      expect(() => checkRecurrence({ rule, start: first })).not.toThrow();
    },
  );

  it.each([
    "",
    "tuesday",
    "FREQ=HOURLY",
    "FREQ=DAILY;BYHOUR=1,2,3",
    "FREQ=DAILY;COUNT=1000000",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;INTERVAL=100000;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=WEEKLY;UNTIL=20200101T000000Z",
    "FREQ=DAILY\nRRULE:FREQ=SECONDLY",
  ])("%j is refused with a params error", (rule) => {
    expect(() => checkRecurrence({ rule, start: first })).toThrow(
      expect.objectContaining({ type: "params", param: "recurrence" }),
    );
  });
});
