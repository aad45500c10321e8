import type { HandledResult, RunError } from "@troupe/core";
import { z } from "zod";
import { failureOf } from "../base/call-failure.ts";
import { blockQuote } from "../base/wording.ts";
import { eventLines, FoundEvents } from "../domains/calendar/found-events.ts";
import { contactLines, FoundContacts } from "../domains/contacts/found-contacts.ts";
import { FoundMessages, messageLines } from "../domains/mail/found-messages.ts";
import { FoundPosts, postLines } from "../domains/slack/found-posts.ts";
import { Analysis, analysisText } from "../domains/slack/summarize-plan.ts";
import type { PlannedPart } from "./plan-parts.ts";

const ErrorOutput = z.object({
  type: z.enum(["auth", "params", "network", "rate_limit", "permission", "tool_error"]).catch("tool_error"),
  message: z.string(),
  tool: z.string().nullish(),
  recoverable: z.boolean().default(false),
  retryAfter: z.number().nullish(),
});

/** The response of a domain agent, as the result of its delegation. */
const DomainResult = z.object({
  success: z.boolean(),
  result: z.object({ data: z.record(z.string(), z.unknown()).nullable().catch(null), summary: z.string() }),
  confidence: z.number().nullish(),
  assumptions: z.array(z.string()).default([]),
  missing: z.array(z.string()).default([]),
  error: ErrorOutput.optional(),
});

/** The end of one part. */
export interface PartOutcome {
  part: PlannedPart;
  /** Null: it was done. */
  error: RunError | null;
  summary: string;
  data: Record<string, unknown>;
  confidence: number;
  assumptions: string[];
  missing: string[];
}

const nothing = { data: {}, confidence: 1, assumptions: [], missing: [] };

/** The outcome of a delegated part. An agent that answers in another form has its text as a summary. */
export function outcomeOf(part: PlannedPart, result: HandledResult): PartOutcome {
  const parsed = DomainResult.safeParse(result.output);
  if (!parsed.success) {
    if (result.ok) return { part, error: null, ...nothing, summary: textOf(result) };
    const { runError } = failureOf(result);
    return { part, error: runError, ...nothing, summary: runError.message };
  }
  const { success, result: answer, error, confidence, assumptions, missing } = parsed.data;
  const shared = { part, data: answer.data ?? {}, confidence: confidence ?? 1, assumptions, missing };
  if (success) return { ...shared, error: null, summary: answer.summary };
  const { retryAfter, ...known } = error ?? { type: "tool_error", message: answer.summary, recoverable: false };
  const retryAfterMs = retryAfter == null ? null : retryAfter * 1_000;
  const runError: RunError = { ...known, tool: known.tool ?? result.tool, retryAfterMs };
  return { ...shared, error: runError, summary: runError.message };
}

/** A part that was not begun. */
export function notDone(part: PlannedPart, message: string): PartOutcome {
  const error: RunError = { type: "params", message, tool: "delegate", recoverable: false, retryAfterMs: null };
  return { part, error, ...nothing, summary: message };
}

function textOf({ output, text }: HandledResult): string {
  const { summary } = z
    .object({ summary: z.string().catch(text) })
    .catch({ summary: text })
    .parse(output);
  return summary;
}

const People = z.object({
  contacts: z.array(z.object({ emails: z.array(z.string()) })).default([]),
  contact: z.object({ emails: z.array(z.string()) }).nullish(),
  user: z.object({ email: z.string().nullish() }).nullish(),
});

/** The addresses that a part has found: one for each person. */
export function addressesOf({ data }: PartOutcome): string[] {
  const { success, data: people } = People.safeParse(data);
  if (!success) return [];
  const contacts = [...people.contacts, ...(people.contact ? [people.contact] : [])];
  const addresses = [...contacts.map(({ emails }) => emails[0]), people.user?.email];
  return [...new Set(addresses.flatMap((address) => (address ? [address] : [])))];
}

/** The data of a part for people: messages, events and contacts as lists. */
export function dataText({ part, data }: PartOutcome, timeZone: string): string {
  const shown = <Schema extends z.ZodType>(schema: Schema, text: (found: z.output<Schema>) => string): string => {
    const found = schema.safeParse(data);
    return found.success ? text(found.data) : "";
  };
  switch (part.domain) {
    case "contacts":
      return shown(FoundContacts, ({ contacts }) => contactLines(contacts));
    case "calendar":
      return "event_id" in data ? "" : shown(FoundEvents, ({ events }) => eventLines(events, timeZone));
    case "email":
      return (
        shown(z.object({ message: z.object({ body: z.string() }) }), ({ message }) => blockQuote(message.body)) ||
        ("message_id" in data ? "" : shown(FoundMessages, ({ messages }) => messageLines(messages, timeZone)))
      );
    default:
      return "message_count" in data
        ? shown(Analysis, analysisText)
        : shown(FoundPosts, ({ messages }) => postLines(messages, timeZone));
  }
}
