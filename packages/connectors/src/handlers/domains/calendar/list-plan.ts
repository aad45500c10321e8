import { z } from "zod";
import { toIso } from "../../../time/zoned-instant.ts";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { capitalized, countOf, quoted, rangeWords } from "../../base/wording.ts";
import { namesOf, People } from "../people-text.ts";
import { eventLines, FoundEvents, whenOf } from "./found-events.ts";

const Range = z.object({ from: z.string(), to: z.string() });
const Params = z.object({
  title: z.string().optional(),
  people: People.default([]),
  range: Range,
  next: z.boolean().default(false),
});

const dayMs = 86_400_000;
const daysDefault = 7;
const nextDays = 60;
const limit = 50;

/** Lists events, or tells the next one. */
export const listPlan: RequestPlan = {
  expectedFormat: "A list of events in the order of their start, with times, places and attendees.",
  criteria: { events: "The events are listed." },
  prepare({ params }, { request }) {
    const isNext = /\bwhen is\b|\bnext (?:meeting|event|appointment|call)\b/i.test(request.task);
    const days = isNext ? nextDays : daysDefault;
    const range = params.range ?? { from: toIso(request.nowMs), to: toIso(request.nowMs + days * dayMs) };
    return {
      params: { ...params, range, ...(isNext ? { next: true } : {}) },
      assumptions: params.range === undefined ? [`no time is named, so it is the next ${days} days`] : [],
    };
  },
  *work({ params, read, timeZone }) {
    const { title, people, range, next } = Params.parse(params);
    const args = { ...range, text: title, attendee: people[0]?.address, limit: next ? 1 : limit };
    const { events, next_page } = yield* read(FoundEvents, "calendar_list_events", args, "Reads the calendar.");
    const which = `${title === undefined ? "" : ` about ${quoted(title)}`}${people.length === 0 ? "" : ` with ${namesOf(people)}`}`;
    const when = rangeWords(range, timeZone);
    const [first] = events;
    if (!first) return { summary: `You have no events${which} ${when}.` };
    if (next) return { summary: `The next event${which} is ${quoted(first.title)}, on ${whenOf(first, timeZone)}.` };
    const count = `${next_page ? "more than " : ""}${countOf(events.length, "event")}`;
    return {
      summary: `${capitalized(`you have ${count}${which}`)} ${when}.`,
      details: eventLines(events, timeZone),
    };
  },
};
