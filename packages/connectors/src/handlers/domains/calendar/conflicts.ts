import { RunFailure } from "@troupe/core/tool";
import { z } from "zod";
import type { Person } from "../../../ports/person.ts";
import { toIso } from "../../../time/zoned-instant.ts";
import { paramsError } from "../../base/call-failure.ts";
import { type CallWork, calls } from "../../base/request-work.ts";
import { countOf, listOf, someOf, spanText } from "../../base/wording.ts";
import { nameOf, personWith } from "../people-text.ts";

const Slot = z.object({ starts_at: z.string(), ends_at: z.string() });
const FoundConflict = Slot.extend({ person: z.string() });
export type FoundConflict = z.output<typeof FoundConflict>;

/** The output of a check of free times. */
export const FoundTimes = z.object({
  free: z.boolean(),
  conflicts: z.array(FoundConflict).default([]),
  /** Addresses of people whose calendar cannot be read. */
  unknown: z.array(z.string()).default([]),
  slots: z.array(Slot).default([]),
});

/** People in a text. */
export interface NamedPeople {
  /** The user is among them. */
  people: readonly Person[];
  /** The address of the user. */
  user: string;
  timeZone: string;
}

/** A time that people should be free at. */
export interface WantedTime extends NamedPeople {
  /** ISO times. */
  from: string;
  to: string;
}

const dayMs = 86_400_000;
const searchDays = 7;
const slotMinutesMax = 480;
const shownMax = 3;

/** Checks a time. Its value has the conflicts, and the people whose calendar is unknown. */
export function* checkTime({
  from,
  to,
  people,
}: WantedTime): CallWork<{ conflicts: FoundConflict[]; unknown: string[] }> {
  const args = { from, to, people: people.map(({ address }) => address) };
  const tool = "calendar_check_availability";
  const { conflicts, unknown } = yield* calls.read(FoundTimes, tool, args, "Looks for conflicts before the change.");
  return { conflicts, unknown };
}

/** Fails with the conflicts and the next free times, which another call finds if a turn is left. */
export function* refuseConflicts(conflicts: readonly FoundConflict[], wanted: WantedTime): CallWork<never> {
  const slots = yield* nextFree(wanted);
  const times = slots.slice(0, shownMax).map((slot) => spanText(slot.starts_at, slot.ends_at, wanted.timeZone));
  const free = times.length === 0 ? "" : `the next free times are: ${times.join("; ")}; name one of them, or `;
  throw paramsError("time", conflictText(conflicts, wanted), `${free}say “even if busy”`);
}

/** Busy people with their times. People with the same time are named together. */
export function conflictText(conflicts: readonly FoundConflict[], { people, user, timeZone }: NamedPeople): string {
  const byTime = Map.groupBy(conflicts, ({ starts_at, ends_at }) => spanText(starts_at, ends_at, timeZone));
  const texts = [...byTime].map(([when, busy]) => {
    const isUser = busy.some(({ person }) => person === user);
    const others = busy.filter(({ person }) => person !== user).map(({ person }) => nameOf(personWith(person, people)));
    const names = [...(isUser ? ["you"] : []), ...others];
    return `${someOf(names)} ${names.length > 1 || isUser ? "are" : "is"} busy on ${when}`;
  });
  const more = texts.length - shownMax;
  return listOf(more > 0 ? [...texts.slice(0, shownMax), `${countOf(more, "more time")} are busy`] : texts);
}

function* nextFree({ from, to, people }: WantedTime): CallWork<z.output<typeof Slot>[]> {
  const minutes = Math.ceil((Date.parse(to) - Date.parse(from)) / 60_000);
  if (minutes < 5 || minutes > slotMinutesMax) return [];
  const args = {
    ...{ from, to: toIso(Date.parse(from) + searchDays * dayMs), slot_minutes: minutes },
    people: people.map(({ address }) => address),
  };
  try {
    const found = yield* calls.read(
      FoundTimes,
      "calendar_check_availability",
      args,
      "The time is not free: finds others.",
    );
    return found.slots;
  } catch (thrown) {
    if (thrown instanceof RunFailure) return [];
    throw thrown;
  }
}

/** For the missing data of an answer. */
export function unknownText(unknown: readonly string[], people: readonly Person[]): string[] {
  if (unknown.length === 0) return [];
  const names = unknown.map((address) => nameOf(personWith(address, people)));
  return [`Nothing is known about the free time of ${listOf(names)}.`];
}
