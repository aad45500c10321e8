import type { CalendarConnector, CalendarEvent, NewEvent, Person } from "@troupe/connectors";
import { describe, expect, test } from "vitest";

export interface CalendarHarness extends AsyncDisposable {
  /** The calendar of the user, in `Europe/Berlin`, at noon UTC of Monday, 2 March 2026. */
  calendar: CalendarConnector;
  user: Person;
  /** A person whose calendar the user can see, and that calendar. */
  colleague: { person: Person; calendar: CalendarConnector };
}

const timeZone = "Europe/Berlin";
const at = (dateTime: string) => ({ dateTime: `${dateTime}:00`, timeZone });
const keyed = (idempotencyKey: string) => ({ idempotencyKey });
const paramsError = (text: string) => ({ type: "params", message: expect.stringContaining(text) });
const march = { from: "2026-03-01T00:00:00Z", to: "2026-04-01T00:00:00Z" };
const meeting: NewEvent = { title: "Review", start: at("2026-03-03T14:00"), end: at("2026-03-03T15:00") };

const starts = (events: { items: CalendarEvent[] }) => events.items.map(({ startsAt }) => startsAt.slice(0, 16));

/** Promises that not every service makes. */
export interface CalendarPromises {
  /** An event appears in the calendars of its attendees. @default true */
  deliversEvents?: boolean;
}

/** The contract of the calendar port, tested on each adapter. */
export function calendarConformance(
  create: () => Promise<CalendarHarness>,
  { deliversEvents = true }: CalendarPromises = {},
): void {
  /** A test of events in the calendars of their attendees. */
  const testDelivery = deliversEvents ? test : () => {};

  describe("an event", () => {
    test("is created once for a key, with its instants", async () => {
      await using harness = await create();
      const event = { ...meeting, attendees: [harness.colleague.person], location: "Room 1" };
      const created = await harness.calendar.createEvent(event, keyed("k1"));
      expect(await harness.calendar.createEvent(event, keyed("k1"))).toEqual(created);
      expect(created).toMatchObject({
        title: "Review",
        location: "Room 1",
        startsAt: "2026-03-03T13:00:00.000Z",
        endsAt: "2026-03-03T14:00:00.000Z",
        organizer: harness.user,
        attendees: [{ ...harness.colleague.person, response: "none" }],
        series: null,
      });
      expect((await harness.calendar.listEvents(march)).items).toEqual([created]);
      expect(await harness.calendar.getEvent(created.id)).toEqual(created);
    });

    test("is found by its key, where the adapter can tell, until it is deleted", async () => {
      await using harness = await create();
      const { calendar } = harness;
      const find = async (key: string) => (calendar.createdEvent ? await calendar.createdEvent(keyed(key)) : undefined);
      const created = await calendar.createEvent(meeting, keyed("k1"));
      const unknown = calendar.createdEvent ? null : undefined;
      expect(await find("k1")).toEqual(unknown === null ? created : undefined);
      expect(await find("k2")).toBe(unknown);
      await calendar.deleteEvent(created.id);
      expect(await find("k1")).toBe(unknown);
    });

    test("with a used key and another content is refused", async () => {
      await using harness = await create();
      await harness.calendar.createEvent(meeting, keyed("k1"));
      const other = harness.calendar.createEvent({ ...meeting, title: "Other" }, keyed("k1"));
      await expect(other).rejects.toMatchObject(paramsError("k1"));
      expect((await harness.calendar.listEvents(march)).items).toHaveLength(1);
    });

    test.for([
      { what: "an end before the start", change: { end: at("2026-03-03T13:00") }, param: "end" },
      { what: "an end at the start", change: { end: meeting.start }, param: "end" },
      { what: "a day as the end of a time", change: { end: { date: "2026-03-04" } }, param: "end" },
      { what: "an empty title", change: { title: "" }, param: "title" },
      { what: "a line break in the title", change: { title: "a\r\nATTENDEE:b" }, param: "title" },
      {
        what: "an unknown zone",
        change: { start: { dateTime: "2026-03-03T14:00:00", timeZone: "Mars/Olympus" } },
        param: "start.timeZone",
      },
      { what: "a day that does not exist", change: { start: { date: "2026-02-30" } }, param: "start.date" },
      {
        what: "a time that the zone skips",
        change: { start: at("2026-03-29T02:30"), end: at("2026-03-29T04:00") },
        param: "start",
      },
      {
        what: "an attendee without an address",
        change: { attendees: [{ address: "bob" }] },
        param: "attendees.0.address",
      },
      { what: "a rule that is not one", change: { recurrence: "every Tuesday" }, param: "recurrence" },
      { what: "a rule that repeats each minute", change: { recurrence: "FREQ=MINUTELY" }, param: "recurrence" },
      {
        what: "a rule of February 30",
        change: { recurrence: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" },
        param: "recurrence",
      },
      {
        what: "a rule with another property",
        change: { recurrence: "FREQ=DAILY\r\nDTSTART:20200101" },
        param: "recurrence",
      },
    ])("with $what is refused, and not stored", async ({ change, param }) => {
      await using harness = await create();
      const attempt = harness.calendar.createEvent({ ...meeting, ...change } as NewEvent, keyed("k1"));
      await expect(attempt).rejects.toMatchObject({ type: "params", param });
      expect((await harness.calendar.listEvents({ ...march, to: "2026-05-01T00:00:00Z" })).items).toEqual([]);
    });

    test("of whole days begins at midnight of the calendar's zone", async () => {
      await using harness = await create();
      const fair = { title: "Fair", start: { date: "2026-03-28" }, end: { date: "2026-03-30" } };
      const { startsAt, endsAt } = await harness.calendar.createEvent(fair, keyed("k1"));
      // The clocks go forward in this night.
      expect([startsAt, endsAt]).toEqual(["2026-03-27T23:00:00.000Z", "2026-03-29T22:00:00.000Z"]);
    });

    test("at a time that the zone repeats is at the earlier one", async () => {
      await using harness = await create();
      const night = { title: "Night", start: at("2026-10-25T02:30"), end: at("2026-10-25T05:00") };
      const { startsAt } = await harness.calendar.createEvent(night, keyed("k1"));
      expect(startsAt).toBe("2026-10-25T00:30:00.000Z");
    });

    test("that does not exist is a params error for a read and a change, and false for a delete", async () => {
      await using harness = await create();
      await expect(harness.calendar.getEvent("none")).rejects.toMatchObject(paramsError('"none"'));
      await expect(harness.calendar.updateEvent("none", { title: "x" })).rejects.toMatchObject(paramsError('"none"'));
      expect(await harness.calendar.deleteEvent("none")).toBe(false);
    });
  });

  describe("a change", () => {
    test("keeps all other fields, and a new start keeps the duration", async () => {
      await using harness = await create();
      const created = await harness.calendar.createEvent({ ...meeting, description: "Bring notes" }, keyed("k1"));
      const changed = await harness.calendar.updateEvent(created.id, { start: at("2026-03-04T10:00") });
      expect(changed).toMatchObject({ id: created.id, title: "Review", description: "Bring notes" });
      expect([changed.startsAt, changed.endsAt]).toEqual(["2026-03-04T09:00:00.000Z", "2026-03-04T10:00:00.000Z"]);
      expect(starts(await harness.calendar.listEvents(march))).toEqual(["2026-03-04T09:00"]);
    });

    test.for([
      { what: "nothing", changes: {} },
      { what: "an end before the start", changes: { end: at("2026-03-01T10:00") } },
      { what: "a line break in the title", changes: { title: "a\nb" } },
    ])("of $what is refused, and changes nothing", async ({ changes }) => {
      await using harness = await create();
      const created = await harness.calendar.createEvent(meeting, keyed("k1"));
      await expect(harness.calendar.updateEvent(created.id, changes)).rejects.toMatchObject({ type: "params" });
      expect(await harness.calendar.getEvent(created.id)).toEqual(created);
    });

    testDelivery("by an attendee is not permitted", async () => {
      await using harness = await create();
      const { id } = await harness.calendar.createEvent(
        { ...meeting, attendees: [harness.colleague.person] },
        keyed("k1"),
      );
      const attempt = harness.colleague.calendar.updateEvent(id, { title: "Mine" });
      await expect(attempt).rejects.toMatchObject({ type: "permission" });
      expect((await harness.calendar.getEvent(id)).title).toBe("Review");
    });

    test("of the attendees keeps the responses of remaining attendees", async () => {
      await using harness = await create();
      const { person } = harness.colleague;
      const { id } = await harness.calendar.createEvent({ ...meeting, attendees: [person] }, keyed("k1"));
      const eve = { name: "Eve", address: "eve@client.example" };
      const { attendees } = await harness.calendar.updateEvent(id, { attendees: [eve, person] });
      expect(attendees.map(({ address }) => address)).toEqual([eve.address, person.address]);
    });
  });

  describe("a deleted event", () => {
    test("is gone for all, and a second delete returns false", async () => {
      await using harness = await create();
      const { id } = await harness.calendar.createEvent(
        { ...meeting, attendees: [harness.colleague.person] },
        keyed("k1"),
      );
      expect(await harness.calendar.deleteEvent(id)).toBe(true);
      expect(await harness.calendar.deleteEvent(id)).toBe(false);
      expect((await harness.calendar.listEvents(march)).items).toEqual([]);
      expect((await harness.colleague.calendar.listEvents(march)).items).toEqual([]);
    });

    testDelivery("of an attendee stays in the organizer's calendar, as declined", async () => {
      await using harness = await create();
      const { person, calendar } = harness.colleague;
      const { id } = await harness.calendar.createEvent({ ...meeting, attendees: [person] }, keyed("k1"));
      expect(await calendar.deleteEvent(id)).toBe(true);
      expect((await calendar.listEvents(march)).items).toEqual([]);
      expect((await harness.calendar.getEvent(id)).attendees).toEqual([{ ...person, response: "declined" }]);
    });
  });

  describe("a recurring event", () => {
    const weekly: NewEvent = { ...meeting, recurrence: "FREQ=WEEKLY;BYDAY=TU" };

    test("keeps its wall clock time when the clocks change", async () => {
      await using harness = await create();
      await harness.calendar.createEvent(weekly, keyed("k1"));
      const events = await harness.calendar.listEvents({ from: "2026-03-20T00:00:00Z", to: "2026-04-08T00:00:00Z" });
      expect(starts(events)).toEqual(["2026-03-24T13:00", "2026-03-31T12:00", "2026-04-07T12:00"]);
      expect(events.items.map(({ start }) => "dateTime" in start && start.dateTime.slice(11, 16))).toEqual(
        Array.from({ length: 3 }, () => "14:00"),
      );
    });

    test.for([
      { rule: "FREQ=DAILY;COUNT=3", days: ["03", "04", "05"] },
      { rule: "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH", days: ["03", "05", "17", "19", "31"] },
      { rule: "FREQ=WEEKLY;BYDAY=TU;UNTIL=20260317T130000Z", days: ["03", "10", "17"] },
      { rule: "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=-1", days: ["31"] },
      { rule: "FREQ=MONTHLY;BYMONTHDAY=3", days: ["03"] },
      { rule: "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=5", days: ["03", "04", "05", "06", "09"] },
    ])("$rule", async ({ rule, days }) => {
      await using harness = await create();
      await harness.calendar.createEvent({ ...meeting, recurrence: rule }, keyed("k1"));
      const events = await harness.calendar.listEvents(march);
      expect(starts(events).map((start) => start.slice(8, 10))).toEqual(days);
    });

    test("can be found years ahead", async () => {
      await using harness = await create();
      await harness.calendar.createEvent(weekly, keyed("k1"));
      const events = await harness.calendar.listEvents({ from: "2031-03-01T00:00:00Z", to: "2031-03-15T00:00:00Z" });
      expect(starts(events)).toEqual(["2031-03-04T13:00", "2031-03-11T13:00"]);
    });

    test("of whole days lasts whole days, also when the clocks change", async () => {
      await using harness = await create();
      const event = {
        title: "Duty",
        start: { date: "2026-03-21" },
        end: { date: "2026-03-23" },
        recurrence: "FREQ=WEEKLY",
      };
      await harness.calendar.createEvent(event, keyed("k1"));
      const { items } = await harness.calendar.listEvents({ from: "2026-03-26T00:00:00Z", to: "2026-04-01T00:00:00Z" });
      expect(items.map(({ start, end }) => [start, end])).toEqual([[{ date: "2026-03-28" }, { date: "2026-03-30" }]]);
    });

    test("can be changed and deleted in one occurrence", async () => {
      await using harness = await create();
      const series = await harness.calendar.createEvent(weekly, keyed("k1"));
      const [first, second, third] = (await harness.calendar.listEvents(march)).items;
      expect(first?.series).toBe(series.id);
      const moved = await harness.calendar.updateEvent(second?.id ?? "", {
        title: "Moved",
        start: at("2026-03-11T09:00"),
      });
      expect(moved).toMatchObject({ id: second?.id, series: series.id, title: "Moved", recurrence: null });
      expect(await harness.calendar.deleteEvent(third?.id ?? "")).toBe(true);
      expect(await harness.calendar.deleteEvent(third?.id ?? "")).toBe(false);
      const { items } = await harness.calendar.listEvents(march);
      expect(items.map(({ title, startsAt }) => `${title} ${startsAt.slice(5, 16)}`)).toEqual([
        "Review 03-03T13:00",
        "Moved 03-11T08:00",
        "Review 03-24T13:00",
        "Review 03-31T12:00",
      ]);
      // The occurrence keeps its id, and can be changed again.
      expect((await harness.calendar.updateEvent(moved.id, { title: "Again" })).title).toBe("Again");
      expect(await harness.calendar.deleteEvent(series.id)).toBe(true);
      expect((await harness.calendar.listEvents(march)).items).toEqual([]);
    });

    test("keeps its changed and deleted occurrences when the series gets another title, and loses them with its start", async () => {
      await using harness = await create();
      const series = await harness.calendar.createEvent(weekly, keyed("k1"));
      const [first, second] = (await harness.calendar.listEvents(march)).items;
      await harness.calendar.updateEvent(first?.id ?? "", { title: "Kick-off" });
      await harness.calendar.deleteEvent(second?.id ?? "");
      const titles = async () => (await harness.calendar.listEvents(march)).items.map(({ title }) => title);
      await harness.calendar.updateEvent(series.id, { title: "Weekly" });
      expect(await titles()).toEqual(["Kick-off", "Weekly", "Weekly", "Weekly"]);
      await harness.calendar.updateEvent(series.id, { start: at("2026-03-03T09:00") });
      expect(await titles()).toEqual(["Weekly", "Weekly", "Weekly", "Weekly", "Weekly"]);
    });

    test("cannot recur in one occurrence", async () => {
      await using harness = await create();
      await harness.calendar.createEvent(weekly, keyed("k1"));
      const [first] = (await harness.calendar.listEvents(march)).items;
      const attempt = harness.calendar.updateEvent(first?.id ?? "", { recurrence: "FREQ=DAILY" });
      await expect(attempt).rejects.toMatchObject({ type: "params", param: "recurrence" });
    });
  });

  describe("the list", () => {
    test("has events that touch the span, in order, in pages", async () => {
      await using harness = await create();
      for (const hour of ["08", "09", "09", "10", "12"]) {
        const event = { title: hour, start: at(`2026-03-03T${hour}:00`), end: at(`2026-03-03T${hour}:30`) };
        await harness.calendar.createEvent(event, keyed(`${hour} ${Math.random()}`));
      }
      const span = { from: "2026-03-03T07:15:00Z", to: "2026-03-03T11:00:00Z", limit: 2 };
      const first = await harness.calendar.listEvents(span);
      const second = await harness.calendar.listEvents({ ...span, cursor: first.nextCursor });
      const titles = [first, second].map(({ items }) => items.map(({ title }) => title));
      expect(titles).toEqual([
        ["08", "09"],
        ["09", "10"],
      ]);
      expect(second.nextCursor).toBeNull();
    });

    test("finds an event that began long before the span", async () => {
      await using harness = await create();
      const leave = { title: "Leave", start: { date: "2026-01-01" }, end: { date: "2026-12-31" } };
      await harness.calendar.createEvent(leave, keyed("k1"));
      expect((await harness.calendar.listEvents(march)).items.map(({ title }) => title)).toEqual(["Leave"]);
    });

    test("by words and by attendee", async () => {
      await using harness = await create();
      await harness.calendar.createEvent({ ...meeting, attendees: [harness.colleague.person] }, keyed("k1"));
      await harness.calendar.createEvent({ ...meeting, title: "Lunch", location: "Café" }, keyed("k2"));
      const titles = async (query: object) =>
        (await harness.calendar.listEvents({ ...march, ...query })).items.map(({ title }) => title);
      expect(await titles({ text: "café" })).toEqual(["Lunch"]);
      expect(await titles({ text: "%" })).toEqual([]);
      expect(await titles({ attendee: harness.colleague.person.address })).toEqual(["Review"]);
      expect(await titles({ attendee: "none@client.example" })).toEqual([]);
    });

    test("does not have events of others", async () => {
      await using harness = await create();
      await harness.colleague.calendar.createEvent(meeting, keyed("k1"));
      expect((await harness.calendar.listEvents(march)).items).toEqual([]);
    });

    test.for([
      { from: march.to, to: march.from },
      { from: "2020-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" },
      { from: "2099-01-01T00:00:00Z", to: "2099-02-01T00:00:00Z" },
      { from: "today", to: march.to },
      { ...march, cursor: "e30" },
    ])("refuses $from to $to", async (query) => {
      await using harness = await create();
      await expect(harness.calendar.listEvents(query)).rejects.toMatchObject({ type: "params" });
    });
  });

  describe("availability", () => {
    const tuesday = { from: "2026-03-03T08:00:00Z", to: "2026-03-03T16:00:00Z" };
    const span = (from: string, to: string) => ({
      startsAt: `2026-03-03T${from}:00.000Z`,
      endsAt: `2026-03-03T${to}:00.000Z`,
    });

    test("merges busy times, recurring ones too, and cuts them at the span", async () => {
      await using harness = await create();
      await harness.calendar.createEvent({ ...meeting, recurrence: "FREQ=WEEKLY" }, keyed("k1"));
      const longer = { ...meeting, start: at("2026-03-03T14:30"), end: at("2026-03-03T18:00") };
      await harness.calendar.createEvent(longer, keyed("k2"));
      expect(await harness.calendar.checkAvailability(tuesday)).toEqual({
        isFree: false,
        people: [{ address: harness.user.address, isKnown: true, busy: [span("13:00", "16:00")] }],
        slots: [],
      });
      const nextWeek = { from: "2026-03-10T12:00:00Z", to: "2026-03-10T13:00:00Z" };
      expect((await harness.calendar.checkAvailability(nextWeek)).isFree).toBe(true);
    });

    testDelivery("counts events of others that the person attends, and neither declined nor free ones", async () => {
      await using harness = await create();
      const { person, calendar } = harness.colleague;
      const { id } = await harness.calendar.createEvent({ ...meeting, attendees: [person] }, keyed("k1"));
      await harness.calendar.createEvent({ ...meeting, showAs: "free", start: at("2026-03-03T09:00") }, keyed("k2"));
      const ofColleague = { ...tuesday, people: [person.address] };
      const busy = async () => (await calendar.checkAvailability(ofColleague)).people[0]?.busy;
      expect(await busy()).toEqual([span("13:00", "14:00")]);
      await calendar.deleteEvent(id);
      expect(await busy()).toEqual([]);
    });

    test("of an unknown person is unknown, not free", async () => {
      await using harness = await create();
      const answer = await harness.calendar.checkAvailability({ ...tuesday, people: ["eve@client.example"] });
      expect(answer).toMatchObject({ isFree: false, people: [{ isKnown: false, busy: [] }] });
    });

    test("proposes free times of all people within working hours", async () => {
      await using harness = await create();
      const { person, calendar } = harness.colleague;
      await harness.calendar.createEvent(
        { ...meeting, start: at("2026-03-03T09:00"), end: at("2026-03-03T10:00") },
        keyed("a"),
      );
      await calendar.createEvent(
        { ...meeting, start: at("2026-03-03T10:50"), end: at("2026-03-03T16:00") },
        keyed("b"),
      );
      const { slots } = await harness.calendar.checkAvailability({
        from: "2026-03-03T00:00:00Z",
        to: "2026-03-04T09:00:00Z",
        people: [harness.user.address, person.address],
        slotMinutes: 45,
        workingHours: { from: "09:00", to: "17:00", timeZone },
      });
      expect(slots).toEqual([
        span("09:00", "09:45"),
        span("15:00", "15:45"),
        { startsAt: "2026-03-04T08:00:00.000Z", endsAt: "2026-03-04T08:45:00.000Z" },
      ]);
    });
  });
}
