import type { Json, ModelReply } from "@troupe/core";
import { JsonObject } from "@troupe/core/internal";
import { z } from "zod";
import { CallPart, createCallParts } from "./chat-calls.ts";
import { mergeDetails } from "./reasoning-details.ts";
import type { AnswerReader, Said } from "./said.ts";
import { ChatUsage, chatTokens, type Tokens } from "./usage.ts";
import { BrokenAnswer, errorIn } from "./vendor-error.ts";

const Words = z.string().nullish().catch(null);

/** Some servers say it in parts, thoughts among them. */
const Content = z
  .union([z.string(), z.array(z.object({ type: z.string(), text: Words }))])
  .nullish()
  .catch(null);

const Delta = z.object({
  content: Content,
  refusal: Words,
  reasoning_content: Words,
  reasoning: Words,
  reasoning_details: z.array(JsonObject).nullish().catch(null),
  tool_calls: z.array(CallPart).nullish().catch(null),
});

const Choice = z.object({ delta: Delta.nullish().catch(null), finish_reason: Words });

/** What is read of a chunk: whatever else it has, and whatever of it has another type, is passed over. */
const Chunk = z.object({
  model: Words,
  choices: z.array(Choice).nullish().catch(null),
  usage: ChatUsage.nullish().catch(null),
});

/** Reads the answer of chat completions. */
export function createChatReader(onText: (text: string) => void): AnswerReader {
  const texts: string[] = [];
  const thoughts: Thoughts = { content: [], plain: [], details: [] };
  const parts = createCallParts();
  let finish: string | null = null;
  let refused = false;
  let tokens: Tokens | null = null;
  let model: string | null = null;

  const say = (text: string | null | undefined): void => {
    if (!text) return;
    texts.push(text);
    onText(text);
  };
  const hear = (delta: z.infer<typeof Delta>): void => {
    say(textOf(delta.content));
    say(delta.refusal);
    refused ||= Boolean(delta.refusal);
    if (delta.reasoning_content) thoughts.content.push(delta.reasoning_content);
    if (delta.reasoning) thoughts.plain.push(delta.reasoning);
    mergeDetails(thoughts.details, delta.reasoning_details ?? []);
    for (const part of delta.tool_calls ?? []) parts.add(part);
  };
  return {
    take({ event, data }) {
      const error = errorIn(event, data);
      if (error) throw new BrokenAnswer(error);
      const { choices, usage, ...chunk } = Chunk.safeParse(data).data ?? {};
      model = chunk.model || model;
      if (usage) tokens = chatTokens(usage) ?? tokens;
      const [choice] = choices ?? [];
      if (choice?.delta) hear(choice.delta);
      finish = choice?.finish_reason ?? finish;
      return false;
    },
    end(closed) {
      if (finish === null && !closed) return null;
      const calls = parts.calls();
      const stopReason = refused ? "refusal" : stopReasonOf(finish, calls.length > 0);
      return { text: texts.join(""), calls, thoughts: thoughtsOf(thoughts), stopReason, model, tokens };
    },
  };
}

function textOf(content: z.infer<typeof Content>): string | null | undefined {
  if (!Array.isArray(content)) return content;
  return content.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join("");
}

function stopReasonOf(finish: string | null, calls: boolean): ModelReply["stopReason"] {
  if (finish === "length") return "max_tokens";
  if (finish === "content_filter") return "refusal";
  if (finish === "error" || finish === "insufficient_system_resource") {
    throw new BrokenAnswer({ status: 500, code: finish, message: "the model could not finish its answer" });
  }
  return calls ? "tool_calls" : "end";
}

interface Thoughts {
  /** `reasoning_content` */
  content: string[];
  /** `reasoning` */
  plain: string[];
  /** `reasoning_details` */
  details: Record<string, Json>[];
}

/** One thought before all words, in the field in which the server wants it back: they say nothing of its place. */
function thoughtsOf({ content, plain, details }: Thoughts): Said["thoughts"] {
  const place = { textBefore: 0, callsBefore: 0 };
  if (details.length > 0) return [{ ...place, block: { reasoning_details: details } }];
  if (content.length > 0) return [{ ...place, block: { reasoning_content: content.join("") } }];
  if (plain.length > 0) return [{ ...place, block: { reasoning: plain.join("") } }];
  return [];
}
