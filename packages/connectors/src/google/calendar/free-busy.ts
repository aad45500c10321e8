import { z } from "zod";
import type { Availability, AvailabilityQuery } from "../../ports/calendar.ts";
import { type BusyPerson, composeAvailability, mergeSpans } from "../../time/free-slots.ts";
import { parseWindow, type QueryWindow } from "../../time/query-window.ts";
import type { OpenCalendar } from "./google-calendar.ts";

const span = z.object({ start: z.iso.datetime({ offset: true }), end: z.iso.datetime({ offset: true }) });
const FreeBusy = z.object({
  calendars: z.record(
    z.string(),
    z.object({ busy: z.array(span).default([]), errors: z.array(z.object({ reason: z.string() })).default([]) }),
  ),
});

/** Google answers for at most this span in one query. */
const spanMsMax = 60 * 86_400_000;

/** Busy times of people whose calendar the account can see. All others are unknown. */
export async function readFreeBusy(
  calendar: OpenCalendar,
  query: z.output<typeof AvailabilityQuery>,
): Promise<Availability> {
  const window = parseWindow(query, calendar.clock.now());
  const addresses = query.people.length === 0 ? [calendar.session.account] : [...new Set(query.people)];
  const answers: z.infer<typeof FreeBusy>[] = [];
  for (let fromMs = window.fromMs; fromMs < window.toMs; fromMs += spanMsMax) {
    answers.push(await ask(calendar, addresses, { fromMs, toMs: Math.min(fromMs + spanMsMax, window.toMs) }));
  }
  const people = addresses.map((address) => toBusyPerson(address, answers, window));
  return composeAvailability(people, window, query);
}

async function ask({ session }: OpenCalendar, addresses: readonly string[], { fromMs, toMs }: QueryWindow) {
  return await session.call({ what: "read free and busy times", schema: FreeBusy }, ({ calendar }) =>
    calendar.freebusy.query({
      requestBody: {
        timeMin: new Date(fromMs).toISOString(),
        timeMax: new Date(toMs).toISOString(),
        items: addresses.map((id) => ({ id })),
      },
    }),
  );
}

function toBusyPerson(address: string, answers: readonly z.infer<typeof FreeBusy>[], window: QueryWindow): BusyPerson {
  const calendars = answers.map(({ calendars: found }) => found[address]);
  const isKnown = calendars.every((found) => found !== undefined && found.errors.length === 0);
  const spans = calendars.flatMap((found) => found?.busy ?? []);
  const busy = mergeSpans(
    spans.map(({ start, end }) => ({
      fromMs: Math.max(Date.parse(start), window.fromMs),
      toMs: Math.min(Date.parse(end), window.toMs),
    })),
  );
  return { address, isKnown, busy: isKnown ? busy : [] };
}
