import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { quoted } from "../../base/wording.ts";
import type { OfficeScope } from "../office-scope.ts";
import { People } from "../people-text.ts";
import { checkTime, conflictText, refuseConflicts } from "./conflicts.ts";
import { EventChange, readEventChange } from "./event-change.ts";
import { readEventWords } from "./event-words.ts";
import { EventWords, findEvents, oneEvent, whenOf } from "./found-events.ts";
import { movedTime } from "./moved-time.ts";

const Params = EventWords.extend({ change: EventChange, organizer: People, even_if_busy: z.boolean().default(false) });

/** Finds an event, looks for conflicts at its new time, and changes it. */
export const updatePlan = (scope: OfficeScope): RequestPlan => ({
  expectedFormat: "The event with its old and its new time, or the conflicts and the next free times.",
  criteria: { changes: "The event is changed." },
  async prepare({ params, tools }, place) {
    const { task } = place.request;
    const changeText = String(params.change);
    const at = task.lastIndexOf(changeText);
    const { change, before, assumptions } = await readEventChange(changeText, task, place);
    const words = await readEventWords(params, at < 0 ? before : `${task.slice(0, at)} ${before}`, place);
    const isForced = /\b(?:even if|although|regardless|anyway|despite)\b/i.test(task);
    return {
      params: {
        ...{ ...words, change, organizer: [{ ...(await scope.user(place.request)) }] },
        ...(isForced ? { even_if_busy: true } : {}),
      },
      // A new title needs no free time.
      tools: change.title === undefined ? tools : tools.filter((tool) => tool !== "calendar_check_availability"),
      assumptions,
    };
  },
  *work({ params, call, request, timeZone }) {
    const { change, organizer, even_if_busy, ...words } = Params.parse(params);
    const { event, assumptions } = oneEvent(yield* findEvents(words), timeZone);
    const forced = even_if_busy ? { even_if_busy } : {};
    if (change.title !== undefined) {
      yield* call("calendar_update_event", { event_id: event.event_id, title: change.title }, "Renames the event.");
      return { summary: `Renamed ${quoted(event.title)} to ${quoted(change.title)}.`, assumptions };
    }
    const moved = movedTime(event, change, { nowMs: request.nowMs, timeZone });
    const people = [...organizer, ...event.attendees.filter(({ address }) => address !== organizer[0]?.address)];
    const wanted = { from: moved.startsAt, to: moved.endsAt, people, user: organizer[0]?.address ?? "", timeZone };
    const { conflicts } = moved.isAllDay ? { conflicts: [] } : yield* checkTime(wanted);
    // The event itself is busy at its old time.
    const others = conflicts.filter(({ starts_at, ends_at }) => {
      return Date.parse(starts_at) < Date.parse(moved.oldStartsAt) || Date.parse(ends_at) > Date.parse(moved.oldEndsAt);
    });
    if (others.length > 0 && !even_if_busy) yield* refuseConflicts(others, wanted);
    const { start, end, time_zone } = moved;
    const args = { event_id: event.event_id, start, end, time_zone, ...forced };
    yield* call("calendar_update_event", args, "The time is free: moves the event.");
    const overlap = others.length > 0 ? ` You wanted it although ${conflictText(others, wanted)}.` : "";
    const now = whenOf({ ...event, start, end, time_zone: time_zone ?? event.time_zone }, timeZone);
    return {
      summary: `Moved ${quoted(event.title)} from ${whenOf(event, timeZone)} to ${now}.${overlap}`,
      assumptions,
    };
  },
});
