import type { Entry, EntryBody, Json } from "@troupe/core";
import type { EntryKind } from "@troupe/core/internal";
import type { Difference } from "./difference.ts";
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
