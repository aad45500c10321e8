import { z } from "zod";

/** Whether the zone is one of the IANA names that this machine knows, such as `Europe/Berlin`. */
function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** An IANA time zone. */
export const TimeZone = z
  .string()
  .max(60)
  .refine(isTimeZone, {
    error: ({ input }) => `${JSON.stringify(input)} is not a time zone such as Europe/Berlin`,
  });

/** A wall clock time in a zone. Recurring events keep their wall clock time when the offset of the zone changes. */
export const ZonedTime = z.strictObject({
  /** Without an offset, like `2026-03-03T14:00:00`. */
  dateTime: z.iso.datetime({ local: true, offset: false, error: "is not a time such as 2026-03-03T14:00:00" }),
  timeZone: TimeZone,
});
export type ZonedTime = z.infer<typeof ZonedTime>;

/** The time of an event: a wall clock time, or a day. */
export const EventTime = z.union([ZonedTime, z.strictObject({ date: z.iso.date("is not a date such as 2026-03-03") })]);
export type EventTime = z.infer<typeof EventTime>;
