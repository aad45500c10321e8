/** Spans of time, as people write them. It is Wednesday, 4 March 2026, 12:00 in Berlin. */
import { describe, expect, it } from "vitest";
import { rangeText, readTimeRange } from "./read-time-range.ts";

const scope = { nowMs: Date.UTC(2026, 2, 4, 11), timeZone: "Europe/Berlin" };

/** `03-02 00:00 - 03-09 00:00`, on the wall in Berlin. */
async function shortRange(text: string, direction: "past" | "future"): Promise<string | null> {
  const found = await readTimeRange(text, { ...scope, direction });
  if (!found) return null;
  const wall = (iso: string) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "short" })
      .format(new Date(iso))
      .slice(5);
  return `${wall(found.from)} - ${wall(found.to)}`;
}

describe("in the past, as in a search", () => {
  it.each([
    ["emails from the last 7 days", "02-25 12:00 - 03-04 12:00"],
    ["the past two weeks", "02-18 12:00 - 03-04 12:00"],
    ["last 3 hours", "03-04 09:00 - 03-04 12:00"],
    ["messages of the last 7d", "02-25 12:00 - 03-04 12:00"],
    ["today", "03-04 00:00 - 03-05 00:00"],
    ["yesterday", "03-03 00:00 - 03-04 00:00"],
    ["yesterday afternoon", "03-03 12:00 - 03-03 18:00"],
    ["this week", "03-02 00:00 - 03-09 00:00"],
    ["last week", "02-23 00:00 - 03-02 00:00"],
    ["last month", "02-01 00:00 - 03-01 00:00"],
    ["last quarter", "10-01 00:00 - 01-01 00:00"],
    ["this year", "01-01 00:00 - 01-01 00:00"],
    ["since Monday", "03-02 00:00 - 03-04 12:00"],
    ["since yesterday", "03-03 00:00 - 03-04 12:00"],
    ["last Tuesday", "03-03 00:00 - 03-04 00:00"],
    ["on Friday", "02-27 00:00 - 02-28 00:00"],
    ["in February", "02-01 00:00 - 03-01 00:00"],
    ["between 1 and 3 March", "03-01 00:00 - 03-04 00:00"],
    ["from February 10 to February 12", "02-10 00:00 - 02-13 00:00"],
    ["before 1 March", "01-01 01:00 - 03-01 00:00"],
    ["after 1 March", "03-02 00:00 - 03-04 12:00"],
    ["2026-02-14", "02-14 00:00 - 02-15 00:00"],
  ])("%s: %s", async (text, expected) => {
    expect(await shortRange(text, "past")).toBe(expected);
  });
});

describe("in the future, as in a calendar", () => {
  it.each([
    ["next week", "03-09 00:00 - 03-16 00:00"],
    ["this weekend", "03-07 00:00 - 03-09 00:00"],
    ["next 2 weeks", "03-04 12:00 - 03-18 12:00"],
    ["next month", "04-01 00:00 - 05-01 00:00"],
    ["tomorrow", "03-05 00:00 - 03-06 00:00"],
    ["tomorrow morning", "03-05 06:00 - 03-05 12:00"],
    ["Friday", "03-06 00:00 - 03-07 00:00"],
    ["on Friday at 2pm", "03-06 14:00 - 03-06 15:00"],
    ["Tuesday between 2 and 4pm", "03-10 14:00 - 03-10 16:00"],
    ["from Thursday to Friday", "03-05 00:00 - 03-07 00:00"],
    ["March 10-12", "03-10 00:00 - 03-13 00:00"],
    ["until Friday", "03-04 12:00 - 03-07 00:00"],
    // The clocks change in this week.
    ["from 23 March to 29 March", "03-23 00:00 - 03-30 00:00"],
  ])("%s: %s", async (text, expected) => {
    expect(await shortRange(text, "future")).toBe(expected);
  });
});

it.each(["mails from Ana about the budget", "everything", "", "the 7 dwarfs"])("%j names no span", async (text) => {
  expect(await shortRange(text, "past")).toBeNull();
});

it("a span that ends before it begins is refused", async () => {
  const attempt = readTimeRange("from 12 March to 10 March", { ...scope, direction: "future" });
  await expect(attempt).rejects.toMatchObject({ type: "params", param: "range" });
});

it("is written for people", () => {
  const week = { from: "2026-03-01T23:00:00.000Z", to: "2026-03-08T23:00:00.000Z" };
  expect(rangeText(week, "Europe/Berlin")).toBe("Monday, 2 March 2026 to Sunday, 8 March 2026");
  expect(rangeText({ ...week, to: "2026-03-02T23:00:00.000Z" }, "Europe/Berlin")).toBe("Monday, 2 March 2026");
});
