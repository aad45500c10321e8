/** Phrasings of times, as people write them. It is Monday, 2 March 2026, 12:00 in Berlin. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEventTime } from "./read-event-time.ts";

const scope = { nowMs: Date.UTC(2026, 2, 2, 11), timeZone: "Europe/Berlin" };
/** `03-10 14:00 15:00`, in the zone of the event. */
async function shortTime(text: string, options = scope): Promise<string> {
  const { start, end } = await readEventTime(text, options);
  if ("date" in start) return `${start.date} ${"date" in end ? end.date : ""}`;
  return `${start.dateTime.slice(5, 16).replace("T", " ")} ${"dateTime" in end ? end.dateTime.slice(11, 16) : ""}`;
}

describe("days and times", () => {
  it.each([
    ["Schedule a meeting with the team next Tuesday 2pm", "03-10 14:00 15:00"],
    ["lunch tomorrow at 12:30", "03-03 12:30 13:30"],
    ["tomorrow at noon", "03-03 12:00 13:00"],
    ["a call on Friday at 9am", "03-06 09:00 10:00"],
    ["Tuesday at 14:00", "03-03 14:00 15:00"],
    ["meet today at 5 pm", "03-02 17:00 18:00"],
    ["the day after tomorrow at 9am", "03-04 09:00 10:00"],
    ["in 45 minutes", "03-02 12:45 13:45"],
    ["in two days at 10am", "03-04 10:00 11:00"],
    ["in an hour", "03-02 13:00 14:00"],
    ["3 March at 16:15", "03-03 16:15 17:15"],
    ["March 13th, 10 a.m.", "03-13 10:00 11:00"],
    ["2026-03-05 at 10:00", "03-05 10:00 11:00"],
    ["2026-03-05T10:00", "03-05 10:00 11:00"],
    ["the 15th at 3pm", "03-15 15:00 16:00"],
    ["on Sunday the 15th at 3pm", "03-15 15:00 16:00"],
    ["the 1st at 8:30", "04-01 08:30 09:30"],
    ["the 31st at 11am", "03-31 11:00 12:00"],
    ["end of month at 4pm", "03-31 16:00 17:00"],
    ["the end of next month at 4pm", "04-30 16:00 17:00"],
    ["end of the week, 3pm", "03-06 15:00 16:00"],
    ["EOD Friday", "03-06 17:00 18:00"],
    ["the first Monday of April at 10am", "04-06 10:00 11:00"],
    ["last Friday of the month at 10am", "03-27 10:00 11:00"],
    ["half past 2 tomorrow", "03-03 14:30 15:30"],
    ["quarter to 5pm on Friday", "03-06 16:45 17:45"],
    ["Friday 14h30", "03-06 14:30 15:30"],
    ["tomorrow at 02:30", "03-03 02:30 03:30"],
    ["tomorrow morning", "03-03 09:00 10:00"],
    ["tomorrow afternoon at 3", "03-03 15:00 16:00"],
    ["this evening", "03-02 18:00 19:00"],
    ["Wednesday from 2 to 4pm", "03-04 14:00 16:00"],
    ["Wednesday 9-10:30", "03-04 09:00 10:30"],
    ["Wednesday between 2 and 3", "03-04 14:00 15:00"],
    ["Wednesday 11 to 1pm", "03-04 11:00 13:00"],
    ["Friday 22:00-01:00", "03-06 22:00 01:00"],
  ])("%s: %s", async (text, expected) => {
    expect(await shortTime(text)).toBe(expected);
  });
});

describe("lengths", () => {
  it.each([
    ["tomorrow at 9 for 45 minutes", "03-03 09:00 09:45"],
    ["tomorrow at 9 for an hour and a half", "03-03 09:00 10:30"],
    ["tomorrow at 9 for two hours", "03-03 09:00 11:00"],
    ["tomorrow at 9 for 1h30", "03-03 09:00 10:30"],
    ["tomorrow at 9 for half an hour", "03-03 09:00 09:30"],
    ["a 30 minute call tomorrow at 9", "03-03 09:00 09:30"],
    ["a 2-hour meeting tomorrow at 9", "03-03 09:00 11:00"],
    ["a half-hour sync tomorrow at 9", "03-03 09:00 09:30"],
    ["a meeting tomorrow at 9 lasting 20 minutes", "03-03 09:00 09:20"],
  ])("%s: %s", async (text, expected) => {
    expect(await shortTime(text)).toBe(expected);
  });
});

describe("zones", () => {
  it.each([
    ["tomorrow at 2pm UTC", "2026-03-03T14:00:00.000Z", []],
    ["tomorrow at 2pm Europe/London", "2026-03-03T14:00:00.000Z", []],
    ["tomorrow at 2pm London time", "2026-03-03T14:00:00.000Z", []],
    ["tomorrow at 2pm New York time", "2026-03-03T19:00:00.000Z", []],
    ["tomorrow at 2pm EST", "2026-03-03T19:00:00.000Z", ["EST is read as the time of America/New_York"]],
    // In July people still write EST, and mean the clock on the wall.
    ["July 7 at 2pm EST", "2026-07-07T18:00:00.000Z", ["EST is read as the time of America/New_York"]],
    ["tomorrow at 9am (IST)", "2026-03-03T03:30:00.000Z", ["IST is read as the time of Asia/Kolkata"]],
    ["tomorrow at 2pm", "2026-03-03T13:00:00.000Z", []],
  ])("%s: %s", async (text, startsAt, assumptions) => {
    const found = await readEventTime(`${text} for 1 hour`, scope);
    expect([found.startsAt, found.assumptions]).toEqual([startsAt, assumptions]);
  });

  it("decide about today and tomorrow", async () => {
    // In Tokyo it is 20:00.
    expect((await readEventTime("at 9pm Tokyo time", scope)).startsAt).toBe("2026-03-02T12:00:00.000Z");
    expect((await readEventTime("at 7pm Tokyo time", scope)).startsAt).toBe("2026-03-03T10:00:00.000Z");
  });
});

describe("clock changes", () => {
  it("a skipped time is refused, with the next time that exists", async () => {
    await expect(readEventTime("29 March at 02:30", scope)).rejects.toMatchObject({
      type: "params",
      param: "time",
      message: expect.stringMatching(/02:30 does not exist on 2026-03-29 in Europe\/Berlin.*03:30/),
    });
  });

  it("a repeated time is the first one, and the answer says so", async () => {
    const found = await readEventTime("25 October at 02:30 for 1 hour", scope);
    expect(found.startsAt).toBe("2026-10-25T00:30:00.000Z");
    expect(found.assumptions).toEqual([expect.stringContaining("happens twice")]);
  });

  it("minutes from now are real minutes", async () => {
    const before = { nowMs: Date.UTC(2026, 2, 29, 0, 30), timeZone: "Europe/Berlin" };
    const found = await readEventTime("in 45 minutes", before);
    expect(found.startsAt).toBe("2026-03-29T01:15:00.000Z");
    expect(found.start).toEqual({ dateTime: "2026-03-29T03:15:00", timeZone: "Europe/Berlin" });
  });
});

describe("whole days and series", () => {
  it.each([
    ["all day on Friday", "2026-03-06 2026-03-07", null],
    ["all-day offsite from 9 March to 11 March", "2026-03-09 2026-03-12", null],
    ["standup every weekday at 9:15", "03-03 09:15 10:15", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
    ["every Tuesday at 10am", "03-03 10:00 11:00", "FREQ=WEEKLY;BYDAY=TU"],
    ["every other Friday at 4pm", "03-06 16:00 17:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"],
    ["every Monday and Thursday at 8am", "03-05 08:00 09:00", "FREQ=WEEKLY;BYDAY=MO,TH"],
    ["daily at 6pm", "03-02 18:00 19:00", "FREQ=DAILY"],
    ["weekly on Wednesdays at 3pm", "03-04 15:00 16:00", "FREQ=WEEKLY;BYDAY=WE"],
    ["monthly on the first Monday at 9am", "04-06 09:00 10:00", "FREQ=MONTHLY;BYDAY=1MO"],
    ["every month on the 15th at 9am", "03-15 09:00 10:00", "FREQ=MONTHLY;BYMONTHDAY=15"],
  ])("%s: %s", async (text, expected, recurrence) => {
    expect(await shortTime(text)).toBe(expected);
    expect((await readEventTime(text, scope)).recurrence).toBe(recurrence);
  });
});

describe("assumptions", () => {
  it.each([
    ["tomorrow at 3 for 1 hour", ["3 is read as 15:00"]],
    ["tomorrow at 9 for 1 hour", []],
    ["at 5pm for 1 hour", ["no day is named, so it is today, Monday, 2 March 2026"]],
    ["at 9am for 1 hour", ["no day is named, so it is tomorrow, Tuesday, 3 March 2026"]],
    ["next Tuesday at 2pm for 1 hour", ["next Tuesday is read as Tuesday, 10 March 2026"]],
    ["Monday at 9am for 1 hour", ["Monday is read as Monday, 9 March 2026, and not as today"]],
    ["tomorrow at 2pm", ["no length is named, so it lasts 60 minutes"]],
    ["5/6 at 2pm for 1 hour", ["5/6 is read as Wednesday, 6 May 2026: the month first"]],
    ["tomorrow morning for 1 hour", ["morning is read as 9:00"]],
    ["tomorrow from 2 to 4", ["2 is read as 14:00, in the afternoon"]],
  ])("%s: %j", async (text, expected) => {
    expect((await readEventTime(text, scope)).assumptions).toEqual(expected);
  });
});

describe("a request that cannot be understood is refused", () => {
  it.each([
    ["Schedule a meeting with the team", "names no time"],
    ["Meet on Friday", "names a day (Friday, 6 March 2026), but no time"],
    ["sometime in April", "names a month, but no day"],
    ["Tuesday or Thursday at 2pm", "names several days"],
    ["Friday at 2pm or at 4pm", "names several times"],
    ["yesterday at 2pm", "has passed"],
    ["today at 9am", "has passed"],
    ["2 March 2020 at 10am", "has passed"],
    ["Saturday the 15th at 2pm", "says Saturday, but that date is Sunday, 15 March 2026"],
    ["on February 30 at noon", "no day"],
    ["all day", "names no day"],
    ["", "names no time"],
    ["🙂".repeat(10_000), "names no time"],
  ])("%s", async (text, reason) => {
    const outcome = readEventTime(text, scope);
    await expect(outcome).rejects.toMatchObject({ type: "params", param: "time" });
    if (reason !== "no day") await expect(readEventTime(text, scope)).rejects.toThrow(reason);
  });
});

describe("against the platform's own calendar", () => {
  const zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "America/St_Johns"];
  /** Wall clock of an instant by the platform's formatter, which the code under test does not use. */
  const wall = (iso: string, timeZone: string) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(new Date(iso));
  const pad = (part: number) => String(part).padStart(2, "0");

  it("every written form of a date and time is that time on the wall of its zone", async () => {
    const form = fc.constantFrom(
      (date: Date, clock: string) => `${date.toISOString().slice(0, 10)} at ${clock}`,
      (date: Date, clock: string) =>
        `${date.getUTCDate()} ${date.toLocaleString("en", { month: "long", timeZone: "UTC" })} ${date.getUTCFullYear()} at ${clock}`,
      (date: Date, clock: string) =>
        `${clock} on ${date.toLocaleString("en", { month: "long", timeZone: "UTC" })} ${date.getUTCDate()}, ${date.getUTCFullYear()}`,
    );
    await fc.assert(
      fc.asyncProperty(
        form,
        fc.integer({ min: 1, max: 900 }),
        fc.integer({ min: 7, max: 23 }),
        fc.constantFrom(0, 5, 30, 59),
        fc.constantFrom(...zones),
        async (write, days, hour, minute, timeZone) => {
          const date = new Date(scope.nowMs + days * 86_400_000);
          const clock = `${pad(hour)}:${pad(minute)}`;
          const found = await readEventTime(write(date, clock), { nowMs: scope.nowMs, timeZone });
          expect(wall(found.startsAt, timeZone)).toBe(`${date.toISOString().slice(0, 10)} ${clock}`);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("a weekday is the next one, at every moment of a year", async () => {
    const names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 365 * 24 }),
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom(...zones),
        async (hours, weekday, timeZone) => {
          const nowMs = scope.nowMs + hours * 3_600_000;
          const today = wall(new Date(nowMs).toISOString(), timeZone).slice(0, 10);
          const found = await readEventTime(`${names[weekday]} at 11:45pm`, { nowMs, timeZone });
          const date = wall(found.startsAt, timeZone).slice(0, 10);
          const ahead = (Date.parse(date) - Date.parse(today)) / 86_400_000;
          expect(new Date(date).getUTCDay()).toBe(weekday);
          expect(ahead >= 0 && ahead <= 7).toBe(true);
          // A week ahead only because the time of today has passed.
          expect(ahead < 7 || wall(new Date(nowMs).toISOString(), timeZone).slice(11) >= "23:45").toBe(true);
          expect(Date.parse(found.startsAt)).toBeGreaterThan(nowMs);
        },
      ),
      { numRuns: 150 },
    );
  });
});
