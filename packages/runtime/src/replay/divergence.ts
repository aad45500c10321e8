import { type Entry, type EntryBody, Json } from "@troupe/core";
import type { EntryKind } from "@troupe/core/internal";
import { notAssessed } from "./replay-provider.ts";
import type { Unanswered } from "./state.ts";

/** The first difference between a replay and its recording. */
export interface Divergence {
  /**
   * `differs`: the replay wrote another entry. `missing`: the replay did not write the recorded entry. `extra`: the
   * replay wrote an entry that was not recorded. `altered`: the recorded entry was changed after it was written.
   */
  why: "differs" | "missing" | "extra" | "altered";
  run: string;
  agent: string;
  index: number;
  kind: EntryKind;
  /** Path of the first differing field, such as `pin.tools.2.name`; null if the entry as a whole differs. */
  path: string | null;
  recorded: Json;
  now: Json;
  /** Paths of all differing fields of this entry. */
  paths: string[];
  /** The divergence in one sentence. */
  message: string;
}

/** Thrown to end a replay at its first divergence. */
export class Diverged extends Error {
  readonly divergence: Divergence;

  constructor(divergence: Divergence) {
    super(divergence.message);
    this.name = "Diverged";
    this.divergence = divergence;
  }
}

type EntryLocation = Pick<Divergence, "run" | "agent" | "index" | "kind">;

const wholeEntry = { path: null, recorded: null, now: null, paths: [] };

/** The divergence of an entry with other content. */
export function differing(agent: string, recorded: Entry, now: Entry, differences: readonly Difference[]): Divergence {
  const [first] = differences;
  const paths = differences.map(({ path }) => path);
  const location = locationOf(agent, recorded);
  const summary =
    first?.path === "messagesHash"
      ? "the model gets other messages than it got in the recording"
      : `${first?.path ?? recorded.kind} differs from the recording`;
  return {
    ...location,
    why: "differs",
    path: first?.path ?? null,
    recorded: first?.recorded ?? null,
    now: first?.now ?? null,
    paths,
    message: `${describeLocation(location)}: ${summary}${recorded.kind === now.kind ? "" : `; its kind is now ${now.kind}`}`,
  };
}

/** The divergence of an entry that was not recorded. */
export function extra(agent: string, now: Entry): Divergence {
  const location = locationOf(agent, now);
  return { ...wholeEntry, ...location, why: "extra", message: `${describeLocation(location)} was not recorded` };
}

/** The divergence of a recorded entry whose hash is wrong. */
export function altered(agent: string, recorded: Entry): Divergence {
  const location = locationOf(agent, recorded);
  const message = `${describeLocation(location)} was changed in the recording: its hash is wrong`;
  return { ...wholeEntry, ...location, why: "altered", message };
}

/**
 * The divergence of an entry that the replay does not write.
 *
 * @param instead the entries that the run wants to write, and its calls that have no recorded outcome
 */
export function missing(
  agent: string,
  recorded: Entry,
  instead: { waiting: readonly EntryBody[]; unanswered: readonly Unanswered[] },
): Divergence {
  const location = locationOf(agent, recorded);
  const calls = instead.unanswered.map((call) =>
    call.what === "model"
      ? `the run calls its model (${call.purpose} of step ${call.step}), which was not recorded`
      : `the run calls ${call.tool} (${call.key}), which was not recorded`,
  );
  const writes = instead.waiting.map((body) => `the run wants to write ${body.kind}`);
  const now = [...calls, ...writes].join("; ") || "the run writes nothing";
  return {
    ...wholeEntry,
    ...location,
    why: "missing",
    message: `${describeLocation(location)} is not written: ${now}`,
  };
}

/** The divergence of a recorded run that its parent does not start. */
export function notRequested(agent: string, recorded: Entry): Divergence {
  const location = locationOf(agent, recorded);
  return {
    ...wholeEntry,
    ...location,
    why: "missing",
    message: `run ${recorded.run} of ${agent} is not started in the replay`,
  };
}

function locationOf(agent: string, { run, index, kind }: Entry): EntryLocation {
  return { run, agent, index, kind };
}

function describeLocation({ run, agent, index, kind }: EntryLocation): string {
  return `entry ${index} (${kind}) of ${agent}, run ${run}`;
}

/** One field in which a replayed entry differs from its recording. */
export interface Difference {
  /** Such as `pin.tools.2.name`. */
  path: string;
  /** Null if the field is missing. */
  recorded: Json;
  now: Json;
}

/** Fields that depend on machine and time. They are not compared. */
const incidental: ReadonlySet<string> = new Set(["durationMs", "waitedMs"]);
const incidentalHead: ReadonlySet<string> = new Set(["at", "epoch", "host", "prev", "hash"]);
/** Events for the trace come from files that a check found missing. A replay runs no check. */
const traceFields: ReadonlySet<string> = new Set(["events"]);
/** Fields computed from other fields. They come last, because the others say more. */
const derived: ReadonlySet<string> = new Set(["pin.definitionHash"]);

/** The fields in which two entries differ, the most informative first. Empty if they are equal. */
export function differencesOf(recorded: Entry, now: Entry): Difference[] {
  const differences = Object.entries({ ...recorded, ...now })
    .filter(([name]) => !incidentalHead.has(name) && !incidental.has(name) && !traceFields.has(name))
    .filter(([name]) => !isUnrecorded(name, recorded))
    .flatMap(([name]) => compare(name, valueIn(recorded, name), valueIn(now, name)));
  return [
    ...differences.filter(({ path }) => !derived.has(path)),
    ...differences.filter(({ path }) => derived.has(path)),
  ];
}

/** Recordings of older versions have no `messagesHash`. */
function isUnrecorded(name: string, recorded: Entry): boolean {
  return name === "messagesHash" && !Object.hasOwn(recorded, name);
}

function compare(path: string, recorded: unknown, now: unknown): Difference[] {
  if (Object.is(recorded, now) || isSameFailure(recorded, now)) return [];
  if (!isObject(recorded) || !isObject(now) || Array.isArray(recorded) !== Array.isArray(now)) {
    return [{ path, recorded: Json.parse(recorded ?? null), now: Json.parse(now ?? null) }];
  }
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])].filter((name) => !incidental.has(name));
  return names.flatMap((name) => compare(`${path}.${name}`, valueIn(recorded, name), valueIn(now, name)));
}

/** The reason of a failed assessment comes from the model's reply, which the replay does not have. */
function isSameFailure(recorded: unknown, now: unknown): boolean {
  return [recorded, now].every((value) => typeof value === "string" && value.startsWith(notAssessed));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function valueIn(branch: object, name: string): unknown {
  return Object.hasOwn(branch, name) ? (branch as Record<string, unknown>)[name] : undefined;
}
