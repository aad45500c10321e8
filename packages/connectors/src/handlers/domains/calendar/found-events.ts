import { z } from "zod";
import { Person } from "../../../ports/person.ts";
import { paramsError } from "../../base/call-failure.ts";
import { type CallWork, calls } from "../../base/request-work.ts";
import { bullets, listOf, oneLine, quoted, spanText } from "../../base/wording.ts";
import { nameOf } from "../people-text.ts";

/** An event in the output of a tool. */
export const FoundEvent = z.object({
  event_id: z.string(),
  /** The id of the series of an occurrence. */
  series_id: z.string().nullish(),
  title: z.string(),
  start: z.string(),
  end: z.string(),
  time_zone: z.string().nullish(),
  attendees: z.array(z.object({ ...Person.shape, name: z.string().default("") })).default([]),
  location: z.string().nullish(),
});
export type FoundEvent = z.output<typeof FoundEvent>;

export const FoundEvents = z.object({ events: z.array(FoundEvent), next_page: z.string().nullish() });

export function whenOf({ start, end, time_zone }: FoundEvent, timeZone: string): string {
  return spanText(start, end, time_zone ?? timeZone);
}

export function eventLines(events: readonly FoundEvent[], timeZone: string): string {
  return bullets(
    events.map((event) => {
      const place = event.location ? `, ${oneLine(event.location)}` : "";
      const people = event.attendees.length === 0 ? "" : `, with ${attendeesText(event)}`;
      return `${whenOf(event, timeZone)}: ${quoted(event.title)}${place}${people}`;
    }),
  );
}

const namedMax = 3;

function attendeesText({ attendees }: FoundEvent): string {
  const names = attendees.map((person) => oneLine(nameOf(person)));
  return names.length <= namedMax ? listOf(names) : `${names.length} people`;
}

/** Words by which a request names an event. */
export const EventWords = z.object({
  title: z.string().optional(),
  noun: z.string().optional(),
  attendee: z.string().optional(),
  /** ISO times. */
  from: z.string(),
  to: z.string(),
  all: z.boolean().default(false),
});
export type EventWords = z.output<typeof EventWords>;

const anyEvent = /^(?:meetings?|events?|appointments?|calls?|sessions?|syncs?|chats?)$/i;
const limit = 50;

/** Finds the events of a request, in the order of their start. Throws `params` if there is none. */
export function* findEvents(words: EventWords): CallWork<FoundEvent[]> {
  const { title, noun, attendee, from, to } = words;
  // The noun of the request need not be in the title: "the dentist appointment" is called "Dentist".
  const text = title ?? (noun !== undefined && !anyEvent.test(noun) ? singular(noun) : undefined);
  const tool = "calendar_list_events";
  const { events } = yield* calls.read(FoundEvents, tool, { from, to, text, attendee, limit }, "Finds the event.");
  const exact = events.filter((event) => noun !== undefined && wordsOf(event.title).includes(singular(noun)));
  const found = title !== undefined && exact.length > 0 ? exact : events;
  if (found.length > 0) return found;
  const which = [title, noun].filter((word) => word !== undefined).join(" ");
  throw paramsError("event", `no event fits ${quoted(which)} in that time`, "name its title or its day");
}

function singular(noun: string): string {
  return noun.toLowerCase().replace(/(?<=\w{3})s$/, "");
}

function wordsOf(title: string): string {
  return title.toLowerCase();
}

/** The one event of a request: the next of a series. Throws `params` for several, and lists them. */
export function oneEvent(found: readonly FoundEvent[], timeZone: string): { event: FoundEvent; assumptions: string[] } {
  const [event, ...others] = found;
  if (!event) throw paramsError("event", "no event fits", "name its title or its day");
  const seriesOf = ({ series_id, event_id }: FoundEvent) => series_id ?? event_id;
  if (others.every((other) => seriesOf(other) === seriesOf(event))) {
    const when = whenOf(event, timeZone);
    return { event, assumptions: others.length > 0 ? [`the next ${quoted(event.title)} is meant, on ${when}`] : [] };
  }
  const list = found.slice(0, shownMax).map((each) => `${quoted(each.title)} on ${whenOf(each, timeZone)}`);
  const more = found.length > shownMax ? ` and ${found.length - shownMax} more` : "";
  throw paramsError("event", `several events fit: ${list.join("; ")}${more}`, "name the title and the day of one");
}

const shownMax = 5;
