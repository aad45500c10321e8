import type { Entry, ModelRequest, RunResponse, RunRow } from "@troupe/core";
import type { PlannedChild } from "@troupe/core/internal";
import type { Team } from "./team.ts";

/** Waits until a run has planned so many children, and returns them in the order in which they were asked for. */
export async function plannedBy(
  team: Team,
  run: { session: string; run: string },
  count = 1,
): Promise<(PlannedChild & { session: string })[]> {
  const entries = await team.entriesOnce(run, (all) => plannedIn(all).length >= count);
  return plannedIn(entries).map((child) => ({ ...child, session: run.session }));
}

export function plannedIn(entries: readonly Entry[]): PlannedChild[] {
  return entries.flatMap((entry) => (entry.kind === "calls.planned" ? entry.children : []));
}

/** Responses of the children in a run's journal, in the order in which they settled. */
export function settledIn(entries: readonly Entry[]): RunResponse[] {
  return entries.flatMap((entry) => (entry.kind === "child.settled" ? [entry.response] : []));
}

/** The opening entry of a run. */
export function openedIn(entries: readonly Entry[]): Extract<Entry, { kind: "run.opened" }> {
  const [opened] = entries;
  if (opened?.kind !== "run.opened") throw new Error("the run has not begun");
  return opened;
}

/** The response in a run's own journal. */
export function responseIn(entries: readonly Entry[]): RunResponse {
  const last = entries.at(-1);
  if (last?.kind !== "run.settled") throw new Error(`the run has not ended: its newest entry is ${last?.kind}`);
  return last.response;
}

export function endsWith(kind: Entry["kind"]): (entries: readonly Entry[]) => boolean {
  return (entries) => entries.at(-1)?.kind === kind;
}

/** Every question that the models of an agent were asked. */
export function askedOf({ questions }: Pick<Team, "questions">, agent: string): ModelRequest[] {
  return questions.filter(({ origin }) => origin.agent === agent);
}

/** All that a model could read in a question. */
export function wordsIn({ system, messages }: ModelRequest): string {
  return [system, ...messages.map(({ text }) => text)].join("\n");
}

export function rowsOf(runs: readonly RunRow[], agent: string): RunRow[] {
  return runs.filter((row) => row.agent === agent);
}
