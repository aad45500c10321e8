import { z } from "zod";
import type { CalendarEvent, EventQuery } from "../../ports/calendar.ts";
import type { Page } from "../../ports/page.ts";
import { parseWindow } from "../../time/query-window.ts";
import type { OpenCalendar } from "./google-calendar.ts";
import { GoogleEvent, isDeclined, toEvent } from "./google-events.ts";

const EventList = z.object({
  items: z.array(GoogleEvent).default([]),
  timeZone: z.string(),
  nextPageToken: z.string().optional(),
});

/** Pages that are read for one page of a query whose attendee Google cannot search for. */
const pagesMax = 20;

/** Occurrences in the order of their start. Google expands recurring events. */
export async function listGoogleEvents(
  calendar: OpenCalendar,
  query: z.output<typeof EventQuery>,
): Promise<Page<CalendarEvent>> {
  parseWindow(query, calendar.clock.now());
  const items: CalendarEvent[] = [];
  let cursor = query.cursor;
  for (let page = 0; page < pagesMax; page += 1) {
    // A page is never larger than what is missing, so no event between two cursors is lost.
    const list = await readPage(calendar, query, cursor, query.limit - items.length);
    items.push(...list.items.filter((event) => isWanted(event, query)).map((event) => toEvent(event, list.timeZone)));
    cursor = list.nextPageToken ?? null;
    if (cursor === null || items.length === query.limit) break;
  }
  return { items, nextCursor: cursor };
}

async function readPage(
  { session }: OpenCalendar,
  { from, to, text, cursor: given }: z.output<typeof EventQuery>,
  cursor: string | null,
  maxResults: number,
) {
  const param = given === null ? undefined : "cursor";
  return await session.call({ what: "list events", param, schema: EventList }, ({ calendar }) =>
    calendar.events.list({
      ...{ calendarId: "primary", singleEvents: true, orderBy: "startTime", timeMin: from, timeMax: to, maxResults },
      ...(text.trim() === "" ? {} : { q: text }),
      ...(cursor === null ? {} : { pageToken: cursor }),
    }),
  );
}

/** An event that the user declined is not an event of the user. */
function isWanted(event: GoogleEvent, { attendee }: z.output<typeof EventQuery>): boolean {
  if (event.status === "cancelled" || isDeclined(event)) return false;
  if (attendee === null) return true;
  return [event.organizer, ...event.attendees].some((person) => person?.email.toLowerCase() === attendee);
}
