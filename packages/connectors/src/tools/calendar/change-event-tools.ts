import type { CallPreview } from "@troupe/core";
import type { Outward, Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { CalendarConnector, CalendarEvent, EventChanges } from "../../ports/calendar.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import { shiftTime } from "../../time/zoned-instant.ts";
import type { OfficeCall, OfficeConnection } from "../calls/office-call.ts";
import { changeFields, changingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { ItemId, personText } from "../text/arguments.ts";
import { refuseConflict } from "./conflicts.ts";
import { evenIfBusy, eventFields } from "./event-arguments.ts";
import { changesOf, eventOutput, eventPreview, eventSources, type ShownEvent } from "./event-output.ts";
import { readTime, refusePast, spanOf } from "./event-times.ts";

/** `calendar_update_event` and `calendar_delete_event`. */
export function changeEventTools(deps: OfficeToolDeps): Tool[] {
  return [updateEventTool(deps), deleteEventTool(deps)];
}

const changes = { changes: true };

const updateInput = z.strictObject({
  event_id: ItemId,
  ...z.strictObject(eventFields).partial().shape,
  even_if_busy: evenIfBusy,
  ...changeFields,
});
type UpdateArguments = z.output<typeof updateInput>;

function updateEventTool(deps: OfficeToolDeps): Tool {
  return changingTool(
    {
      domain: "calendar",
      name: "calendar_update_event",
      description:
        "Changes the given fields of an event. attendees is the whole new list. A new start without an end keeps the duration.",
      input: updateInput,
      outwardOf: updateOutward,
      async preview(args, call) {
        const calendar = await call.connect("calendar", changes);
        const { before, after } = await plannedChange(args, calendar, call);
        // A repeated try finds the event changed already.
        if (call.context.approved && changesOf(before, after).length === 0) return null;
        return eventPreview(after, { action: "update", account: calendar.account, before }, call);
      },
      async run(args, call) {
        const calendar = await call.connect("calendar", changes);
        const { before, after, given } = await plannedChange(args, calendar, call);
        const event = await calendar.call((port) => port.updateEvent(args.event_id, given));
        const output = { ...eventOutput(event), changes: changesOf(before, after), note: calendar.note };
        return { output, ...eventSources(calendar.account, [event]) };
      },
    },
    deps,
  );
}

/** The event before and after a change, checked. */
async function plannedChange(args: UpdateArguments, calendar: OfficeConnection<CalendarConnector>, call: OfficeCall) {
  const before = await calendar.call((port) => port.getEvent(args.event_id));
  const calendarZone = await calendar.call((port) => port.timeZone());
  const given = givenChanges(args, before, calendarZone);
  if (Object.keys(given).length === 0) {
    throw new ConnectorError("params", "the call names nothing to change", {
      fix: "give at least one field of the event",
    });
  }
  const after: ShownEvent = { ...before, ...movedTimes(given, before), ...withoutTimes(given) };
  const span = spanOf(after.start, after.end, calendarZone);
  const isMoved = span.fromMs !== Date.parse(before.startsAt) || span.toMs !== Date.parse(before.endsAt);
  const hasNewPeople = given.attendees?.some(({ address }) => !before.attendees.some((one) => one.address === address));
  if (isMoved) refusePast(span, { nowMs: call.deps.clock.now(), timeZone: calendarZone });
  if ((isMoved || hasNewPeople) && !args.even_if_busy) {
    const people = [...new Set([calendar.account, ...after.attendees.map(({ address }) => address)])];
    await refuseConflict(calendar, { span, people, timeZone: calendarZone, own: before });
  }
  return { before, after, given };
}

type GivenChanges = Omit<EventChanges, "attendees"> & { attendees?: { name: string; address: string }[] };

function givenChanges(args: UpdateArguments, before: CalendarEvent, calendarZone: string): GivenChanges {
  const { event_id, start, end, time_zone, even_if_busy, dry_run, ...texts } = args;
  const zone = time_zone ?? ("date" in before.start ? calendarZone : before.start.timeZone);
  const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined));
  const times = {
    ...(start === undefined ? {} : { start: readTime(start, zone, "start") }),
    ...(end === undefined ? {} : { end: readTime(end, zone, "end") }),
  };
  if (time_zone != null && start === undefined) {
    throw new ConnectorError("params", "time_zone needs a start", {
      param: "time_zone",
      fix: "give start and end too",
    });
  }
  return { ...given, ...times };
}

/** A new start without an end keeps the duration. */
function movedTimes({ start, end }: GivenChanges, before: CalendarEvent): Pick<ShownEvent, "start" | "end"> {
  if (start === undefined) return { start: before.start, end: end ?? before.end };
  const durationMs = Date.parse(before.endsAt) - Date.parse(before.startsAt);
  return { start, end: end ?? shiftTime(start, before.end, durationMs) };
}

function withoutTimes({ start, end, ...rest }: GivenChanges): Partial<ShownEvent> {
  return rest as Partial<ShownEvent>;
}

/** The event can have attendees, so every new text can reach them. */
function updateOutward({ title, attendees, description, location, recurrence }: UpdateArguments): Outward | null {
  const texts = [title, description, location, recurrence, ...(attendees ?? []).map(personText)];
  const characters = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return characters === 0 ? null : { host: null, characters };
}

const deleteInput = z.strictObject({ event_id: ItemId, ...changeFields });

function deleteEventTool(deps: OfficeToolDeps): Tool {
  return changingTool(
    {
      domain: "calendar",
      name: "calendar_delete_event",
      description: "Deletes an event, a whole series, or one occurrence, by its id. For a guest it declines the event.",
      input: deleteInput,
      async preview({ event_id }, call): Promise<CallPreview | null> {
        const calendar = await call.connect("calendar", changes);
        // A repeated try finds no event any more.
        const event = call.context.approved
          ? await foundEvent(calendar, event_id)
          : await calendar.call((port) => port.getEvent(event_id));
        return event && eventPreview(event, { action: "delete", account: calendar.account }, call);
      },
      async run({ event_id }, call) {
        const calendar = await call.connect("calendar", changes);
        const event = await foundEvent(calendar, event_id);
        const isDeleted = await calendar.call((port) => port.deleteEvent(event_id));
        const output = { deleted: isDeleted, event_id, title: event?.title ?? null, note: calendar.note };
        return { output, ...(event ? eventSources(calendar.account, [event]) : {}) };
      },
    },
    deps,
  );
}

/** The event. Null if no event has this id. */
async function foundEvent(calendar: OfficeConnection<CalendarConnector>, id: string): Promise<CalendarEvent | null> {
  try {
    return await calendar.call((port) => port.getEvent(id));
  } catch (thrown) {
    if (thrown instanceof ConnectorError && thrown.type === "params") return null;
    throw thrown;
  }
}
