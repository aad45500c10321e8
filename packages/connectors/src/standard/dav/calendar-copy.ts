import ICAL from "ical.js";
import { type ParsedEvent, parseEvent } from "../../import/parse-event.ts";
import { type EventRow, toEvent, toRecord } from "../../local/calendar/event-rows.ts";
import { putEvent } from "../../local/calendar/event-store.ts";
import { createLocalCalendar } from "../../local/calendar/local-calendar.ts";
import { openMemoryOffice } from "../../local/database/office-database.ts";
import type { LocalAccount } from "../../local/local-account.ts";
import { ensureMailbox } from "../../local/mail/mail-store.ts";
import type { CalendarConnector } from "../../ports/calendar.ts";
import type { Person } from "../../ports/person.ts";
import type { CheckedAccount } from "../standard-options.ts";
import type { DavClient, DavCollection, DavObject } from "./dav-client.ts";
import { createDavCopy, type DavCopy } from "./dav-copy.ts";
import type { EventSeries } from "./write-event.ts";

/** The calendars of a person in memory. The calendar of the local office answers queries about them. */
export interface CalendarCopy extends DavCopy {
  account: LocalAccount;
  calendar: CalendarConnector;
  /** The object of an event, by the id of the event. */
  objectOf(event: string): DavObject | undefined;
  /** The event with its exceptions, as the copy has it now. Null if it was deleted. */
  seriesOf(event: string): EventSeries | null;
}

export function createCalendarCopy(
  { clock, timeZone }: CheckedAccount,
  person: Person,
  client: DavClient,
  list: () => Promise<DavCollection[]>,
): CalendarCopy {
  const database = openMemoryOffice();
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const account: LocalAccount = { database, clock, person, mailbox: ensureMailbox(database, person), timeZone: zone };
  const urls = new Map<string, string>();
  const copy = createDavCopy({
    client,
    list,
    changed({ url, data }) {
      for (const id of storeObject(account, data)) urls.set(id, url);
    },
    removed({ url }) {
      for (const [id, of] of urls) {
        if (of !== url) continue;
        database.run("DELETE FROM events WHERE id = ?", id);
        urls.delete(id);
      }
    },
  });
  return {
    ...copy,
    account,
    calendar: createLocalCalendar(account),
    objectOf: (event) => copy.get(urls.get(event) ?? ""),
    seriesOf: (event) => readSeries(account, event),
  };
}

/** Stores the events of an object. Returns their ids, without those of occurrences. A broken event hides no other event. */
function storeObject(account: LocalAccount, data: string): string[] {
  const { database, timeZone, clock } = account;
  const scope = { database, timeZone, nowMs: clock.now() };
  const parsed = parseObject(account, data).toSorted(
    (a, b) => Number(a.event.exceptionOf !== null) - Number(b.event.exceptionOf !== null),
  );
  const ids: string[] = [];
  for (const { event, cancelledMs } of parsed) {
    try {
      // An invitation to one occurrence only has no series. It is stored as an event of its own.
      const isAlone = event.exceptionOf !== null && !ids.includes(event.exceptionOf.series);
      const stored = isAlone ? { ...event, exceptionOf: null } : event;
      database.transaction(() => {
        putEvent(scope, stored);
        for (const { id, originalMs } of cancelledMs) {
          const exceptionOf = { series: event.id, originalMs };
          putEvent(scope, { ...event, id, exceptionOf, recurrence: null, isCancelled: true });
        }
      });
      if (stored.exceptionOf === null) ids.push(stored.id);
    } catch {
      // The event has no valid time or rule.
    }
  }
  return ids;
}

function parseObject(account: LocalAccount, data: string): ParsedEvent[] {
  try {
    const components = new ICAL.Component(ICAL.parse(data)).getAllSubcomponents("vevent");
    return components.flatMap((component) => {
      try {
        return [parseEvent(component, account)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

function readSeries({ database, timeZone }: LocalAccount, id: string): EventSeries | null {
  const rows = database.all<EventRow>("SELECT * FROM events WHERE id = ? OR series = ?", id, id);
  const records = rows.map((row) => {
    const exceptionOf = row.series === null ? null : { series: row.series, originalMs: row.original_ms ?? 0 };
    const record = toRecord(toEvent(database, row, timeZone), row.uid, exceptionOf);
    return { ...record, isCancelled: row.is_cancelled === 1 };
  });
  const master = records.find(({ exceptionOf }) => exceptionOf === null);
  return master ? { master, exceptions: records.filter(({ exceptionOf }) => exceptionOf !== null) } : null;
}
