import { z } from "zod";
import { TimeZone } from "../../ports/event-time.ts";
import { blockText, LineText } from "../../ports/person.ts";
import { PersonText } from "../text/arguments.ts";

const wallPattern = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?$/;

/** A wall clock time, `2026-11-24T14:00:00`, or a day, `2026-11-24`. */
export const WallText = z
  .string()
  .trim()
  .max(40)
  .regex(
    wallPattern,
    "is not a wall clock time such as 2026-11-24T14:00:00, without an offset, or a day such as 2026-11-24",
  )
  .transform((text) => text.replace(" ", "T"));

/** Fields of an event. */
export const eventFields = {
  title: LineText.min(1, "is empty"),
  start: WallText.describe("Wall clock, like 2026-11-24T14:00:00; a day, like 2026-11-24, for an all-day event"),
  end: WallText.describe("Exclusive. Of the same kind as start"),
  time_zone: TimeZone.nullable().describe("IANA name. Default: the zone of the calendar"),
  attendees: z.array(PersonText).max(200).describe("Addresses, or Name <address>"),
  description: blockText(100_000),
  location: LineText,
  recurrence: z.string().max(500).nullable().describe("RRULE without its name, like FREQ=WEEKLY;BYDAY=TU"),
  visibility: z.enum(["default", "private", "public"]),
};

/** Whether the call may put an event over a busy time. */
export const evenIfBusy = z.boolean().default(false).describe("Also over a busy time");
