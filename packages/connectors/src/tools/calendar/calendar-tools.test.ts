/** The calendar tools on a real local office. Its present is Wednesday, 4 March 2026, 13:00 in Berlin. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSample, run, type Sample } from "../office-tools.test-helper.ts";

let sample: Sample;
beforeAll(async () => {
  sample = await openSample();
});
afterAll(() => sample.close());

const saturday = { title: "Sprint", start: "2026-03-07T10:00:00", end: "2026-03-07T11:00:00" };
const create = (change: object) => sample.call("calendar_create_event", { ...saturday, ...change });

describe("an event", () => {
  it("is created with its attendees in the zone of the calendar", async () => {
    const { output } = await create({ attendees: ["Mara <mara@lantern.example>"], location: "Room Elbe" });
    expect(output).toMatchObject({
      ...saturday,
      time_zone: "Europe/Berlin",
      starts_at: "2026-03-07T09:00:00.000Z",
      attendees: expect.arrayContaining([
        expect.objectContaining({ address: "mara@lantern.example", response: "none" }),
      ]),
    });
    const listed = await sample.call("calendar_list_events", { from: "2026-03-07", to: "2026-03-08" });
    expect(listed.output.events).toMatchObject([{ event_id: output.event_id, title: "Sprint" }]);
  });

  it("is created once for each call: a repeated call does not conflict with its own event", async () => {
    const change = { idempotencyKey: `${run}/50/0` };
    const args = { title: "Once", start: "2026-03-08T09:00", end: "2026-03-08T09:30" };
    const first = await sample.call("calendar_create_event", args, change);
    expect((await sample.call("calendar_create_event", args, change)).output).toEqual(first.output);
    expect((await sample.call("calendar_create_event", args)).output.error.message).toContain("not free");
  });

  it("over a busy time is refused with the busy people and the next free times, unless the call says otherwise", async () => {
    const standup = { title: "Call", start: "2026-03-09T09:15:00", end: "2026-03-09T09:30:00" };
    const args = { ...standup, attendees: ["tomas@lantern.example"] };
    const { output } = await sample.call("calendar_create_event", args);
    expect(output.error).toMatchObject({ type: "params", param: "start" });
    expect(output.error.message).toContain("tomas@lantern.example is busy from 2026-03-09 09:15 to 09:30");
    expect(output.error.fix).toMatch(/free for all in Europe\/Berlin: 2026-03-09 \d\d:\d\d, .*even_if_busy/);
    const forced = await sample.call("calendar_create_event", { ...args, even_if_busy: true });
    expect(forced.output.event_id).toBeTruthy();
  });

  it("changes by its id, and the result names the changes", async () => {
    const args = { title: "Move me", start: "2026-03-14T10:00", end: "2026-03-14T11:00" };
    const { event_id } = (await sample.call("calendar_create_event", args)).output;
    const { output } = await sample.call("calendar_update_event", {
      event_id,
      start: "2026-03-14T10:30",
      title: "Moved",
    });
    expect(output).toMatchObject({ title: "Moved", start: "2026-03-14T10:30:00", end: "2026-03-14T11:30:00" });
    expect(output.changes).toEqual([
      { field: "title", before: "Move me", after: "Moved" },
      ...[
        {
          field: "when",
          before: "2026-03-14 10:00 to 11:00 Europe/Berlin",
          after: "2026-03-14 10:30 to 11:30 Europe/Berlin",
        },
      ],
    ]);
  });

  it("does not move over another event, but over its own time", async () => {
    const day = "2026-03-15";
    const first = (await create({ start: `${day}T10:00`, end: `${day}T11:00` })).output.event_id;
    await create({ start: `${day}T11:30`, end: `${day}T12:00` });
    const update = (end: string) =>
      sample.call("calendar_update_event", { event_id: first, start: `${day}T10:30`, end });
    expect((await update(`${day}T11:45`)).output.error.message).toContain("busy from 2026-03-15 11:30 to 11:45");
    expect((await update(`${day}T11:30`)).output.end).toBe(`${day}T11:30:00`);
  });

  it("is deleted by its id", async () => {
    const { event_id } = (await create({ start: "2026-03-21T10:00", end: "2026-03-21T11:00" })).output;
    const deleted = (await sample.call("calendar_delete_event", { event_id })).output;
    expect(deleted).toMatchObject({ deleted: true, event_id, title: "Sprint" });
    expect((await sample.call("calendar_delete_event", { event_id })).output).toMatchObject({ deleted: false });
  });

  it.each(["calendar_create_event", "calendar_update_event", "calendar_delete_event"])(
    "stays as it is in a dry run of %s",
    async (tool) => {
      const span = { from: "2026-03-28", to: "2026-03-29" };
      const planned = { title: "Dry", start: "2026-03-28T10:00", end: "2026-03-28T11:00" };
      const list = async () => (await sample.call("calendar_list_events", span)).output.events;
      if ((await list()).length === 0) await sample.call("calendar_create_event", planned);
      const before = await list();
      const { event_id } = before[0];
      const args = {
        calendar_create_event: { ...planned, start: "2026-03-28T12:00", end: "2026-03-28T13:00" },
        calendar_update_event: { event_id, title: "Other" },
        calendar_delete_event: { event_id },
      }[tool];
      const { output } = await sample.call(tool, { ...args, dry_run: true });
      expect(output).toMatchObject({ dry_run: true, preview: { kind: "event" } });
      expect(await list()).toEqual(before);
    },
  );
});

describe("an event is refused with a params error", () => {
  it.each([
    ["an hour that the zone skips", { start: "2026-03-29T02:30", end: "2026-03-29T03:30" }, "start", /use 03:30/],
    ["an end that the zone skips", { start: "2026-03-29T01:30", end: "2026-03-29T02:30" }, "end", /does not exist/],
    ["a start in the past", { start: "2026-03-04T12:00", end: "2026-03-04T14:00" }, "start", /is in the past/],
    ["a day in the past", { start: "2026-03-03", end: "2026-03-04" }, "start", /is in the past/],
    ["an end before the start", { end: "2026-03-07T09:00" }, "end", /not after the start/],
    ["a day and a time", { end: "2026-03-07" }, "end", /same kind/],
    ["a day that does not exist", { start: "2026-02-30", end: "2026-03-01" }, "start", /correct the day/],
    ["an offset", { start: "2026-03-07T10:00:00Z" }, "start", /without an offset/],
    ["an unknown zone", { time_zone: "Mars/Olympus" }, "time_zone", /not a time zone/],
    ["a second line in the title", { title: "Sprint\r\nATTENDEE:eve@evil.example" }, "title", /line break/],
    ["an empty title", { title: "" }, "title", /is empty/],
    ["a wrong attendee", { attendees: ["mara@"] }, "attendees.0", /not a mail address/],
    ["a rule that is none", { recurrence: "EVERY DAY" }, "recurrence", /./],
    ["a description of 10 MB", { description: "x".repeat(10_000_000) }, "description", /longer than/],
  ])("%s", async (_, change, param, message) => {
    const { output, error } = await create(change);
    expect(output.error).toMatchObject({ type: "params", param });
    expect(`${output.error.message} ${output.error.fix ?? ""}`).toMatch(message);
    expect(error?.recoverable).toBe(false);
  });

  it("a change of nothing, and of an unknown event", async () => {
    expect((await sample.call("calendar_update_event", { event_id: "none" })).output.error.type).toBe("params");
    const { output } = await sample.call("calendar_list_events", {});
    const { event_id } = output.events[0];
    expect((await sample.call("calendar_update_event", { event_id })).output.error.message).toContain(
      "nothing to change",
    );
  });
});

describe("free time", () => {
  it("names busy people, unknown people and free slots", async () => {
    const { output, untrusted } = await sample.call("calendar_check_availability", {
      ...{ from: "2026-03-10T09:00:00Z", to: "2026-03-10T12:00:00Z", slot_minutes: 30 },
      people: ["tomas@lantern.example", "john@acme.example"],
    });
    expect(output).toMatchObject({ free: false, unknown: ["john@acme.example"] });
    expect(output.conflicts[0]).toMatchObject({
      person: "tomas@lantern.example",
      starts_at: "2026-03-10T09:00:00.000Z",
    });
    expect(output.slots[0]).toHaveProperty("starts_at");
    expect(untrusted).toBeUndefined();
  });
});

describe("the text of events", () => {
  it("counts as written by their organizers, and as private", async () => {
    const found = await sample.call("calendar_list_events", { text: "Team meeting" });
    expect(found.untrusted).toEqual(["event of <mara@lantern.example>"]);
    expect(found.private).toEqual(["calendar <kim@lantern.example>"]);
  });

  it("leaves the machine with an invitation, and not with an own note", () => {
    const outwardOf = (args: object) => sample.bind("calendar_create_event", { ...saturday, ...args }).bound.outward;
    expect(outwardOf({})).toBeNull();
    expect(outwardOf({ visibility: "public" })).toMatchObject({ characters: 6 });
    expect(outwardOf({ attendees: ["a@b.example"], location: "123" })).toEqual({ host: null, characters: 6 + 3 + 11 });
    const update = sample.bind("calendar_update_event", { event_id: "1", description: "1234" }).bound.outward;
    expect(update).toEqual({ host: null, characters: 4 });
  });
});
