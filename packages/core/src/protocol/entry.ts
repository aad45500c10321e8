import { z } from "zod";
import { AgentDefinition, ContextMode, RetryPolicy, WorkspaceMode } from "./agent.ts";
import { Approval } from "./approval.ts";
import { Budget } from "./budget.ts";
import { decodeText } from "./codec.ts";
import { hashText } from "./hash.ts";
import { Id, Token } from "./ids.ts";
import { InboxItem } from "./inbox.ts";
import { Intent } from "./intent.ts";
import { Limits } from "./limits.ts";
import { Message, ModelPrice, ModelReply, Usage } from "./model.ts";
import { Grant, GrantLayer, RunRequest } from "./request.ts";
import { RunResponse } from "./response.ts";
import { RunError } from "./run-error.ts";
import { FilePlan, ToolOutcome, ToolSpec } from "./tool.ts";
import { Version } from "./version.ts";

const Step = z.int().positive();
const Call = z.int().nonnegative();
const Item = z.int().nonnegative().default(0);
const Attempt = z.int().positive();
const Count = z.int().nonnegative();

/** An agent that a run may reach, with all that is decided about a child of it before it is asked. */
export const DelegationTarget = z.object({
  id: Token,
  description: z.string(),
  retry: RetryPolicy,
  contextMode: ContextMode.default("task_only"),
  promptFrom: z.enum(["own", "parent"]).default("own"),
  domain: Token.nullable().default(null),
  /** Where its runs work. Absent: shared. */
  workspace: WorkspaceMode.exactOptional(),
  /** The most that a child of it can use, as far as its definition says: the rest need not be reserved. */
  budget: Budget.prefault({}),
});
export type DelegationTarget = z.infer<typeof DelegationTarget>;

/** A child that a run has decided to ask for, before there is a slot for it. */
export const PlannedChild = z.object({
  call: Call,
  item: Item,
  run: Id,
  agent: Token,
  task: z.string(),
  /** What the model calls it within its batch. */
  name: z.string(),
  after: z.array(z.string()),
  contextMode: ContextMode,
  maxAttempts: z.int().positive(),
});
export type PlannedChild = z.infer<typeof PlannedChild>;

/** What a run was started with and will be resumed with, whatever the files say by then. */
export const RunSpec = z.object({
  protocol: Version,
  definition: AgentDefinition,
  definitionHash: z.string(),
  /** The rendered system prompt. */
  prompt: z.string(),
  tools: z.array(ToolSpec),
  /** Agents it may reach, with the description that its model reads. */
  targets: z.array(DelegationTarget),
  model: z.string(),
  temperature: z.number().nullable().default(null),
  /** What the model costs; null when nobody knows. */
  price: ModelPrice.nullable().default(null),
  /** The longest conversation that the model can read, its answer included; null when nobody knows. */
  contextTokens: z.int().positive().nullable().default(null),
  /** What was said in the session before this run, where it goes on with it. */
  history: z.array(Message).default([]),
  /** What is left after global ∩ parent ∩ own. */
  grant: Grant,
  /** What the policy of the machine that opened the run lets through, where that is not the session's first layer. */
  machine: GrantLayer.exactOptional(),
  /** The definition's caps, tightened by the request's. */
  limits: Limits,
  /** The request's budget, tightened by the definition's. */
  budget: Budget.prefault({}),
  /** Whether room is made in its conversation before it is too long. Runs from before this could be done go on without. */
  makesRoom: z.boolean().default(false),
});
export type RunSpec = z.infer<typeof RunSpec>;

/** The facts that a run's journal can hold. What happened outside is `…ed`; nothing here is a wish. */
export const EntryBody = z.discriminatedUnion("kind", [
  /** Index 0, and the first claim. */
  z.object({ kind: z.literal("run.opened"), request: RunRequest, pin: RunSpec }),
  /** A later host took it over: whatever an older epoch still sends is void. */
  z.object({ kind: z.literal("run.claimed"), reason: z.enum(["resumed", "taken_over"]) }),
  z.object({ kind: z.literal("intent.assessed"), intent: Intent, usage: Usage.nullable().default(null) }),
  z.object({
    kind: z.literal("model.replied"),
    step: Step,
    reply: ModelReply,
    durationMs: z.number(),
    /** Hash of the messages that it answers, for whoever replays the session: they are nowhere else in the record. */
    messagesHash: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("model.failed"), step: Step, error: RunError, durationMs: z.number() }),
  /**
   * Precedes an unsafe effect: found without an outcome, it is in doubt. Precedes a verifiable one with what it is about
   * to do to files: found without an outcome, they tell whether it was done.
   */
  z.object({
    kind: z.literal("tool.started"),
    step: Step,
    call: Call,
    tool: z.string(),
    argsHash: z.string(),
    plan: z.array(FilePlan).nullable().default(null),
  }),
  z.object({ kind: z.literal("tool.finished"), step: Step, call: Call, tool: z.string(), outcome: ToolOutcome }),
  /** What became of a turn's calls before any of them started: children that queue, and calls refused outright. */
  z.object({
    kind: z.literal("calls.planned"),
    step: Step,
    children: z.array(PlannedChild),
    refused: z.array(z.object({ call: Call, tool: z.string(), error: RunError })),
  }),
  /** The conversation so far in few words, for children that are to know of it. Charged to this run. */
  z.object({
    kind: z.literal("context.summarised"),
    step: Step,
    text: z.string(),
    usage: Usage,
    /** Why the text is a mere cutting of the conversation. */
    error: RunError.nullable(),
    durationMs: z.number(),
  }),
  /** Before that turn, older results gave way to references by which they can be asked for again: `step/call`. */
  z.object({
    kind: z.literal("context.trimmed"),
    step: Step,
    results: z.array(z.string()),
    tokensBefore: Count,
    tokensAfter: Count,
  }),
  /** Before that turn, all of the conversation but its request and its newest messages gave way to a summary. */
  z.object({
    kind: z.literal("context.compacted"),
    step: Step,
    /** How many of the newest messages stayed as they were. */
    kept: Count,
    text: z.string(),
    usage: Usage,
    /** Why the text is a mere cutting of the conversation. */
    error: RunError.nullable(),
    tokensBefore: Count,
    tokensAfter: Count,
    durationMs: z.number(),
  }),
  /** A person has to allow a call (step 0: the run) before it starts. Answered through the inbox. */
  z.object({ kind: z.literal("approval.requested"), step: z.int().nonnegative(), call: Call, approval: Approval }),
  z.object({
    kind: z.literal("child.settled"),
    step: Step,
    call: Call,
    item: Item,
    attempt: Attempt,
    /** Says by its `runId` which run that was: `run` here would be the writer's own. */
    response: RunResponse,
  }),
  /** The child began or ceased to wait for a person: time that counts against nobody. */
  z.object({
    kind: z.literal("child.waiting"),
    step: Step,
    call: Call,
    item: Item,
    attempt: Attempt,
    waiting: z.boolean(),
  }),
  z.object({ kind: z.literal("timer.fired"), timer: z.string() }),
  z.object({ kind: z.literal("inbox.received"), seq: z.int().positive(), item: InboxItem }),
  /** Given back on purpose, so that the next claim is no sign of a crash. */
  z.object({ kind: z.literal("run.parked"), reason: z.enum(["drain", "approval", "pause"]) }),
  z.object({ kind: z.literal("verify.finished"), round: z.int().positive(), failures: z.array(z.string()) }),
  /** Terminal: nothing follows. */
  z.object({ kind: z.literal("run.settled"), response: RunResponse }),
]);
export type EntryBody = z.infer<typeof EntryBody>;
export type EntryKind = EntryBody["kind"];

/** Who wrote an entry, where it stands, and what it follows. */
export const EntryHead = z.object({
  v: Version,
  session: Id,
  run: Id,
  index: z.int().nonnegative(),
  epoch: z.int().positive(),
  host: Token,
  /** Wall clock of the writer, for people; order comes from `index`. */
  at: z.int(),
  /** Hash of the entry before it; null at index 0. */
  prev: z.string().nullable(),
});
export type EntryHead = z.infer<typeof EntryHead>;

const SealedHead = EntryHead.extend({ hash: z.string() });

/** Each kind with its head as one object: read in one pass, where an intersection would read everything twice. */
const kinds = EntryBody.options.map((body) => body.extend(SealedHead.shape));
export type Entry = z.infer<typeof SealedHead> & EntryBody;
export const Entry = z.discriminatedUnion("kind", kinds as [(typeof kinds)[number]]) as unknown as z.ZodType<Entry>;

/** An entry ready to be stored: its text carries its own hash as the last field. */
export interface SealedEntry {
  index: number;
  hash: string;
  text: string;
}

/** Length of `,"hash":"<64 hex>"}`, which closes every sealed entry. */
const sealLength = 75;

/**
 * Serialises an entry and closes the chain over it: the hash covers every byte before it, `prev` included.
 *
 * @param hashOf the platform's SHA-256, where there is a faster one
 */
export function sealEntry(head: EntryHead, body: EntryBody, hashOf = hashText): SealedEntry {
  // The head comes first and wins: nothing in a body can move an entry to another run or index.
  const open = JSON.stringify({ ...head, ...body, ...head });
  const hash = hashOf(open);
  return { index: head.index, hash, text: `${open.slice(0, -1)},"hash":"${hash}"}` };
}

/** Parses a stored entry at the border. */
export function openEntry(text: string): Entry {
  return decodeText(Entry, text, "journal entry");
}

/**
 * Whether a stored entry is what was sealed. `hash` is for callers that check many and have a faster SHA-256 at hand
 * than the portable one.
 */
export function entryIsIntact(text: string, hash: (text: string) => string = hashText): boolean {
  const open = `${text.slice(0, -sealLength)}}`;
  return text.endsWith(`,"hash":"${hash(open)}"}`);
}

export function isTerminal(entry: { kind: EntryKind }): boolean {
  return entry.kind === "run.settled";
}
