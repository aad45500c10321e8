import { z } from "zod";
import { AgentDefinition, ContextMode, RetryPolicy, WorkspaceMode } from "./agent.ts";
import { Approval } from "./approval.ts";
import { Budget } from "./budget.ts";
import { decodeText, Version } from "./codec.ts";
import { ForkedFrom } from "./forked-from.ts";
import { hashText } from "./hash.ts";
import { Id, Token } from "./ids.ts";
import { InboxItem } from "./inbox.ts";
import { Intent } from "./intent.ts";
import { Limits } from "./limits.ts";
import { Message, ModelPrice, ModelReply, Usage } from "./model.ts";
import { Grant, GrantLayer, RunRequest } from "./request.ts";
import { RunResponse } from "./response.ts";
import { RunError } from "./run-error.ts";
import { Taint } from "./taint.ts";
import { FilePlan, ToolOutcome, ToolSpec } from "./tool.ts";
import { TraceEvent } from "./trace-event.ts";

const Step = z.int().positive();
const Call = z.int().nonnegative();
const Item = z.int().nonnegative().default(0);
const Attempt = z.int().positive();
const Count = z.int().nonnegative();

/** An agent that a run may delegate to, and the settings of its children that are fixed when the run opens. */
export const DelegationTarget = z.object({
  id: Token,
  description: z.string(),
  /** Summary of its earlier runs in the record, from when this run opened. Absent: none. */
  hint: z.string().exactOptional(),
  retry: RetryPolicy,
  contextMode: ContextMode.default("task_only"),
  promptFrom: z.enum(["own", "parent"]).default("own"),
  domain: Token.nullable().default(null),
  /** Absent means shared. */
  workspace: WorkspaceMode.exactOptional(),
  /** The most that a child of it can use, by its definition. More need not be reserved. */
  budget: Budget.prefault({}),
});
export type DelegationTarget = z.infer<typeof DelegationTarget>;

/** A child in the plan of a turn, before it has a slot. */
export const PlannedChild = z.object({
  call: Call,
  item: Item,
  run: Id,
  agent: Token,
  task: z.string(),
  /** The task's name within its batch. */
  name: z.string(),
  after: z.array(z.string()),
  contextMode: ContextMode,
  maxAttempts: z.int().positive(),
});
export type PlannedChild = z.infer<typeof PlannedChild>;

/** The configuration of a run. It is frozen when the run opens and used for every resume, even if files change. */
export const RunSpec = z.object({
  protocol: Version,
  definition: AgentDefinition,
  definitionHash: z.string(),
  /** The rendered system prompt. */
  prompt: z.string(),
  tools: z.array(ToolSpec),
  /** The agents that it may delegate to. */
  targets: z.array(DelegationTarget),
  model: z.string(),
  temperature: z.number().nullable().default(null),
  /** Price of the model; null if unknown. */
  price: ModelPrice.nullable().default(null),
  /** Context window of the model, its answer included; null if unknown. */
  contextTokens: z.int().positive().nullable().default(null),
  /** Messages of the session's earlier turns. */
  history: z.array(Message).default([]),
  /** Untrusted and private sources of the earlier turns of the session. Absent: none. */
  taint: Taint.exactOptional(),
  /** The grant after all layers: global ∩ parent ∩ own. */
  grant: Grant,
  /** Policy layer of the machine that opened the run. Absent if it is the session's first layer. */
  machine: GrantLayer.exactOptional(),
  /** Limits of the definition, tightened by the request. */
  limits: Limits,
  /** Budget of the request, tightened by the definition. */
  budget: Budget.prefault({}),
  /** Whether the usage of model calls without a reply is booked by estimate. False for runs from before this feature. */
  booksLostCalls: z.boolean().default(false),
  /** Whether a last turn without tools is marked in the response. False for runs from before this feature. */
  marksLastTurn: z.boolean().default(false),
  /** Whether a long conversation is trimmed and compacted. False for runs from before this feature. */
  makesRoom: z.boolean().default(false),
  /**
   * Whether the model reads the text of a child's result once, although several fields have it. False for runs from before
   * this feature.
   */
  readsTextOnce: z.boolean().default(false),
  /**
   * Whether the answer of a domain agent has the shape `DomainResponse`, and the turn of its answer counts as no iteration.
   * False for runs from before this feature.
   */
  answersByDomain: z.boolean().default(false),
});
export type RunSpec = z.infer<typeof RunSpec>;

/** Whether a replay takes the intent from the record. Before this feature it was made again from the recorded reply. */
export function recordsIntent({
  definition,
  answersByDomain,
}: Pick<RunSpec, "definition" | "answersByDomain">): boolean {
  return answersByDomain || definition.handler !== undefined;
}

/**
 * Estimated usage of the model call that a fact stops; null if the call had not started. Absent: the fact stops none, or
 * an earlier version wrote it.
 */
const LostUsage = Usage.nullable().exactOptional();

/** The entries of a run's journal. Each is a fact about the past. */
export const EntryBody = z.discriminatedUnion("kind", [
  /** Index 0. It is also the first claim. */
  z.object({ kind: z.literal("run.opened"), request: RunRequest, pin: RunSpec }),
  /** A later host took the run over. Entries of an older epoch are void from here on. */
  z.object({
    kind: z.literal("run.claimed"),
    reason: z.enum(["resumed", "taken_over"]),
    /** The entries before it are a copy. Budgets, caps and the clock start anew. Absent: the run is not a fork. */
    forkedFrom: ForkedFrom.exactOptional(),
  }),
  z.object({ kind: z.literal("intent.assessed"), intent: Intent, usage: Usage.nullable().default(null) }),
  z.object({
    kind: z.literal("model.replied"),
    step: Step,
    reply: ModelReply,
    durationMs: z.number(),
    /** Hash of the messages that it answers, for replays. The messages themselves are not stored. */
    messagesHash: z.string().exactOptional(),
  }),
  z.object({
    kind: z.literal("model.failed"),
    step: Step,
    error: RunError,
    durationMs: z.number(),
    lostUsage: LostUsage,
  }),
  /**
   * Precedes an unsafe or verifiable call. Without an outcome, an unsafe call is in doubt. For a verifiable call, `plan`
   * has the intended file changes, and the files show whether they happened.
   */
  z.object({
    kind: z.literal("tool.started"),
    step: Step,
    call: Call,
    tool: z.string(),
    argsHash: z.string(),
    plan: z.array(FilePlan).nullable().default(null),
    /** Files that could not be restored if the call changed them, in one line for people. Absent: none. */
    unkept: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("tool.finished"), step: Step, call: Call, tool: z.string(), outcome: ToolOutcome }),
  /** The plan of a turn's calls, before any of them starts: queued children and refused calls. */
  z.object({
    kind: z.literal("calls.planned"),
    step: Step,
    children: z.array(PlannedChild),
    refused: z.array(z.object({ call: Call, tool: z.string(), error: RunError })),
  }),
  /** A summary of the conversation for children. Charged to this run. */
  z.object({
    kind: z.literal("context.summarised"),
    step: Step,
    text: z.string(),
    usage: Usage,
    /** Why the text is a cut of the conversation instead of a summary. */
    error: RunError.nullable(),
    durationMs: z.number(),
  }),
  /** Before that turn, placeholders replaced older results. `results` has their references (`step/call`). */
  z.object({
    kind: z.literal("context.trimmed"),
    step: Step,
    results: z.array(z.string()),
    tokensBefore: Count,
    tokensAfter: Count,
  }),
  /** Before that turn, a summary replaced all messages except the request and the newest ones. */
  z.object({
    kind: z.literal("context.compacted"),
    step: Step,
    /** Number of newest messages that stayed unchanged. */
    kept: Count,
    text: z.string(),
    usage: Usage,
    /** Why the text is a cut of the conversation instead of a summary. */
    error: RunError.nullable(),
    tokensBefore: Count,
    tokensAfter: Count,
    durationMs: z.number(),
  }),
  /** A person has to allow a call (step 0: the run). The answer arrives through the inbox. */
  z.object({ kind: z.literal("approval.requested"), step: z.int().nonnegative(), call: Call, approval: Approval }),
  z.object({
    kind: z.literal("child.settled"),
    step: Step,
    call: Call,
    item: Item,
    attempt: Attempt,
    /** Its `runId` is the child's. The entry's own `run` is the parent's. */
    response: RunResponse,
  }),
  /** The child began or stopped waiting for a person. That time does not count against the parent. */
  z.object({
    kind: z.literal("child.waiting"),
    step: Step,
    call: Call,
    item: Item,
    attempt: Attempt,
    waiting: z.boolean(),
  }),
  z.object({ kind: z.literal("timer.fired"), timer: z.string(), lostUsage: LostUsage }),
  z.object({ kind: z.literal("inbox.received"), seq: z.int().positive(), item: InboxItem, lostUsage: LostUsage }),
  /** The host gave the run back on purpose: the next claim does not indicate a crash. */
  z.object({ kind: z.literal("run.parked"), reason: z.enum(["drain", "approval", "pause"]), lostUsage: LostUsage }),
  /** Checks of children's results, in their parent. An empty list of failures means that the check passed. */
  z.object({
    kind: z.literal("children.checked"),
    round: z.int().positive(),
    results: z.array(z.object({ child: Id, agent: Token, verifier: z.string(), failures: z.array(z.string()) })),
    /** Events of the checks for the trace. Absent: none. */
    events: z.array(TraceEvent).exactOptional(),
  }),
  z.object({
    kind: z.literal("verify.finished"),
    round: z.int().positive(),
    failures: z.array(z.string()),
    /** Events of the check for the trace. Absent: none. */
    events: z.array(TraceEvent).exactOptional(),
  }),
  /** The last entry of every journal. */
  z.object({ kind: z.literal("run.settled"), response: RunResponse }),
]);
export type EntryBody = z.infer<typeof EntryBody>;
export type EntryKind = EntryBody["kind"];

/** Writer, position and predecessor of an entry. */
export const EntryHead = z.object({
  v: Version,
  session: Id,
  run: Id,
  index: z.int().nonnegative(),
  epoch: z.int().positive(),
  host: Token,
  /** Wall clock of the writer, for display. The order comes from `index`. */
  at: z.int(),
  /** Hash of the previous entry; null at index 0. */
  prev: z.string().nullable(),
});
export type EntryHead = z.infer<typeof EntryHead>;

const SealedHead = EntryHead.extend({ hash: z.string() });

/** One object schema per kind, because an intersection would parse everything twice. */
const kinds = EntryBody.options.map((body) => body.extend(SealedHead.shape));
export type Entry = z.infer<typeof SealedHead> & EntryBody;
export const Entry = z.discriminatedUnion("kind", kinds as [(typeof kinds)[number]]) as unknown as z.ZodType<Entry>;

/** An entry ready to be stored. The last field of its text is its own hash. */
export interface SealedEntry {
  index: number;
  hash: string;
  text: string;
}

/** Length of `,"hash":"<64 hex>"}`, the end of every sealed entry. */
const sealLength = 75;

/**
 * Serialises an entry and appends its hash, which covers every byte before it, including `prev`.
 *
 * @param hashOf a faster SHA-256 of the platform
 */
export function sealEntry(head: EntryHead, body: EntryBody, hashOf = hashText): SealedEntry {
  // The head comes first and wins, so no field of a body can move an entry to another run or index.
  const open = JSON.stringify({ ...head, ...body, ...head });
  const hash = hashOf(open);
  return { index: head.index, hash, text: `${open.slice(0, -1)},"hash":"${hash}"}` };
}

/** Parses a stored entry. */
export function openEntry(text: string): Entry {
  return decodeText(Entry, text, "journal entry");
}

/**
 * Whether a stored entry is unchanged since it was sealed.
 *
 * @param hash a faster SHA-256 of the platform
 */
export function entryIsIntact(text: string, hash: (text: string) => string = hashText): boolean {
  const open = `${text.slice(0, -sealLength)}}`;
  return text.endsWith(`,"hash":"${hash(open)}"}`);
}

export function isTerminal(entry: { kind: EntryKind }): boolean {
  return entry.kind === "run.settled";
}
