import { z } from "zod";
import { AgentDefinition, RetryPolicy } from "./agent.ts";
import { decodeText } from "./codec.ts";
import { hashText } from "./hash.ts";
import { Id, Token } from "./ids.ts";
import { InboxItem } from "./inbox.ts";
import { Intent } from "./intent.ts";
import { Limits } from "./limits.ts";
import { ModelReply } from "./model.ts";
import { Grant, RunRequest } from "./request.ts";
import { RunResponse } from "./response.ts";
import { RunError } from "./run-error.ts";
import { ToolOutcome, ToolSpec } from "./tool.ts";
import { Version } from "./version.ts";

const Step = z.int().positive();
const Call = z.int().nonnegative();
const Attempt = z.int().positive();

/** What a run was started with and will be resumed with, whatever the files say by then. */
export const Pin = z.object({
  protocol: Version,
  definition: AgentDefinition,
  definitionHash: z.string(),
  /** The rendered system prompt. */
  prompt: z.string(),
  tools: z.array(ToolSpec),
  /** Agents it may reach, with the description that its model reads. */
  targets: z.array(z.object({ id: Token, description: z.string(), retry: RetryPolicy })),
  model: z.string(),
  /** What is left after global ∩ parent ∩ own. */
  grant: Grant,
  /** The definition's caps, tightened by the request's. */
  limits: Limits,
});
export type Pin = z.infer<typeof Pin>;

/** The facts that a run's journal can hold. What happened outside is `…ed`; nothing here is a wish. */
export const EntryBody = z.discriminatedUnion("kind", [
  /** Index 0, and the first claim. */
  z.object({ kind: z.literal("run.opened"), request: RunRequest, pin: Pin }),
  /** A later host took it over: whatever an older epoch still sends is void. */
  z.object({ kind: z.literal("run.claimed"), reason: z.enum(["resumed", "taken_over"]) }),
  z.object({ kind: z.literal("intent.assessed"), intent: Intent }),
  z.object({ kind: z.literal("model.replied"), step: Step, reply: ModelReply, durationMs: z.number() }),
  z.object({ kind: z.literal("model.failed"), step: Step, error: RunError, durationMs: z.number() }),
  /** Precedes an unsafe effect: found without an outcome, it is in doubt. */
  z.object({ kind: z.literal("tool.started"), step: Step, call: Call, tool: z.string(), argsHash: z.string() }),
  z.object({ kind: z.literal("tool.finished"), step: Step, call: Call, tool: z.string(), outcome: ToolOutcome }),
  z.object({
    kind: z.literal("child.settled"),
    step: Step,
    call: Call,
    attempt: Attempt,
    /** Says by its `runId` which run that was: `run` here would be the writer's own. */
    response: RunResponse,
  }),
  z.object({ kind: z.literal("timer.fired"), timer: z.string() }),
  z.object({ kind: z.literal("inbox.received"), seq: z.int().positive(), item: InboxItem }),
  /** Given back on purpose, so that the next claim is no sign of a crash. */
  z.object({ kind: z.literal("run.parked"), reason: z.enum(["drain"]) }),
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
