import type { RunSpec } from "../../protocol/entry.ts";
import type { Message } from "../../protocol/model.ts";
import type { FactOf } from "../facts.ts";
import type { Conversation } from "./conversation.ts";
import { recallToolName, withoutRecallHints } from "./truncation.ts";

type ToolMessage = Extract<Message, { role: "tool" }>;
type Tools = Pick<RunSpec, "tools">;

/** A tool result and its index among the messages. */
export interface IndexedResult {
  index: number;
  message: ToolMessage;
  /** `step/call`; `0/index` for a result of an earlier turn of the session, which cannot be recalled. */
  reference: string;
}

/** All results of a conversation, oldest first. The steps of its replies have no gaps, so they can be counted. */
export function toolResultsOf({
  messages,
  lastReplyStep,
}: Pick<Conversation, "messages" | "lastReplyStep">): IndexedResult[] {
  let step = lastReplyStep - messages.filter(({ role }) => role === "assistant").length;
  let call = 0;
  return messages.flatMap((message, index) => {
    if (message.role === "assistant") {
      step += 1;
      call = 0;
    }
    if (message.role !== "tool") return [];
    const reference = step > 0 ? `${step}/${call}` : `0/${index}`;
    call += 1;
    return [{ index, message, reference }];
  });
}

/** Whether the result belongs to this run, so that it can be recalled. */
export function isOfThisRun({ reference }: Pick<IndexedResult, "reference">): boolean {
  return !reference.startsWith("0/");
}

export function canRecall({ tools }: Tools): boolean {
  return tools.some(({ name }) => name === recallToolName);
}

/** The short message that replaces a result: its length, and how to read it again. */
export function placeholderFor(result: IndexedResult, spec: Tools): ToolMessage {
  const { message, reference } = result;
  const hint =
    isOfThisRun(result) && canRecall(spec)
      ? `To read it again, call ${recallToolName} with {"result":"${reference}"}.`
      : hintWithoutRecall(message.name, spec);
  return { ...message, text: `[taken out to make room: ${message.text.length} characters]\n${hint}` };
}

function hintWithoutRecall(tool: string, { tools }: Tools): string {
  const isRead = tools.some(({ name, effect }) => name === tool && effect === "read");
  if (isRead) return `To read it again, call ${tool} again with the same arguments.`;
  return `It cannot be read again: calling ${tool} again would do its work again.`;
}

const placeholder = /^(\[taken out to make room: \d+ characters\])\n.*$/;

/** A result without its hints on reading more: only the run that made it can use them. */
export function stripHint(text: string): string {
  return placeholder.exec(text)?.[1] ?? withoutRecallHints(text);
}

/** The text that replaces compacted messages, and the error if it is a cut-off transcript instead of a summary. */
export type Summary = Pick<FactOf<"context.compacted">, "text" | "error">;

const summaryHead = "To make room, the conversation so far";

export function summaryMessage({ text, error }: Summary): Message {
  const what = error ? "was cut. This is the end of what was cut:" : "gave way to this summary, which you wrote:";
  return { role: "user", text: `${summaryHead} ${what}\n\n${text}` };
}

const historyNote = "\n\n(What it says of references is of an earlier turn: they cannot be recalled any more.)";

/** Messages of an earlier turn for a new run, without references: in the new run they could name other results. */
export function asHistory(messages: readonly Message[], spec: Tools): Message[] {
  return messages.map((message) => {
    if (message.role === "tool") {
      const head = placeholder.exec(message.text)?.[1];
      const text = head ? `${head}\n${hintWithoutRecall(message.name, spec)}` : withoutRecallHints(message.text);
      return text === message.text ? message : { ...message, text };
    }
    const isSummary = message.role === "user" && message.text.startsWith(summaryHead);
    return isSummary && !message.text.endsWith(historyNote)
      ? { ...message, text: `${message.text}${historyNote}` }
      : message;
  });
}
