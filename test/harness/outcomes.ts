import path from "node:path";
import type { Entry } from "@troupe/core";
import { answeredEffect } from "@troupe/core/internal";
import { openRecord } from "@troupe/recorder";
import type { readJournalFile } from "./journal-file.ts";

type Runs = ReturnType<typeof readJournalFile>;

function allEntries(runs: Runs): Entry[] {
  return [...runs.values()].flat().map(({ entry }) => entry);
}

/** Keys of calls with an outcome, as the ledger names them, once per outcome. An approval request is not an outcome. */
export function outcomesIn(runs: Runs): string[] {
  return allEntries(runs).flatMap((entry) => {
    const key = entry.kind === "approval.requested" ? null : answeredEffect(entry);
    return key === null ? [] : [`${entry.run}/${key}`];
  });
}

/** Unsafe calls that started, have no outcome and cannot be verified. Calls with a plan can be. */
export function unsafeWithoutOutcome(runs: Runs): string[] {
  const done = new Set(outcomesIn(runs));
  return allEntries(runs)
    .flatMap((entry) =>
      entry.kind === "tool.started" && entry.plan === null ? [`${entry.run}/tool/${entry.step}/${entry.call}`] : [],
    )
    .filter((key) => !done.has(key));
}

/** Calls that were reported as in doubt. */
export function inDoubt(runs: Runs): string[] {
  return allEntries(runs).flatMap((entry) =>
    entry.kind === "tool.finished" && entry.outcome.inDoubt ? [`${entry.run}/tool/${entry.step}/${entry.call}`] : [],
  );
}

/** The tree as the journal has it: each run with its parent, attempt and end. */
export function journaledTree(runs: Runs): string[] {
  return [...runs.values()]
    .map((entries) => {
      const [first, last] = [entries[0]?.entry, entries.at(-1)?.entry];
      if (first?.kind !== "run.opened") throw new Error("a run did not open");
      const { run, parent, agent, attempt, depth } = first.request;
      const status = last?.kind === "run.settled" ? last.response.status : "open";
      return [run, parent?.run ?? null, agent, depth, attempt, status].join(" ");
    })
    .sort();
}

/** The same tree from the record of a home without a running daemon. */
export async function recordedTree(home: string, session: string): Promise<string[]> {
  const { reader, close } = await openRecord({ file: path.join(home, "troupe.db") });
  try {
    const runs = (await reader.session(session))?.runs ?? [];
    return runs
      .map(({ run, parentRun, agent, depth, attempt, exactStatus }) =>
        [run, parentRun, agent, depth, attempt, exactStatus].join(" "),
      )
      .sort();
  } finally {
    close();
  }
}
