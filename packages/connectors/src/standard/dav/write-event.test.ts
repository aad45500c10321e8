import ICAL from "ical.js";
import { expect, test } from "vitest";
import { parseEvent } from "../../import/parse-event.ts";
import type { EventRecord } from "../../local/calendar/event-store.ts";
import { openMemoryOffice } from "../../local/database/office-database.ts";
import type { LocalAccount } from "../../local/local-account.ts";
import { writeEvent } from "./write-event.ts";
import { zoneRules } from "./zone-rules.ts";

const me = { name: "Me", address: "me@acme.example" };
const account: LocalAccount = {
  database: openMemoryOffice(),
  clock: { now: () => Date.UTC(2026, 2, 2, 12) },
  ...{ person: me, mailbox: 1, timeZone: "Europe/Berlin" },
};
const at = (dateTime: string) => ({ dateTime: `${dateTime}:00`, timeZone: "Europe/Berlin" });
const weekly: EventRecord = {
  ...{ id: "evt_1", uid: "1@acme.example", exceptionOf: null, isCancelled: false, title: "Review" },
  ...{ description: "a\nb", location: "Room 1, left", organizer: me, visibility: "private", showAs: "free" },
  attendees: [{ name: 'Ana; "A"', address: "ana@acme.example", response: "tentative" }],
  ...{ start: at("2026-03-03T14:00"), end: at("2026-03-03T15:00"), recurrence: "FREQ=WEEKLY" },
};
const exception = (day: number, change: Partial<EventRecord>): EventRecord => ({
  ...{ ...weekly, recurrence: null, ...change },
  exceptionOf: { series: "evt_1", originalMs: Date.UTC(2026, 2, day, 13) },
});
const eventsIn = (text: string) =>
  new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").map((each) => parseEvent(each, account));

test("a written event is read again as it was", () => {
  const text = writeEvent(null, { master: weekly, exceptions: [] }, account);
  const [read] = eventsIn(text);
  const { id: _, attendees: __, ...same } = weekly;
  expect(read?.event).toMatchObject(same);
  expect(read?.event.attendees).toEqual([{ name: "Ana; 'A'", address: "ana@acme.example", response: "tentative" }]);
  expect(text).toContain("TZID:Europe/Berlin");
});

test("deleted occurrences are dates, and changed ones are events", () => {
  const exceptions = [
    exception(10, { isCancelled: true }),
    exception(17, { title: "Moved", start: at("2026-03-18T09:00"), end: at("2026-03-18T10:00") }),
  ];
  const text = writeEvent(null, { master: weekly, exceptions }, account);
  expect(text).toContain("EXDATE;TZID=Europe/Berlin:20260310T140000");
  const [master, moved] = eventsIn(text);
  expect(master?.cancelledMs.map(({ originalMs }) => originalMs)).toEqual([Date.UTC(2026, 2, 10, 13)]);
  expect(moved?.event).toMatchObject({ title: "Moved", recurrence: null, start: at("2026-03-18T09:00") });
  expect(moved?.event.exceptionOf?.originalMs).toBe(Date.UTC(2026, 2, 17, 13));
  const without = writeEvent(text, { master: weekly, exceptions: [] }, account);
  expect([eventsIn(without).length, without.includes("EXDATE")]).toEqual([1, false]);
});

test("a day event has days, and a line break in a title begins no property", () => {
  const master: EventRecord = {
    ...{ ...weekly, title: "a\nATTENDEE:mailto:eve@evil.example", attendees: [], recurrence: null },
    ...{ start: { date: "2026-03-03" }, end: { date: "2026-03-04" } },
  };
  const text = writeEvent(null, { master, exceptions: [] }, account);
  expect(text).toContain("DTSTART;VALUE=DATE:20260303");
  expect(text).not.toMatch(/^ATTENDEE/m);
});

test("the rules of a zone are its next changes of the clock, or its only offset", () => {
  const berlin = zoneRules("Europe/Berlin", 2026).toString();
  expect(berlin).toMatch(/BEGIN:DAYLIGHT[\s\S]*TZOFFSETFROM:\+0100[\s\S]*TZOFFSETTO:\+0200[\s\S]*BYMONTH=3;BYDAY=-1SU/);
  expect(berlin).toMatch(/BEGIN:STANDARD[\s\S]*TZOFFSETTO:\+0100[\s\S]*BYDAY=-1SU/);
  expect(zoneRules("America/New_York", 2026).toString()).toContain("BYDAY=2SU");
  const kolkata = zoneRules("Asia/Kolkata", 2026).toString();
  expect(kolkata).toContain("TZOFFSETTO:+0530");
  expect(kolkata).not.toContain("DAYLIGHT");
});

test("another rule replaces the rule of an event", () => {
  const text = writeEvent(null, { master: weekly, exceptions: [] }, account);
  const rulesAfter = (recurrence: string | null) =>
    new ICAL.Component(ICAL.parse(writeEvent(text, { master: { ...weekly, recurrence }, exceptions: [] }, account)))
      .getFirstSubcomponent("vevent")
      ?.getAllProperties("rrule")
      .map((rule) => String(rule.getFirstValue()));
  expect(rulesAfter("FREQ=DAILY;COUNT=3")).toEqual(["FREQ=DAILY;COUNT=3"]);
  expect(rulesAfter(null)).toEqual([]);
});

test("a change keeps the properties of other programs, and is a newer version", () => {
  const text = writeEvent(null, { master: weekly, exceptions: [] }, account)
    .replace(
      "END:VEVENT",
      "X-OTHER-COLOUR:blue\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\nEND:VEVENT",
    )
    .replace("SUMMARY:Review", "SUMMARY;X-OTHER=1:Review");
  const changed = writeEvent(text, { master: { ...weekly, location: "Room 2" }, exceptions: [] }, account);
  for (const line of ["X-OTHER-COLOUR:blue", "TRIGGER:-PT15M", "SUMMARY;X-OTHER=1:Review", "LOCATION:Room 2"]) {
    expect(changed).toContain(line);
  }
  expect([text, changed].map((each) => /SEQUENCE:(\d+)/.exec(each)?.[1])).toEqual(["0", "1"]);
});

test("guests who stay keep their other properties", () => {
  const text = writeEvent(null, { master: weekly, exceptions: [] }, account).replace(
    "PARTSTAT=",
    "CUTYPE=INDIVIDUAL;PARTSTAT=",
  );
  const eve = { name: "Eve", address: "eve@acme.example", response: "none" as const };
  const master = { ...weekly, attendees: [...weekly.attendees, eve] };
  const changed = writeEvent(text, { master, exceptions: [] }, account).replace(/\r\n /g, "");
  expect(changed).toMatch(/ATTENDEE;[^\r]*CUTYPE=INDIVIDUAL[^\r]*mailto:ana@acme\.example/);
  expect(changed).toMatch(/ATTENDEE;[^\r]*PARTSTAT=NEEDS-ACTION[^\r]*mailto:eve@acme\.example/);
});
