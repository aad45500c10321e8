import { z } from "zod";
import { EventTime } from "../../../ports/event-time.ts";
import type { PreparedRequest, PrepareScope, RequestPlan } from "../../base/define-domain-agent.ts";
import type { JsonObject } from "../../base/request-work.ts";
import { bullets, quoted } from "../../base/wording.ts";
import { fewPeopleMax, type OfficeScope } from "../office-scope.ts";
import { namesOf, People, personLine } from "../people-text.ts";
import { checkTime, conflictText, refuseConflicts, unknownText } from "./conflicts.ts";
import { titleOf } from "./event-title.ts";
import { recurrenceText } from "./recurrence-text.ts";

const NamedTime = z.object({
  start: EventTime,
  end: EventTime,
  startsAt: z.string(),
  endsAt: z.string(),
  recurrence: z.string().nullable(),
  label: z.string(),
});

const Params = z.object({
  title: z.string(),
  start: z.string(),
  end: z.string(),
  time_zone: z.string().optional(),
  starts_at: z.string(),
  ends_at: z.string(),
  label: z.string(),
  attendees: People,
  organizer: People,
  recurrence: z.string().optional(),
  visibility: z.literal("public").optional(),
  even_if_busy: z.boolean().default(false),
});

/** Creates an event after a look for conflicts. */
export const createPlan = (scope: OfficeScope): RequestPlan => ({
  expectedFormat: "The event with its time and its attendees, or the conflicts and the next free times.",
  criteria: { event_id: "The event is in the calendar." },
  prepare: (reading, place) => prepareEvent(reading.params, reading.risk, place, scope),
  *work({ params, call, timeZone }) {
    const event = Params.parse(params);
    const people = [...event.organizer, ...event.attendees];
    const wanted = {
      from: event.starts_at,
      to: event.ends_at,
      people,
      user: event.organizer[0]?.address ?? "",
      timeZone,
    };
    // A note for a whole day does not take the time of its people.
    const isAllDay = !event.start.includes("T");
    const { conflicts, unknown } = isAllDay ? { conflicts: [], unknown: [] } : yield* checkTime(wanted);
    if (conflicts.length > 0 && !event.even_if_busy) yield* refuseConflicts(conflicts, wanted);
    const { title, start, end, time_zone, recurrence, visibility } = event;
    const args = { title, start, end, time_zone, recurrence, visibility, attendees: event.attendees.map(personLine) };
    const forced = event.even_if_busy ? { even_if_busy: true } : {};
    yield* call("calendar_create_event", { ...args, ...forced }, "Creates the event.");
    const overlap = conflicts.length > 0 ? ` You wanted it although ${conflictText(conflicts, wanted)}.` : "";
    const free = conflicts.length === 0 && !isAllDay ? " No conflict was found." : "";
    return {
      summary: `${scheduledText(event)}${overlap}${free}`,
      details: event.attendees.length > 1 ? `Invited:\n\n${bullets(event.attendees.map(personLine))}` : "",
      assumptions: recurrence !== undefined && !isAllDay ? [onlyFirst] : [],
      missing: unknownText(unknown, people),
    };
  },
});

const onlyFirst = "only the first time of the series was checked for conflicts";

function scheduledText({ title, attendees, label, recurrence }: z.output<typeof Params>): string {
  const rule = recurrence === undefined ? "" : `, ${recurrenceText(recurrence)}`;
  const whom = attendees.length === 0 ? "" : ` with ${namesOf(attendees)}`;
  return `Scheduled ${quoted(title)}${whom} for ${label}${rule}.`;
}

const evenIfBusy = /\b(?:even if|although|though|regardless|anyway|anyhow|despite|no matter)\b/i;

async function prepareEvent(
  params: JsonObject,
  risk: PreparedRequest["risk"] & {},
  { request, words }: PrepareScope,
  scope: OfficeScope,
): Promise<PreparedRequest> {
  const time = NamedTime.parse(params.time);
  const user = await scope.user(request);
  const attendees = People.parse(params.people ?? []).filter(({ address }) => address !== user.address);
  const { title, assumption } = titleOf(words, attendees);
  const external = await scope.externalOf(request, attendees);
  const isPublic = /\bpublic\b/i.test(request.task);
  const isHigh = isPublic || external.length > 0 || attendees.length > fewPeopleMax;
  const { start, end } = time;
  return {
    params: {
      title,
      ...("dateTime" in start && "dateTime" in end
        ? { start: start.dateTime, end: end.dateTime, time_zone: start.timeZone }
        : { start: "date" in start ? start.date : "", end: "date" in end ? end.date : "" }),
      ...{ starts_at: time.startsAt, ends_at: time.endsAt, label: time.label },
      ...{ attendees: attendees.map((person) => ({ ...person })), organizer: [{ ...user }] },
      ...(time.recurrence === null ? {} : { recurrence: time.recurrence }),
      ...(isPublic ? { visibility: "public" } : {}),
      ...(evenIfBusy.test(request.task) ? { even_if_busy: true } : {}),
    },
    risk: isHigh ? "high" : risk,
    assumptions: assumption === null ? [] : [assumption],
    notes: external.length > 0 ? [`Attendees outside of the own domains: ${namesOf(external)}.`] : [],
  };
}
