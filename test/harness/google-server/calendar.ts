import { expandRecurrence } from "../../../packages/connectors/src/time/recurrence.ts";
import { eventInstant, wallTimeOf } from "../../../packages/connectors/src/time/zoned-instant.ts";
import {
  type GoogleReply,
  type GoogleRequest,
  invalidPageToken,
  notFound,
  ok,
  pageOf,
  refuse,
} from "./google-reply.ts";

interface Time {
  date?: string | null;
  dateTime?: string | null;
  timeZone?: string | null;
}

interface Attendee {
  email: string;
  displayName?: string;
  responseStatus?: string;
}

/** The fields that a client can write. */
interface Fields {
  summary?: string;
  description?: string;
  location?: string;
  start: Time;
  end: Time;
  recurrence?: string[];
  attendees?: Attendee[];
  visibility?: string;
  transparency?: string;
  extendedProperties?: { private?: Record<string, string> };
}

interface StoredEvent {
  id: string;
  organizer: string;
  isCancelled: boolean;
  fields: Fields;
  /** Changed and deleted occurrences, by the end of their id. */
  exceptions: Map<string, { fields: Fields; isCancelled: boolean }>;
}

export interface CalendarServer {
  /** The people who have a calendar here, by address. */
  readonly people: Map<string, string>;
  readonly events: Map<string, StoredEvent>;
  timeZone: string;
  handle(email: string, request: GoogleRequest): GoogleReply;
}

/** One occurrence of an event, or an event that happens once. */
interface Instance {
  event: StoredEvent;
  fields: Fields;
  /** The end of the id. Null: the event itself. */
  suffix: string | null;
  startMs: number;
  endMs: number;
}

export function createCalendarServer(): CalendarServer {
  return {
    people: new Map(),
    events: new Map(),
    timeZone: "Europe/Berlin",
    handle(email, request) {
      const { method, path, body } = request;
      if (path === "/calendar/v3/freeBusy") return freeBusy(this, body);
      const [, id] = /^\/calendar\/v3\/calendars\/primary\/events(?:\/([^/]+))?$/.exec(path) ?? [];
      if (id === undefined) return method === "POST" ? insert(this, email, body) : list(this, email, request.query);
      const found = find(this, email, decodeURIComponent(id));
      if (!found) return notFound();
      if (method === "GET") return ok(view(this, email, found));
      if (method === "PATCH") return patch(this, email, found, body);
      return method === "DELETE" ? remove(email, found) : notFound();
    },
  };
}

function instantOf({ timeZone }: CalendarServer, time: Time): number {
  return time.date ? eventInstant({ date: time.date }, timeZone) : Date.parse(time.dateTime ?? "");
}

const isSeen = ({ organizer, fields }: StoredEvent, email: string): boolean =>
  organizer === email || (fields.attendees ?? []).some((attendee) => attendee.email === email);

/** `20260303T130000Z`, or `20260328` for a day. */
function suffixOf(server: CalendarServer, start: Time, startMs: number): string {
  if (start.date) return wallTimeOf(startMs, server.timeZone).dateTime.slice(0, 10).replaceAll("-", "");
  return new Date(startMs).toISOString().replace(/[-:]|\.000/g, "");
}

const ruleOf = ({ recurrence = [] }: Fields): string | null =>
  recurrence.find((line) => line.startsWith("RRULE:"))?.slice("RRULE:".length) ?? null;

function find(server: CalendarServer, email: string, id: string): (Instance & { isCancelled: boolean }) | null {
  const [series = "", suffix] = id.split("_");
  const event = server.events.get(series);
  if (!event || !isSeen(event, email)) return null;
  if (suffix === undefined) return { ...whole(server, event), isCancelled: event.isCancelled };
  const exception = event.exceptions.get(suffix);
  const all = occurrences(server, event, { fromMs: 0, toMs: Date.UTC(2036, 0, 1) }, true);
  const instance = all.find((each) => each.suffix === suffix);
  return instance ? { ...instance, isCancelled: event.isCancelled || (exception?.isCancelled ?? false) } : null;
}

function whole(server: CalendarServer, event: StoredEvent): Instance {
  const { fields } = event;
  return {
    event,
    fields,
    suffix: null,
    startMs: instantOf(server, fields.start),
    endMs: instantOf(server, fields.end),
  };
}

function occurrences(
  server: CalendarServer,
  event: StoredEvent,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  withCancelled = false,
): Instance[] {
  const { fields } = event;
  const rule = ruleOf(fields);
  const master = whole(server, event);
  if (rule === null) return [master];
  const { timeZone } = server;
  const zone = fields.start.timeZone ?? timeZone;
  const start = fields.start.date
    ? { dateTime: `${fields.start.date}T00:00:00`, timeZone }
    : wallTimeOf(master.startMs, zone);
  const lengthMs = master.endMs - master.startMs;
  const begins = expandRecurrence({ rule, start }, { fromMs: Math.max(fromMs - lengthMs, master.startMs), toMs });
  return begins.flatMap((startMs) => {
    const suffix = suffixOf(server, fields.start, startMs);
    const exception = event.exceptions.get(suffix);
    if (exception?.isCancelled && !withCancelled) return [];
    const own = exception?.fields ?? shifted(server, fields, startMs, lengthMs);
    return [{ event, fields: own, suffix, startMs: instantOf(server, own.start), endMs: instantOf(server, own.end) }];
  });
}

function shifted({ timeZone }: CalendarServer, fields: Fields, startMs: number, lengthMs: number): Fields {
  const { recurrence: _, ...rest } = fields;
  const zone = fields.start.timeZone ?? timeZone;
  const dayAt = (ms: number): string => wallTimeOf(ms, timeZone).dateTime.slice(0, 10);
  if (!fields.start.date) {
    const at = (ms: number): Time => ({ dateTime: new Date(ms).toISOString(), timeZone: zone });
    return { ...rest, start: at(startMs), end: at(startMs + lengthMs) };
  }
  const days = Math.round((Date.parse(fields.end.date ?? "") - Date.parse(fields.start.date)) / 86_400_000);
  const first = dayAt(startMs);
  const last = new Date(Date.parse(first) + days * 86_400_000).toISOString().slice(0, 10);
  return { ...rest, start: { date: first }, end: { date: last } };
}

function view(server: CalendarServer, email: string, instance: Instance & { isCancelled?: boolean }) {
  const { event, fields, suffix } = instance;
  const { attendees = [], start, end, ...rest } = fields;
  const person = (address: string, name?: string) => ({
    email: address,
    ...(name ? { displayName: name } : {}),
    ...(address === email ? { self: true } : {}),
  });
  return {
    ...rest,
    id: suffix === null ? event.id : `${event.id}_${suffix}`,
    status: instance.isCancelled ? "cancelled" : "confirmed",
    start: shownTime(server, start),
    end: shownTime(server, end),
    organizer: person(event.organizer, server.people.get(event.organizer)),
    ...(suffix === null ? {} : { recurringEventId: event.id }),
    ...(attendees.length === 0
      ? {}
      : { attendees: attendees.map((each) => ({ ...each, ...person(each.email, each.displayName) })) }),
  };
}

/** With the offset of the calendar's zone, whatever offset the client wrote. */
function shownTime({ timeZone }: CalendarServer, { date, dateTime, timeZone: own }: Time): Time {
  if (date) return { date };
  const atMs = Date.parse(dateTime ?? "");
  const wall = wallTimeOf(atMs, timeZone).dateTime;
  const minutes = Math.round((Date.parse(`${wall}Z`) - atMs) / 60_000);
  const part = (value: number): string => `${value}`.padStart(2, "0");
  const offset = `${minutes < 0 ? "-" : "+"}${part(Math.floor(Math.abs(minutes) / 60))}:${part(Math.abs(minutes) % 60)}`;
  return { dateTime: `${wall}${offset}`, timeZone: own ?? timeZone };
}

function insert(server: CalendarServer, email: string, body: Record<string, unknown>): GoogleReply {
  const { id, ...fields } = body as unknown as Fields & { id: string };
  if (!/^[a-v0-9]{5,1024}$/.test(id)) return refuse(400, "invalid", "Invalid resource id value.");
  if (server.events.has(id)) return refuse(409, "duplicate", "The requested identifier already exists.");
  const event: StoredEvent = { id, organizer: email, isCancelled: false, fields, exceptions: new Map() };
  server.events.set(id, event);
  return ok(view(server, email, whole(server, event)));
}

function patch(
  server: CalendarServer,
  email: string,
  found: Instance & { isCancelled: boolean },
  body: Record<string, unknown>,
): GoogleReply {
  const { event, suffix } = found;
  const isOwnResponse = Object.keys(body).join() === "attendees";
  if (event.organizer !== email && !isOwnResponse) {
    return refuse(
      403,
      "forbiddenForNonOrganizer",
      "Shared properties can only be changed by the organizer of the event.",
    );
  }
  const fields = { ...found.fields, ...body } as Fields;
  if (suffix !== null) event.exceptions.set(suffix, { fields, isCancelled: false });
  else {
    if (body.start || body.recurrence) event.exceptions.clear();
    event.fields = fields;
  }
  return ok(view(server, email, { ...found, fields }));
}

function remove(email: string, found: Instance & { isCancelled: boolean }): GoogleReply {
  const { event, suffix, fields } = found;
  if (found.isCancelled) return refuse(410, "deleted", "Resource has been deleted");
  if (event.organizer !== email)
    return refuse(403, "forbiddenForNonOrganizer", "Only the organizer can delete the event.");
  if (suffix === null) event.isCancelled = true;
  else event.exceptions.set(suffix, { fields, isCancelled: true });
  return { status: 204, body: null };
}

function list(server: CalendarServer, email: string, query: URLSearchParams): GoogleReply {
  const { timeZone } = server;
  const [from, to] = [query.get("timeMin"), query.get("timeMax")];
  if (from === null || to === null) return ok({ timeZone, items: [] });
  const span = { fromMs: Date.parse(from), toMs: Date.parse(to) };
  const words = (query.get("q") ?? "").toLowerCase();
  const found = instancesIn(server, span)
    .filter(({ event, fields }) => isSeen({ ...event, fields }, email))
    .filter(({ fields: { summary = "", description = "", location = "" } }) =>
      `${summary} ${description} ${location}`.toLowerCase().includes(words),
    );
  const page = pageOf(found, query, { sizeParam: "maxResults", sizeDefault: 250 });
  if (page === null) return invalidPageToken();
  return ok({ ...page, timeZone, items: page.items.map((instance) => view(server, email, instance)) });
}

function instancesIn(server: CalendarServer, span: { fromMs: number; toMs: number }): Instance[] {
  return [...server.events.values()]
    .filter(({ isCancelled }) => !isCancelled)
    .flatMap((event) => occurrences(server, event, span))
    .filter(({ startMs, endMs }) => startMs < span.toMs && endMs > span.fromMs)
    .toSorted((a, b) => a.startMs - b.startMs);
}

function freeBusy(server: CalendarServer, body: Record<string, unknown>): GoogleReply {
  const { timeMin, timeMax, items } = body as { timeMin: string; timeMax: string; items: { id: string }[] };
  const span = { fromMs: Date.parse(timeMin), toMs: Date.parse(timeMax) };
  const calendars = items.map(({ id }) => {
    if (!server.people.has(id)) return [id, { errors: [{ domain: "global", reason: "notFound" }], busy: [] }];
    const busy = instancesIn(server, span).filter(({ event, fields }) => isBusy(event, fields, id));
    const iso = (ms: number): string => new Date(ms).toISOString().replace(".000", "");
    const spans = busy.map(({ startMs, endMs }) => ({
      start: iso(Math.max(startMs, span.fromMs)),
      end: iso(Math.min(endMs, span.toMs)),
    }));
    return [id, { busy: spans }];
  });
  return ok({ kind: "calendar#freeBusy", timeMin, timeMax, calendars: Object.fromEntries(calendars) });
}

function isBusy({ organizer }: StoredEvent, fields: Fields, email: string): boolean {
  if (fields.transparency === "transparent") return false;
  const own = (fields.attendees ?? []).find((attendee) => attendee.email === email);
  return own ? own.responseStatus !== "declined" : organizer === email;
}
