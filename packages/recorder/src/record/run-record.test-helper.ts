import type { Entry, EntryBody, InboxItem } from "@troupe/core";
import { type Approval, openEntry } from "@troupe/core/internal";
import { createFeedBuilder, type FeedBuilder, feedStartMs, type RunBuilder } from "../feed-builder.test-helper.ts";
import { project } from "./projection.ts";
import type { RunRecord } from "./run-columns.ts";

/** The record of a root after all of its entries. */
export function recordAfter(write: (root: RunBuilder, builder: FeedBuilder) => unknown): RunRecord {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  write(root, builder);
  const own = entriesOf(builder).filter(({ run }) => run === root.request.run);
  const after = own.reduce<RunRecord | null>(project, null);
  if (!after) throw new Error("the run was not opened");
  return after;
}

type Command = Extract<InboxItem, { run: string }>;
type WithoutHead<T> = T extends unknown ? Omit<T, "v" | "at" | "session" | "run"> : never;

/** An inbox item with a user's command for a run. */
export function commandFor({ request }: RunBuilder, command: Partial<WithoutHead<Command>>): InboxItem {
  return { v: 1, at: feedStartMs, session: request.session, run: request.run, by: "Ada", ...command } as InboxItem;
}

/** The run requests an approval for its only call, and is then parked if `parked` is given. */
export function requestShellApproval(root: RunBuilder, parked?: "approval"): Approval {
  root.opened().replied([["shell", { command: "npm test" }]]);
  const approval = root.asked(0, "shell", { command: "npm test" });
  if (parked) root.write({ kind: "run.parked", reason: parked });
  return approval;
}

const usedNothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };
export const summary: Extract<EntryBody, { kind: "context.summarised" }> = {
  kind: "context.summarised",
  step: 1,
  text: "so far",
  usage: usedNothing,
  error: null,
  durationMs: 1,
};
export const compaction: Extract<EntryBody, { kind: "context.compacted" }> = {
  ...summary,
  kind: "context.compacted",
  kept: 2,
  tokensBefore: 61_400,
  tokensAfter: 900,
};
export const intent: Extract<EntryBody, { kind: "intent.assessed" }> = {
  kind: "intent.assessed",
  intent: {
    context: { request: "x", tools: [], params: {}, status: "planning", result: null, notes: [] },
    expectedFormat: "",
    successCriteria: "",
    risk: "low",
  },
  usage: null,
};

export function entriesOf(builder: FeedBuilder): Entry[] {
  return builder.feed.filter(({ kind }) => kind === "entry").map(({ text }) => openEntry(text));
}
