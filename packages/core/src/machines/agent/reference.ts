import type { Pin } from "../../protocol/entry.ts";
import type { Message } from "../../protocol/model.ts";
import type { Conversation } from "./conversation.ts";

/** The tool that gives a result of the same run back by its reference. */
export const recallToolName = "recall";

export type ToolMessage = Extract<Message, { role: "tool" }>;

/** A result of the run itself, where it stands among the messages. */
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

/** What the model reads in place of a result: what it was, how long, and how to read it again. */
export function referenceTo({ message, reference }: PlacedResult, pin: Pick<Pin, "tools">): ToolMessage {
  const text = `[taken out to make room: ${message.text.length} characters]\n${hintFor(message.name, reference, pin)}`;
  return { ...message, text };
}

function hintFor(tool: string, reference: string, { tools }: Pick<Pin, "tools">): string {
  const canRecall = tools.some(({ name }) => name === recallToolName) && !reference.startsWith("0/");
  if (canRecall) return `To read it again, call ${recallToolName} with {"result":"${reference}"}.`;
  const isRead = tools.some(({ name, effect }) => name === tool && effect === "read");
  if (isRead) return `To read it again, call ${tool} again with the same arguments.`;
  return `It cannot be read again: calling ${tool} again would do its work again.`;
}

const taken = /^(\[taken out to make room: \d+ characters\])\n.*$/;

/** A reference without its second half: how to read a result again concerns nobody but the run that it is of. */
export function withoutHint(text: string): string {
  return taken.exec(text)?.[1] ?? text;
}
