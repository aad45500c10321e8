import type { ParsedComponents, ParsedResult } from "chrono-node";
import { Temporal } from "temporal-polyfill";
import type { PhraseScope } from "./phrase.ts";

/** A date or a time that the text names. */
export interface NamedTime {
  /** The words. */
  text: string;
  /** The first of the words in the text. */
  index: number;
  /** Null if only a time is named. */
  date: Temporal.PlainDate | null;
  /** 1 is Monday. Set if only a weekday is named, without "next" or "last". Then `date` is a guess. */
  weekday: number | null;
  /** The named month or year is all that is known of the date. */
  isWholeMonth: boolean;
  clock: { hour: number; minute: number; isAmbiguous: boolean } | null;
  partOfDay: PartOfDay | null;
  /** Set for "in 45 minutes": an exact moment. */
  instantMs: number | null;
  /** The end of a span of dates. */
  endDate: Temporal.PlainDate | null;
}

const partsOfDay = ["morning", "noon", "afternoon", "evening", "tonight", "midnight", "night"] as const;
export type PartOfDay = (typeof partsOfDay)[number];

/** All dates and times in a text, in their order. `forward`: a weekday is in the future, otherwise the nearest one. */
export async function parseDates(text: string, scope: PhraseScope, forward: boolean): Promise<NamedTime[]> {
  const { casual } = await import("chrono-node/en");
  const zoned = Temporal.Instant.fromEpochMilliseconds(scope.nowMs).toZonedDateTimeISO(scope.timeZone);
  const reference = { instant: new Date(scope.nowMs), timezone: zoned.offsetNanoseconds / 60_000_000_000 };
  return casual.parse(text, reference, { forwardDate: forward }).map(toNamedTime);
}

function toNamedTime(result: ParsedResult): NamedTime {
  const { start, end, text, index } = result;
  const tags = [...start.tags()].map((tag) => tag.split("/")[1]);
  const isExact = start.tags().has("result/relativeDateAndTime") || tags.includes("now");
  const named = partsOfDay.find((part) => tags.includes(part)) ?? null;
  const hasDate = start.isCertain("day") || start.isCertain("weekday") || start.isCertain("month");
  return {
    text,
    index,
    date: hasDate ? dateOf(start) : null,
    weekday: isPlainWeekday(start, text) ? start.get("weekday") || sunday : null,
    isWholeMonth: start.isCertain("month") && !start.isCertain("day") && !start.isCertain("weekday"),
    clock: start.isCertain("hour") && !isExact ? clockOf(start, text) : null,
    partOfDay: start.isCertain("hour") && named !== "noon" ? null : named,
    instantMs: isExact ? start.date().getTime() : null,
    endDate: end && (end.isCertain("day") || end.isCertain("weekday") || end.isCertain("month")) ? dateOf(end) : null,
  };
}

const sunday = 7;

/** The library compares weekdays with the zone of this machine, so callers find the next one themselves. */
function isPlainWeekday(components: ParsedComponents, text: string): boolean {
  return (
    components.isCertain("weekday") && !components.isCertain("day") && !/\b(?:next|last|past|previous)\b/i.test(text)
  );
}

function dateOf(components: ParsedComponents): Temporal.PlainDate {
  const [year = 0, month = 1, day = 1] = (["year", "month", "day"] as const).map(
    (part) => components.get(part) ?? undefined,
  );
  return Temporal.PlainDate.from({ year, month, day });
}

/** An hour without am, pm or a leading zero can mean both halves of the day. */
function clockOf(components: ParsedComponents, text: string): NamedTime["clock"] {
  const [hour, minute] = [components.get("hour") ?? 0, components.get("minute") ?? 0];
  const isPlain =
    !components.isCertain("meridiem") && !/\b0\d[:.]|noon|midnight|morning|afternoon|evening|night/i.test(text);
  return { hour, minute, isAmbiguous: isPlain && hour >= 1 && hour <= 12 };
}
