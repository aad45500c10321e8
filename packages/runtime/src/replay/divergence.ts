import { type Entry, type EntryBody, Json } from "@troupe/core";
import type { EntryKind } from "@troupe/core/internal";
import { notAssessed } from "./replay-provider.ts";
import type { Unanswered } from "./state.ts";

/** The first place at which a replay is not what was recorded. */
export interface Divergence {
  /**
   * `differs`: the entry says something else. `missing`: the run did not come to write it. `extra`: it was written, and
   * not recorded. `altered`: the record itself is not what was written then.
   */
  why: "differs" | "missing" | "extra" | "altered";
  run: string;
  agent: string;
  index: number;
  kind: EntryKind;
  /** Where in the entry, and what stands there; null where it is about the entry as a whole. */
  path: string | null;
  recorded: Json;
  now: Json;
  /** All places in this entry. */
  paths: string[];
  /** In one sentence. */
  message: string;
}

/** Ends a replay from within. */
export class Diverged extends Error {
  readonly divergence: Divergence;

  constructor(divergence: Divergence) {
    super(divergence.message);
    this.name = "Diverged";
    this.divergence = divergence;
  }
}

type Place = Pick<Divergence, "run" | "agent" | "index" | "kind">;

const whole = { path: null, recorded: null, now: null, paths: [] };

export function differing(agent: string, recorded: Entry, now: Entry, differences: readonly Difference[]): Divergence {
  const [first] = differences;
  const paths = differences.map(({ path }) => path);
  const place = placeOf(agent, recorded);
  const isSent = first?.path === "messagesHash";
  const words = isSent
    ? "the model is sent other messages than it was"
    : `${first?.path ?? recorded.kind} is not what was recorded`;
  return {
    ...place,
    why: "differs",
    path: first?.path ?? null,
    recorded: first?.recorded ?? null,
    now: first?.now ?? null,
    paths,
    message: `${nameOf(place)}: ${words}${recorded.kind === now.kind ? "" : `: it is ${now.kind} now`}`,
  };
}

export function extra(agent: string, now: Entry): Divergence {
  const place = placeOf(agent, now);
  return { ...whole, ...place, why: "extra", message: `${nameOf(place)} was not recorded` };
}

export function altered(agent: string, recorded: Entry): Divergence {
  const place = placeOf(agent, recorded);
  const message = `${nameOf(place)} in the record is not what was written: it does not fit its seal`;
  return { ...whole, ...place, why: "altered", message };
}

/** @param instead what the run wants to write, and what it asks that nobody has an answer to */
export function missing(
  agent: string,
  recorded: Entry,
  instead: { waiting: readonly EntryBody[]; unanswered: readonly Unanswered[] },
): Divergence {
  const place = placeOf(agent, recorded);
  const asks = instead.unanswered.map((call) =>
    call.what === "model"
      ? `it asks its model (${call.purpose} of step ${call.step}), to which the record has no answer`
      : `it calls ${call.tool} (${call.key}), of which the record has no outcome`,
  );
  const writes = instead.waiting.map((body) => `it wants to write ${body.kind}`);
  const now = [...asks, ...writes].join("; ") || "nothing comes";
  return { ...whole, ...place, why: "missing", message: `${nameOf(place)} does not come about: ${now}` };
}

/** A run that was recorded, and that nobody asks for now. */
export function unasked(agent: string, recorded: Entry): Divergence {
  const place = placeOf(agent, recorded);
  return { ...whole, ...place, why: "missing", message: `nobody asks for run ${recorded.run} of ${agent} any more` };
}

function placeOf(agent: string, { run, index, kind }: Entry): Place {
  return { run, agent, index, kind };
}

function nameOf({ run, agent, index, kind }: Place): string {
  return `entry ${index} (${kind}) of ${agent}, run ${run}`;
}

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
