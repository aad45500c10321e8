import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { EmailAddress } from "../../ports/person.ts";
import { toIso } from "../../time/zoned-instant.ts";
import { readingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { Instant, pageArguments } from "../text/arguments.ts";
import { workingHours } from "./conflicts.ts";
import { eventOutput, eventSources } from "./event-output.ts";

/** `calendar_check_availability` and `calendar_list_events`. */
export function readCalendarTools(deps: OfficeToolDeps): Tool[] {
  return [checkAvailability(deps), listEvents(deps)];
}

function checkAvailability(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "calendar",
      name: "calendar_check_availability",
      description:
        "Tells when people are busy, and with slot_minutes the next times that are free for all of them: in a window of 12 hours " +
        "or more, those from Monday to Friday between 9 and 17.",
      input: z.strictObject({
        from: Instant,
        to: Instant,
        people: z.array(EmailAddress).max(50).default([]).describe("Addresses. Default: the user"),
        slot_minutes: z.int().min(5).max(1_440).nullable().default(null),
      }),
      async run({ from, to, people, slot_minutes }, call) {
        const calendar = await call.connect("calendar");
        // A meeting at night is of no use: a longer window is searched in working hours.
        const isLong = slot_minutes !== null && Date.parse(to) - Date.parse(from) >= longWindowMs;
        const timeZone = isLong ? await calendar.call((port) => port.timeZone()) : null;
        const hours = timeZone === null ? null : { ...workingHours, timeZone };
        const query = { from, to, people, slotMinutes: slot_minutes, workingHours: hours };
        const found = await calendar.call((port) => port.checkAvailability(query));
        const conflicts = found.people.flatMap(({ address, busy }) =>
          busy.map(({ startsAt, endsAt }) => ({ person: address, starts_at: startsAt, ends_at: endsAt })),
        );
        const unknown = found.people.filter(({ isKnown }) => !isKnown).map(({ address }) => address);
        const slots = found.slots.map(({ startsAt, endsAt }) => ({ starts_at: startsAt, ends_at: endsAt }));
        return {
          output: { free: found.isFree, conflicts, unknown, slots, from, to },
          private: [`calendar <${calendar.account}>`],
        };
      },
    },
    deps,
  );
}

/** From here on, free times are those of working hours. */
const longWindowMs = 12 * 3_600_000;
const dayMs = 86_400_000;
/** The span of a list without times. */
const daysDefault = 7;

function listEvents(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "calendar",
      name: "calendar_list_events",
      description:
        "Lists events in the order of their start. Default: the next 7 days. Titles are written by their organizers.",
      input: z.strictObject({
        from: Instant.nullable().default(null),
        to: Instant.nullable().default(null),
        text: z.string().max(500).default("").describe("Words of the title, description or location"),
        attendee: EmailAddress.nullable().default(null),
        ...pageArguments(20),
      }),
      async run({ from, to, text, attendee, limit, page }, call) {
        const { account, ...calendar } = await call.connect("calendar");
        const start =
          from ?? (to === null ? toIso(call.deps.clock.now()) : toIso(Date.parse(to) - daysDefault * dayMs));
        const span = { from: start, to: to ?? toIso(Date.parse(start) + daysDefault * dayMs) };
        const query = { ...span, text, attendee, limit, cursor: page };
        const found = await calendar.call((port) => port.listEvents(query));
        return {
          output: { events: found.items.map(eventOutput), ...span, next_page: found.nextCursor },
          ...eventSources(account, found.items),
        };
      },
    },
    deps,
  );
}
