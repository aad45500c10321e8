import type { Outward, Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { CalendarConnector, CalendarEvent } from "../../ports/calendar.ts";
import { checkRecurrence } from "../../time/recurrence.ts";
import { wallTimeOf } from "../../time/zoned-instant.ts";
import type { OfficeCall, OfficeConnection } from "../calls/office-call.ts";
import { changeFields, changingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { personText } from "../text/arguments.ts";
import { refuseConflict } from "./conflicts.ts";
import { evenIfBusy, eventFields } from "./event-arguments.ts";
import { eventOutput, eventPreview } from "./event-output.ts";
import { readSpan, refusePast } from "./event-times.ts";

const createInput = z.strictObject({
  ...eventFields,
  time_zone: eventFields.time_zone.default(null),
  attendees: eventFields.attendees.default([]),
  description: eventFields.description.default(""),
  location: eventFields.location.default(""),
  recurrence: eventFields.recurrence.default(null),
  visibility: eventFields.visibility.default("default"),
  even_if_busy: evenIfBusy,
  ...changeFields,
});
type CreateArguments = z.output<typeof createInput>;

const changes = { changes: true };

/** `calendar_create_event`. */
export function createEventTool(deps: OfficeToolDeps): Tool {
  return changingTool(
    {
      domain: "calendar",
      name: "calendar_create_event",
      description:
        "Creates an event and invites its attendees. A busy time is refused with the next free times. A recurring event is " +
        "checked at its first time.",
      input: createInput,
      outwardOf,
      async preview(args, call) {
        const calendar = await call.connect("calendar", changes);
        const event = await plannedEvent(args, calendar, call);
        return eventPreview(event, { action: "create", account: calendar.account }, call);
      },
      async run(args, call) {
        const calendar = await call.connect("calendar", changes);
        const planned = await plannedEvent(args, calendar, call);
        const { created, ...content } = planned;
        const event = created ?? (await calendar.call((port) => port.createEvent(content, call.key)));
        return { output: { ...eventOutput(event), note: calendar.note } };
      },
    },
    deps,
  );
}

/**
 * The event of a call, checked. `created` is the event that an earlier try of the call created: then its time is busy because of
 * the event itself.
 */
async function plannedEvent(args: CreateArguments, calendar: OfficeConnection<CalendarConnector>, call: OfficeCall) {
  const { title, start, end, time_zone, attendees, description, location, recurrence, visibility, even_if_busy } = args;
  const calendarZone = await calendar.call((port) => port.timeZone());
  const timeZone = time_zone ?? calendarZone;
  const span = readSpan({ start, end }, timeZone);
  if (recurrence !== null) checkRecurrence({ rule: recurrence, start: wallTimeOf(span.fromMs, timeZone) });
  const content = {
    ...{ title, start: span.start, end: span.end, attendees, description, location, recurrence, visibility },
  };
  const created: CalendarEvent | null = await calendar.call(
    async (port) => (await port.createdEvent?.(call.key)) ?? null,
  );
  if (created === null) {
    refusePast(span, { nowMs: call.deps.clock.now(), timeZone });
    const people = [...new Set([calendar.account, ...attendees.map(({ address }) => address)])];
    if (!even_if_busy) await refuseConflict(calendar, { span, people, timeZone, own: null });
  }
  return { ...content, created };
}

/** An event without attendees stays in the own calendar, unless it is public. */
function outwardOf({
  title,
  attendees,
  description,
  location,
  recurrence,
  visibility,
}: CreateArguments): Outward | null {
  if (attendees.length === 0 && visibility !== "public") return null;
  const texts = [title, description, location, recurrence ?? "", ...attendees.map(personText)];
  return { host: null, characters: texts.reduce((sum, text) => sum + text.length, 0) };
}
