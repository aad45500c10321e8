import type { IntentMatch } from "../../../intents/match-intent.ts";
import { type Person, toLine } from "../../../ports/person.ts";
import { capitalized, listOf, quoted } from "../../base/wording.ts";
import { firstName } from "../people-text.ts";

const namedMax = 3;

/** The title of a new event: as it is named, or by its topic, or by its people. The last one is an assumption. */
export function titleOf(
  { title, topic, noun, about, people }: IntentMatch["words"],
  attendees: readonly Person[],
): { title: string; assumption: string | null } {
  if (title !== undefined) return { title: plain(title), assumption: null };
  if (topic !== undefined) return { title: capitalized(plain(`${topic} ${noun ?? ""}`)), assumption: null };
  const kind = capitalized(plain(noun ?? "meeting"));
  if (about !== undefined) return { title: `${kind} about ${plain(about)}`, assumption: null };
  const named = byPeople(kind, people ?? "", attendees);
  return { title: named, assumption: `no title is named, so it is ${quoted(named)}` };
}

function byPeople(kind: string, words: string, attendees: readonly Person[]): string {
  if (/^(?:(?:the|my|our) )?(?:whole |entire )?team$/i.test(words.trim())) return `Team ${kind.toLowerCase()}`;
  if (attendees.length === 0 || attendees.length > namedMax) return kind;
  return `${kind} with ${listOf(attendees.map(firstName))}`;
}

function plain(words: string): string {
  return toLine(words).replace(/[?.!,;]+$/, "");
}
