import type { Entry, EntryBody, InboxItem } from "@troupe/core";
import { type Approval, openEntry } from "@troupe/core/internal";
import { createStory, type Scribe, type Story, storyStart } from "../story.test-helper.ts";
import type { RunDraft } from "./draft.ts";
import { project } from "./projection.ts";

/** The draft of a root after all that it has written. */
export function draftAfter(tell: (root: Scribe, story: Story) => unknown): RunDraft {
  const story = createStory();
  const root = story.run({ agent: "main" });
  tell(root, story);
  const own = entriesOf(story).filter(({ run }) => run === root.request.run);
  const draft = own.reduce<RunDraft | null>(project, null);
  if (!draft) throw new Error("nothing was opened");
  return draft;
}

type Wish = Extract<InboxItem, { run: string }>;
type WithoutHead<T> = T extends unknown ? Omit<T, "v" | "at" | "session" | "run"> : never;

/** What a person wants of a run, as it finds it in its inbox. */
export function wishFor({ request }: Scribe, wish: Partial<WithoutHead<Wish>>): InboxItem {
  return { v: 1, at: storyStart, session: request.session, run: request.run, by: "Ada", ...wish } as InboxItem;
}

/** The run asks for its only call, and is parked if so wanted. */
export function asksShell(root: Scribe, parked?: "approval"): Approval {
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

export function entriesOf(story: Story): Entry[] {
  return story.feed.filter(({ kind }) => kind === "entry").map(({ text }) => openEntry(text));
}
