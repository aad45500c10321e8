import { type Entry, Json } from "@troupe/core";
import { notAssessed } from "./replay-provider.ts";

/** A place in an entry that is not what was recorded. */
export interface Difference {
  /** `pin.tools.2.name` */
  path: string;
  /** Null where there is nothing. */
  recorded: Json;
  now: Json;
}

/** What depends on the machine and the moment, and on nothing that was done. */
const incidental: ReadonlySet<string> = new Set(["durationMs", "waitedMs"]);
const incidentalHead: ReadonlySet<string> = new Set(["at", "epoch", "host", "prev", "hash"]);
/** They follow from other fields, which say more. */
const derived: ReadonlySet<string> = new Set(["pin.definitionHash"]);

/** Where two entries differ, the most telling place first. Nothing where they say the same. */
export function differencesOf(recorded: Entry, now: Entry): Difference[] {
  const found = Object.entries({ ...recorded, ...now })
    .filter(([name]) => !incidentalHead.has(name) && !incidental.has(name) && !isUnknown(name, recorded))
    .flatMap(([name]) => compare(name, valueIn(recorded, name), valueIn(now, name)));
  return [...found.filter(({ path }) => !derived.has(path)), ...found.filter(({ path }) => derived.has(path))];
}

/** Records from before it was kept do not say what the model was sent. */
function isUnknown(name: string, recorded: Entry): boolean {
  return name === "messagesHash" && !Object.hasOwn(recorded, name);
}

function compare(path: string, recorded: unknown, now: unknown): Difference[] {
  if (Object.is(recorded, now) || isSameFailure(recorded, now)) return [];
  if (!isBranch(recorded) || !isBranch(now) || Array.isArray(recorded) !== Array.isArray(now)) {
    return [{ path, recorded: Json.parse(recorded ?? null), now: Json.parse(now ?? null) }];
  }
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])].filter((name) => !incidental.has(name));
  return names.flatMap((name) => compare(`${path}.${name}`, valueIn(recorded, name), valueIn(now, name)));
}

/** Why an assessment could not be used is said in the words of whoever read it. */
function isSameFailure(recorded: unknown, now: unknown): boolean {
  return [recorded, now].every((value) => typeof value === "string" && value.startsWith(notAssessed));
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function valueIn(branch: object, name: string): unknown {
  return Object.hasOwn(branch, name) ? (branch as Record<string, unknown>)[name] : undefined;
}
