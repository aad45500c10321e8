import { createHash } from "node:crypto";
import type { z } from "zod";
import { contentHash, keyReused } from "../../idempotency/keyed-content.ts";
import { createOnce } from "../../idempotency/once.ts";
import { eventIdOf } from "../../import/parse-event.ts";
import { parseOccurrenceId } from "../../local/calendar/event-rows.ts";
import { putEvent } from "../../local/calendar/event-store.ts";
import {
  type Availability,
  AvailabilityQuery,
  type CalendarConnector,
  type CalendarEvent,
  NewEvent,
} from "../../ports/calendar.ts";
import { ChangeOptions } from "../../ports/connection.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import { type BusyPerson, composeAvailability } from "../../time/free-slots.ts";
import { parseWindow } from "../../time/query-window.ts";
import { type CheckedAccount, StandardAccount } from "../standard-options.ts";
import { type CalendarCopy, createCalendarCopy } from "./calendar-copy.ts";
import { createDavClient, type DavClient, type DavCollection } from "./dav-client.ts";
import { davStatus } from "./dav-status.ts";
import { contentProperty, writeEvent } from "./write-event.ts";

const note = "invitations are sent only if the calendar server sends them";

/** Everything that the operations need. */
interface DavCalendar {
  account: CheckedAccount;
  client: DavClient;
  own: CalendarCopy;
  colleagues: ReadonlyMap<string, CalendarCopy>;
}

/**
 * The calendars of an account at a server of CalDAV. They are read into memory, and only changed events are read again.
 *
 * @example
 * const calendar = createStandardCalendar({
 *   user: { name: "Ana", address: "ana@acme.example" },
 *   password: process.env.DAV_PASSWORD ?? "",
 *   caldav: "https://dav.acme.example/",
 * });
 * const { items } = await calendar.listEvents({ from: "2026-03-02T00:00:00Z", to: "2026-03-09T00:00:00Z" });
 */
export function createStandardCalendar(options: StandardAccount): CalendarConnector {
  const account = parseParams(StandardAccount, options);
  const client = createDavClient(account, "caldav");
  const own = createCalendarCopy(account, account.user, client, () => client.collections());
  const colleagues = new Map(
    account.colleagues.map(({ address, calendarUrl }) => [
      address,
      createCalendarCopy(account, { name: "", address }, client, async () => [await client.collection(calendarUrl)]),
    ]),
  );
  const scope: DavCalendar = { account, client, own, colleagues };
  const once = createOnce();
  const synced = <Result>(act: () => Promise<Result>): Promise<Result> =>
    once("sync", async () => {
      await own.sync();
      return act();
    });
  return {
    status: () => davStatus(account, client, { canWrite: true, note }),
    timeZone: async () => own.account.timeZone,
    listEvents: (query) => synced(() => own.calendar.listEvents(query)),
    getEvent: (id) => synced(() => own.calendar.getEvent(id)),
    async createEvent(event, options) {
      const content = parseParams(NewEvent, event);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      return synced(() => createOnServer(scope, content, key));
    },
    updateEvent: (id, changes) =>
      synced(async () => {
        await writeChange(scope, id, () => own.calendar.updateEvent(id, changes));
        return own.calendar.getEvent(id);
      }),
    deleteEvent: (id) => synced(() => writeChange(scope, id, () => own.calendar.deleteEvent(id))),
    async checkAvailability(query) {
      const parsed = parseParams(AvailabilityQuery, query);
      return synced(() => readAvailability(scope, parsed));
    },
  };
}

async function createOnServer(
  { account, client, own }: DavCalendar,
  content: z.output<typeof NewEvent>,
  key: string,
): Promise<CalendarEvent> {
  const mark = createHash("sha256").update(`${account.user.address} ${key}`).digest("hex").slice(0, 32);
  const uid = `troupe-${mark}@${account.user.address.split("@")[1]}`;
  const id = eventIdOf(uid);
  const hash = contentHash(content);
  const known = own.objectOf(id);
  if (known) return checkedEvent(own, { id, data: known.data, hash, key });
  const record = toNewRecord(content, { id, uid, account });
  const { database, timeZone, clock } = own.account;
  // The copy checks times and rules. It is brought up to date from the server below.
  database.transaction(() => putEvent({ database, timeZone, nowMs: clock.now() }, record));
  try {
    const text = writeEvent(null, { master: record, exceptions: [] }, own.account);
    const data = text.replace("END:VEVENT", `${contentProperty.toUpperCase()}:${hash}\r\nEND:VEVENT`);
    const url = new URL(`${uid.replace("@", "-")}.ics`, chooseCollection(account, own.collections()).url).href;
    await client.put({ url, data, etag: null });
  } finally {
    database.run("DELETE FROM events WHERE id = ?", id);
  }
  await own.sync();
  const stored = own.objectOf(id);
  if (!stored) throw new ConnectorError("tool_error", "the calendar server does not show the stored event");
  // Another process can have used the key at the same time.
  return checkedEvent(own, { id, data: stored.data, hash, key });
}

function toNewRecord(
  content: z.output<typeof NewEvent>,
  { id, uid, account }: { id: string; uid: string; account: CheckedAccount },
) {
  const attendees = content.attendees.map((attendee) => ({ ...attendee, response: "none" as const }));
  return { ...content, id, uid, organizer: account.user, attendees, exceptionOf: null, isCancelled: false };
}

async function checkedEvent(
  own: CalendarCopy,
  { id, data, hash, key }: { id: string; data: string; hash: string; key: string },
): Promise<CalendarEvent> {
  // Long lines of iCalendar are folded.
  if (
    data
      .replace(/\r?\n[ \t]/g, "")
      .toLowerCase()
      .includes(`${contentProperty}:${hash}`)
  )
    return own.calendar.getEvent(id);
  throw keyReused(key);
}

function chooseCollection({ calendar }: CheckedAccount, collections: readonly DavCollection[]): DavCollection {
  const found = collections.find(({ name, url }) => calendar === null || name === calendar || url === calendar);
  if (found) return found;
  const names = collections.map(({ name, url }) => name || url).join(", ");
  throw new ConnectorError(
    "params",
    calendar === null ? "the account has no calendar" : `the account has no calendar ${calendar}`,
    {
      param: "calendar",
      fix: names === "" ? "create a calendar at the server" : `use one of: ${names}`,
    },
  );
}

/** Changes the copy, which checks the change, and then the server. If the server refuses, the copy is read again. */
async function writeChange<Result>(
  { client, own }: DavCalendar,
  id: string,
  change: () => Promise<Result>,
): Promise<Result> {
  const series = own.objectOf(id) ? id : (parseOccurrenceId(id)?.series ?? id);
  const object = own.objectOf(series);
  const result = await change();
  if (!object || result === false) return result;
  const { url, etag, data } = object;
  try {
    const after = own.seriesOf(series);
    const isDone = after
      ? await client.put({ url, etag, data: writeEvent(data, after, own.account) })
      : await client.remove({ url, etag });
    if (!isDone) {
      throw new ConnectorError("network", "another program has changed the event at the same time", {
        fix: "try again",
      });
    }
  } finally {
    own.forget(url);
  }
  await own.sync();
  return result;
}

async function readAvailability(
  { account, own, colleagues }: DavCalendar,
  query: z.output<typeof AvailabilityQuery>,
): Promise<Availability> {
  const window = parseWindow(query, account.clock.now());
  const addresses = query.people.length === 0 ? [account.user.address] : [...new Set(query.people)];
  const people: BusyPerson[] = [];
  for (const address of addresses) {
    const copy = address === account.user.address ? own : colleagues.get(address);
    if (copy && copy !== own) await copy.sync();
    const answer = await copy?.calendar.checkAvailability({ from: query.from, to: query.to, people: [address] });
    const busy = answer?.people[0]?.busy ?? [];
    people.push({
      address,
      isKnown: copy !== undefined,
      busy: busy.map(({ startsAt, endsAt }) => ({ fromMs: Date.parse(startsAt), toMs: Date.parse(endsAt) })),
    });
  }
  return composeAvailability(people, window, query);
}
