import type { z } from "zod";
import type { Availability, AvailabilityQuery } from "../../ports/calendar.ts";
import { composeAvailability, mergeSpans } from "../../time/free-slots.ts";
import { parseWindow, type QueryWindow } from "../../time/query-window.ts";
import type { LocalAccount } from "../local-account.ts";
import { findMailbox } from "../mail/mail-store.ts";
import { expandTo } from "./event-store.ts";
import { windowHits, windowValues } from "./window.ts";

type Query = z.output<typeof AvailabilityQuery>;

/** Busy times and free slots of people. Only people with a mailbox in this office have known times. */
export function readAvailability(account: LocalAccount, query: Query): Availability {
  const { database, clock, person, timeZone } = account;
  const window = parseWindow(query, clock.now());
  expandTo({ database, timeZone, nowMs: clock.now() }, window.toMs);
  const addresses = query.people.length === 0 ? [person.address] : [...new Set(query.people)];
  const people = addresses.map((address) => {
    const isKnown = findMailbox(database, address) !== undefined;
    return { address, isKnown, busy: isKnown ? busyTimes(account, address, window) : [] };
  });
  return composeAvailability(people, window, query);
}

function busyTimes({ database }: LocalAccount, address: string, window: QueryWindow): QueryWindow[] {
  const rows = database.all<{ start_ms: number; end_ms: number }>(
    `${windowHits}
     SELECT hits.start_ms, hits.end_ms FROM hits
       CROSS JOIN attendees a ON a.event = hits.event AND a.address = ? AND a.response <> 'declined'
       CROSS JOIN events e ON e.id = hits.event AND e.show_as = 'busy'`,
    ...windowValues(window),
    address,
  );
  return mergeSpans(
    rows.map(({ start_ms, end_ms }) => ({
      fromMs: Math.max(start_ms, window.fromMs),
      toMs: Math.min(end_ms, window.toMs),
    })),
  );
}
