import { z } from "zod";
import { toIso } from "../../../time/zoned-instant.ts";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { bullets, capitalized, listOf, rangeWords, spanText } from "../../base/wording.ts";
import type { OfficeScope } from "../office-scope.ts";
import { nameOf, namesOf, People } from "../people-text.ts";
import { conflictText, FoundTimes, type NamedPeople, unknownText } from "./conflicts.ts";

const Range = z.object({ from: z.string(), to: z.string() });
const Params = z.object({ people: People, user: z.string(), range: Range, slot_minutes: z.int().optional() });

const dayMs = 86_400_000;
const daysDefault = 7;
const minutesDefault = 60;
const shownMax = 10;

/** Tells whether people are free, or when. */
export const availabilityPlan = (scope: OfficeScope): RequestPlan => ({
  expectedFormat: "Whether the people are free then, with their busy times, or the next free times.",
  criteria: { free: "It is known whether the time is free." },
  async prepare({ params: { minutes, ...params } }, { request }) {
    const user = await scope.user(request);
    const named = People.parse(params.people ?? [user]);
    const isWithUser =
      /\b(?:with|we|us)\b/i.test(request.task) && !named.some(({ address }) => address === user.address);
    const people = isWithUser ? [user, ...named] : named;
    const next = { from: toIso(request.nowMs), to: toIso(request.nowMs + daysDefault * dayMs) };
    const wanted = Range.parse(params.range ?? next);
    // A past time is of no use.
    const range =
      Date.parse(wanted.to) > request.nowMs && wanted.from < next.from ? { ...wanted, from: next.from } : wanted;
    const isLong = Date.parse(range.to) - Date.parse(range.from) > dayMs;
    const isSearch = isLong || /\b(?:slots?|times|when)\b/i.test(request.task);
    const length = typeof minutes === "number" ? minutes : minutesDefault;
    return {
      params: {
        ...{ people: people.map((person) => ({ ...person })), user: user.address, range },
        ...(isSearch ? { slot_minutes: length } : {}),
      },
      assumptions: [
        ...(params.range === undefined ? [`no time is named, so it is the next ${daysDefault} days`] : []),
        ...(isSearch && minutes === undefined ? [`no length is named, so it is ${length} minutes`] : []),
      ],
    };
  },
  *work({ params, read, timeZone }) {
    const { people, user, range, slot_minutes } = Params.parse(params);
    const from = range.from;
    const args = { from, to: range.to, people: people.map(({ address }) => address), slot_minutes };
    const { conflicts, unknown, slots } = yield* read(
      FoundTimes,
      "calendar_check_availability",
      args,
      `Looks at the calendar of ${namesOf(people)}.`,
    );
    const known = people.filter(({ address }) => !unknown.includes(address));
    const missing = unknownText(unknown, people);
    if (known.length === 0) return { summary: missing[0] ?? "", missing };
    const names = listOf(known.map((person) => (person.address === user ? "you" : nameOf(person))));
    const are = known.length > 1 || names === "you" ? "are" : "is";
    const subject = `${capitalized(names)} ${are}`;
    const busy = busyLines(conflicts, { people, user, timeZone });
    if (slot_minutes !== undefined) {
      const [first] = slots;
      if (!first)
        return { summary: `Found no free time of ${slot_minutes} minutes for ${names}.`, details: busy, missing };
      const lines = slots.slice(0, shownMax).map((slot) => spanText(slot.starts_at, slot.ends_at, timeZone));
      return {
        summary: `${subject} free on ${lines[0]}${lines.length > 1 ? ", and at other times" : ""}.`,
        details: `Free times:\n\n${bullets(lines)}`,
        missing,
      };
    }
    const when = spanWords(range, timeZone);
    const is = conflicts.length === 0 ? "free" : "not free the whole time";
    return { summary: `${subject} ${is} ${when}.`, details: busy, missing };
  },
});

function busyLines(conflicts: z.output<typeof FoundTimes>["conflicts"], named: NamedPeople): string {
  return bullets(conflicts.slice(0, shownMax).map((conflict) => capitalized(conflictText([conflict], named))));
}

/** Whole days have no hours. */
function spanWords(range: z.output<typeof Range>, timeZone: string): string {
  const text = spanText(range.from, range.to, timeZone);
  return /, 00:00(?: to|–)/.test(text) ? rangeWords(range, timeZone) : `on ${text}`;
}
