import type { FeedItem } from "@troupe/core";
import { readTranscript, type TranscriptRun } from "@troupe/recorder";

/** One difference between two sessions. A null side does not have it. */
export interface SessionDifference {
  /** Position of the run in the tree: `0` is the first root run, `0.1` its second child. */
  path: string;
  agent: string;
  /** Such as `step 2`, `step 2, call 0: read`, `answer`, `cost`. */
  what: string;
  first: string | null;
  second: string | null;
}

export interface SessionComparison {
  first: string;
  second: string;
  same: boolean;
  /** Runs of the first session. */
  runs: number;
  differences: SessionDifference[];
}

/** Compares two sessions, run by run at the same place of the tree. Ids and times are left out. */
export function compareSessions({
  first,
  second,
  feeds,
}: {
  first: string;
  second: string;
  feeds: Readonly<Record<string, readonly FeedItem[]>>;
}): SessionComparison {
  const [one, two] = [first, second].map((session) => runsByPath(readTranscript(feeds[session] ?? [], session).runs));
  const paths = [...new Set([...(one?.keys() ?? []), ...(two?.keys() ?? [])])];
  const differences = paths.flatMap((path) => compareRuns(path, one?.get(path), two?.get(path)));
  return { first, second, same: differences.length === 0, runs: one?.size ?? 0, differences };
}

/** A child is found by its call, so that the order of arrival does not matter. */
function runsByPath(runs: readonly TranscriptRun[]): Map<string, TranscriptRun> {
  const paths = new Map<string, string>();
  const found = new Map<string, TranscriptRun>();
  let turn = 0;
  for (const run of runs) {
    const { parent, attempt } = run.request;
    const own = parent
      ? `${paths.get(parent.run) ?? "?"}.${parent.step}/${parent.call}${parent.item > 0 ? `/${parent.item}` : ""}${attempt > 1 ? `#${attempt}` : ""}`
      : String(turn++);
    paths.set(run.request.run, own);
    found.set(own, run);
  }
  return found;
}

function compareRuns(path: string, one?: TranscriptRun, two?: TranscriptRun): SessionDifference[] {
  const agent = (one ?? two)?.request.agent ?? "";
  if (!one || !two) {
    const task = (run?: TranscriptRun): string | null => (run ? run.request.task : null);
    return [{ path, agent, what: "run", first: task(one), second: task(two) }];
  }
  const [facts, others] = [factsOf(one), factsOf(two)];
  return [...new Set([...facts.keys(), ...others.keys()])].flatMap((what) => {
    const [first, second] = [facts.get(what) ?? null, others.get(what) ?? null];
    return first === second ? [] : [{ path, agent, what, first, second }];
  });
}

/** The compared facts of a run, by name. */
function factsOf({ request, model, response, events }: TranscriptRun): Map<string, string> {
  const facts = new Map([
    ["agent", request.agent],
    ["task", request.task],
    ["model", model],
  ]);
  for (const event of events) {
    if (event.kind === "said") facts.set(`message ${facts.size}`, event.text);
    if (event.kind !== "reply") continue;
    const { step, reply } = event.entry;
    facts.set(`step ${step}`, reply.text);
    for (const [i, call] of event.calls.entries()) {
      facts.set(`step ${step}, call ${i}: ${call.name}`, JSON.stringify(call.args));
      facts.set(`step ${step}, call ${i}: result`, call.result?.text ?? "no outcome");
    }
  }
  facts.set("status", response?.status ?? "not settled");
  facts.set("answer", response ? response.details || response.summary : "none");
  facts.set("tokens", String(response?.metrics.totalTokens ?? "unknown"));
  facts.set("cost", response?.metrics.costUsd == null ? "unknown" : `$${response.metrics.costUsd.toFixed(4)}`);
  return facts;
}
