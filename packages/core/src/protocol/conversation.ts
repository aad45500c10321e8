import { z } from "zod";
import { Id, Token } from "./ids.ts";
import { Json } from "./json.ts";

/** The missing part of a long text. */
const Cut = z.object({
  /** Length of the whole text. */
  characters: z.int().nonnegative(),
  /** The entry of the run that has the whole text, or its stored part. */
  entry: z.int().nonnegative(),
  /** Hash in Blobs of the whole text, if the entry has only a part of it. */
  ref: z.string().nullable(),
});

/** A text of a conversation. `cut` is null for a whole text. */
export const ConversationText = z.object({ text: z.string(), cut: Cut.nullable() });
export type ConversationText = z.infer<typeof ConversationText>;

export const ConversationCall = z.object({
  call: z.int().nonnegative(),
  name: z.string(),
  /** The arguments. If they are cut, the beginning of their JSON as a string. */
  args: Json,
  argsCut: Cut.nullable(),
  /** Why the call is invalid. */
  problem: z.string().nullable(),
});
export type ConversationCall = z.infer<typeof ConversationCall>;

const head = {
  /** Index of the entry in the run's journal. */
  index: z.int().nonnegative(),
  /** Wall clock of the host, in ms. */
  at: z.int(),
};
const Step = z.int().nonnegative();
const Call = z.int().nonnegative();

/** A part of a run's conversation. */
export const ConversationItem = z.discriminatedUnion("kind", [
  z.object({
    ...head,
    kind: z.literal("request"),
    /** The agent of the parent run; null for a request of a user. */
    from: Token.nullable(),
    agent: Token,
    task: ConversationText,
    /** The context that the parent or the user passed. */
    context: ConversationText.nullable(),
    prompt: ConversationText,
    /** Messages of earlier turns of the session. */
    earlierMessages: z.int().nonnegative(),
  }),
  z.object({
    ...head,
    kind: z.literal("reply"),
    step: Step,
    text: ConversationText,
    calls: z.array(ConversationCall),
    /** Further calls of a reply with very many. */
    callsLeftOut: z.int().nonnegative(),
    model: z.string(),
    durationMs: z.number(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    costUsd: z.number().nullable(),
    /** Failed requests before this reply. */
    retries: z.int().nonnegative(),
  }),
  /** A model call without a reply. */
  z.object({ ...head, kind: z.literal("failure"), step: Step, error: z.string(), durationMs: z.number() }),
  z.object({
    ...head,
    kind: z.literal("result"),
    step: Step,
    call: Call,
    tool: z.string(),
    text: ConversationText,
    /** Null for a success. */
    error: z.string().nullable(),
    /** The call may or may not have happened. */
    isInDoubt: z.boolean(),
    durationMs: z.number(),
    /** The child that gave the result; null for a tool. */
    child: z
      .object({ run: Id, agent: Token, item: z.int().nonnegative(), attempt: z.int().positive(), status: z.string() })
      .nullable(),
    /** Paths of changed files. */
    files: z.array(z.string()),
  }),
  z.object({
    ...head,
    kind: z.literal("question"),
    step: Step,
    call: Call,
    approval: Id,
    tool: z.string().nullable(),
    reason: z.string(),
  }),
  /** A command of a person: a message, an answer, a pause, a cancel. */
  z.object({ ...head, kind: z.literal("command"), by: z.string().nullable(), text: ConversationText }),
  /** A fact about the run itself, such as a takeover, a shortened conversation or a failed check. */
  z.object({ ...head, kind: z.literal("note"), text: ConversationText }),
  z.object({
    ...head,
    kind: z.literal("answer"),
    status: z.string(),
    text: ConversationText,
    error: z.string().nullable(),
    bailoutReason: z.string().nullable(),
  }),
]);
export type ConversationItem = z.infer<typeof ConversationItem>;

/** The conversation of a run, oldest first, at most 1 MB a page. */
export const ConversationPage = z.object({
  session: Id,
  run: Id,
  agent: Token,
  team: Token.nullable(),
  status: z.string(),
  items: z.array(ConversationItem),
  /** The entry at which the next page begins. A client of a run that works asks from here on. */
  next: z.int().nonnegative(),
  /** Whether further entries are stored already. */
  more: z.boolean(),
});
export type ConversationPage = z.infer<typeof ConversationPage>;
