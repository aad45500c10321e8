import type { RunSpec } from "../../protocol/entry.ts";
import type { Message } from "../../protocol/model.ts";
import type { FactOf } from "../facts.ts";
import type { Conversation } from "./conversation.ts";
import { recallToolName, withoutRecallHints } from "./truncation.ts";

type ToolMessage = Extract<Message, { role: "tool" }>;
type Tools = Pick<RunSpec, "tools">;

/** A result, where it stands among the messages. */
export interface PlacedResult {
  index: number;
  message: ToolMessage;
  /** `step/call`; for a result of an earlier turn of the session, which nobody can ask for, `0/index`. */
  reference: string;
}

/** All results of a conversation, oldest first. The steps of its replies have no gap, so that they can be counted. */
export function resultsOf({ messages, repliedStep }: Pick<Conversation, "messages" | "repliedStep">): PlacedResult[] {
  let step = repliedStep - messages.filter(({ role }) => role === "assistant").length;
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

/** Whether it is a result of the run itself, which can be asked for again. */
export function isOwn({ reference }: Pick<PlacedResult, "reference">): boolean {
  return !reference.startsWith("0/");
}

export function canRecall({ tools }: Tools): boolean {
  return tools.some(({ name }) => name === recallToolName);
}

/** What the model reads in place of a result: what it was, how long, and how to read it again. */
export function referenceTo(result: PlacedResult, pin: Tools): ToolMessage {
  const { message, reference } = result;
  const hint =
    isOwn(result) && canRecall(pin)
      ? `To read it again, call ${recallToolName} with {"result":"${reference}"}.`
      : hintWithoutRecall(message.name, pin);
  return { ...message, text: `[taken out to make room: ${message.text.length} characters]\n${hint}` };
}

function hintWithoutRecall(tool: string, { tools }: Tools): string {
  const isRead = tools.some(({ name, effect }) => name === tool && effect === "read");
  if (isRead) return `To read it again, call ${tool} again with the same arguments.`;
  return `It cannot be read again: calling ${tool} again would do its work again.`;
}

const taken = /^(\[taken out to make room: \d+ characters\])\n.*$/;

/** A result without the words on how to read it again, or the rest of it: they concern nobody but the run that it is of. */
export function withoutHint(text: string): string {
  return taken.exec(text)?.[1] ?? withoutRecallHints(text);
}

/** What is said in place of all that gave way. */
export type Summary = Pick<FactOf<"context.compacted">, "text" | "error">;

const summaryHead = "To make room, the conversation so far";

export function summaryMessage({ text, error }: Summary): Message {
  const what = error ? "was cut. This is the end of what was cut:" : "gave way to this summary, which you wrote:";
  return { role: "user", text: `${summaryHead} ${what}\n\n${text}` };
}

const historyNote = "\n\n(What it says of references is of an earlier turn: they cannot be recalled any more.)";

/** Messages of an earlier turn as another run reads them, in which their references mean nothing, or something else. */
export function asHistory(messages: readonly Message[], pin: Tools): Message[] {
  return messages.map((message) => {
    if (message.role === "tool") {
      const head = taken.exec(message.text)?.[1];
      const text = head ? `${head}\n${hintWithoutRecall(message.name, pin)}` : withoutRecallHints(message.text);
      return text === message.text ? message : { ...message, text };
    }
    const isSummary = message.role === "user" && message.text.startsWith(summaryHead);
    return isSummary && !message.text.endsWith(historyNote)
      ? { ...message, text: `${message.text}${historyNote}` }
      : message;
  });
}
