import type { InboxItem } from "@troupe/core";
import type { Ask, RunDraft } from "./draft.ts";

export type RunStatusNow = Pick<RunDraft, "exactStatus" | "metadata">;
type Answer = Extract<InboxItem, { kind: "approval.answered" }>;
type Holds = Pick<RunDraft, "asks" | "paused">;

/** The record's status stays `running`: only the machine's own word changes. */
export function exactly({ metadata }: Pick<RunDraft, "metadata">, word: string): RunStatusNow {
  return { exactStatus: word, metadata: { ...metadata, status: word } };
}

/** What a run does that a host has: it works, unless a person has to do something first. */
export function standing(before: RunDraft, change: Partial<Holds> = {}): RunStatusNow & Holds {
  const { asks, paused } = { ...before, ...change };
  const word = asks.length > 0 ? "waiting" : "running";
  return { asks, paused, ...exactly(before, paused ? "paused" : word) };
}

export function asking(before: RunDraft, ask: Ask): RunStatusNow & Holds {
  return standing(before, { asks: [...before.asks.filter(({ approval }) => approval !== ask.approval), ask] });
}

/** A call that goes on or has ended waits for no answer any more, whether or not there was one. */
export function movedOn(before: RunDraft, step: number, call: number): Partial<RunStatusNow & Holds> {
  const asks = before.asks.filter((ask) => ask.step !== step || ask.call !== call);
  return asks.length === before.asks.length ? {} : standing(before, { asks });
}

/** Pausing and resuming reach a run from itself or from any run above it: the last word counts. */
export function heard(before: RunDraft, item: InboxItem): Partial<RunStatusNow & Holds> {
  switch (item.kind) {
    case "run.paused":
      return standing(before, { paused: true });
    case "run.resumed":
      return standing(before, { paused: false });
    case "approval.answered":
      return standing(before, { asks: unanswered(before.asks, item) });
    case "session.requested":
    case "session.continued":
    case "session.cancelled":
    case "run.cancelled":
    case "run.steered":
      return {};
  }
}

/** An answer for the rest of the run is one for every question about that tool that is open already. */
function unanswered(asks: readonly Ask[], { approval, approved, scope }: Answer): Ask[] {
  const answered = asks.find((ask) => ask.approval === approval);
  const isForTool = approved && scope === "run" && answered !== undefined;
  return asks.filter((ask) => ask !== answered && !(isForTool && ask.tool === answered.tool));
}
