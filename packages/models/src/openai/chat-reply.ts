import type { Json, ModelReply } from "@troupe/core";
import { JsonObject } from "@troupe/core/internal";
import { z } from "zod";
import type { ReplyReader, WireCall, WireReply } from "./reply.ts";
import { ChatUsage, chatTokens, type Tokens } from "./usage.ts";
import { BrokenAnswer, errorIn } from "./vendor-error.ts";

const Text = z.string().nullish().catch(null);

/** Some servers send it in parts, reasoning among them. */
const Content = z
  .union([z.string(), z.array(z.object({ type: z.string(), text: Text }))])
  .nullish()
  .catch(null);

/** A part of a call. Servers omit nearly any field, or send everything at once. */
const CallPart = z.object({
  index: z.int().nonnegative().nullish().catch(null),
  id: z.string().nullish().catch(null),
  function: z
    .object({ name: z.string().nullish().catch(null), arguments: z.unknown().optional() })
    .nullish()
    .catch(null),
});
type CallPart = z.infer<typeof CallPart>;

const Delta = z.object({
  content: Content,
  refusal: Text,
  reasoning_content: Text,
  reasoning: Text,
  reasoning_details: z.array(JsonObject).nullish().catch(null),
  tool_calls: z.array(CallPart).nullish().catch(null),
});

const Choice = z.object({ delta: Delta.nullish().catch(null), finish_reason: Text });

/** The known fields of a chunk. Other fields, and fields of another type, are skipped. */
const Chunk = z.object({
  model: Text,
  choices: z.array(Choice).nullish().catch(null),
  usage: ChatUsage.nullish().catch(null),
});

/** Reads the stream of chat completions. */
export function createChatReader(onText: (text: string) => void): ReplyReader {
  const texts: string[] = [];
  const reasoning: Reasoning = { content: [], plain: [], details: [] };
  const calls = createCallAssembler();
  let finish: string | null = null;
  let refused = false;
  let tokens: Tokens | null = null;
  let model: string | null = null;

  const addText = (text: string | null | undefined): void => {
    if (!text) return;
    texts.push(text);
    onText(text);
  };
  const addDelta = (delta: z.infer<typeof Delta>): void => {
    addText(textOf(delta.content));
    addText(delta.refusal);
    refused ||= Boolean(delta.refusal);
    if (delta.reasoning_content) reasoning.content.push(delta.reasoning_content);
    if (delta.reasoning) reasoning.plain.push(delta.reasoning);
    mergeDetails(reasoning.details, delta.reasoning_details ?? []);
    for (const part of delta.tool_calls ?? []) calls.add(part);
  };
  return {
    take({ event, data }) {
      const error = errorIn(event, data);
      if (error) throw new BrokenAnswer(error);
      const { choices, usage, ...chunk } = Chunk.safeParse(data).data ?? {};
      model = chunk.model || model;
      if (usage) tokens = chatTokens(usage) ?? tokens;
      const [choice] = choices ?? [];
      if (choice?.delta) addDelta(choice.delta);
      finish = choice?.finish_reason ?? finish;
      return false;
    },
    end(closed) {
      if (finish === null && !closed) return null;
      const all = calls.all();
      const stopReason = refused ? "refusal" : stopReasonOf(finish, all.length > 0);
      return { text: texts.join(""), calls: all, thinking: thinkingOf(reasoning), stopReason, model, tokens };
    },
  };
}

function textOf(content: z.infer<typeof Content>): string | null | undefined {
  if (!Array.isArray(content)) return content;
  return content.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join("");
}

function stopReasonOf(finish: string | null, hasCalls: boolean): ModelReply["stopReason"] {
  if (finish === "length") return "max_tokens";
  if (finish === "content_filter") return "refusal";
  if (finish === "error" || finish === "insufficient_system_resource") {
    throw new BrokenAnswer({ status: 500, code: finish, message: "the model could not finish its answer" });
  }
  return hasCalls ? "tool_calls" : "end";
}

interface Reasoning {
  /** `reasoning_content` */
  content: string[];
  /** `reasoning` */
  plain: string[];
  /** `reasoning_details` */
  details: Record<string, Json>[];
}

/** One block before all text, in the field in which the server wants it back. The API gives it no position. */
function thinkingOf({ content, plain, details }: Reasoning): WireReply["thinking"] {
  const position = { textBefore: 0, callsBefore: 0 };
  if (details.length > 0) return [{ ...position, block: { reasoning_details: details } }];
  if (content.length > 0) return [{ ...position, block: { reasoning_content: content.join("") } }];
  if (plain.length > 0) return [{ ...position, block: { reasoning: plain.join("") } }];
  return [];
}

type ReasoningDetail = Record<string, Json>;

/** Fields whose parts are joined. Of all other fields the last value counts. */
const joinedFields = new Set(["text", "summary", "data"]);

/** Adds parts of OpenRouter's `reasoning_details`: consecutive parts with the same index and type are one detail. */
function mergeDetails(details: ReasoningDetail[], parts: readonly ReasoningDetail[]): void {
  for (const part of parts) {
    const last = details.at(-1);
    const continuesLast =
      last !== undefined && part.index !== undefined && last.index === part.index && last.type === part.type;
    if (continuesLast) details[details.length - 1] = joinDetails(last, part);
    else details.push(part);
  }
}

function joinDetails(before: ReasoningDetail, part: ReasoningDetail): ReasoningDetail {
  const joined = { ...before };
  for (const [key, value] of Object.entries(part)) {
    const old = before[key];
    if (joinedFields.has(key) && typeof old === "string" && typeof value === "string") joined[key] = old + value;
    else if (value !== null) joined[key] = value;
  }
  return joined;
}

interface OpenCall extends WireCall {
  index: number | null;
  /** Joined at the end: joining them with each part would take quadratic time. */
  parts: string[];
}

/** Assembles calls from their parts, which each server numbers, names and cuts in its own way. */
function createCallAssembler(): { add(part: CallPart): void; all(): WireCall[] } {
  const open: OpenCall[] = [];
  return {
    add(part) {
      const { name, arguments: args } = part.function ?? {};
      const call = callOfPart(open, part) ?? beginCall(open, part);
      call.id ??= part.id || null;
      if (name && name !== call.name) call.name += name;
      if (args !== undefined && args !== null) call.parts.push(typeof args === "string" ? args : JSON.stringify(args));
    },
    all: () => open.map(({ id, name, parts }) => ({ id, name, arguments: parts.join("") })),
  };
}

function beginCall(open: OpenCall[], { index }: CallPart): OpenCall {
  const call = { index: index ?? null, id: null, name: "", arguments: "", parts: [] };
  open.push(call);
  return call;
}

/** The open call that this part continues, if any. */
function callOfPart(open: readonly OpenCall[], part: CallPart): OpenCall | undefined {
  const index = part.index ?? null;
  const call = index === null ? sameIdOrLast(open, part) : open.findLast((call) => call.index === index);
  return call && beginsAnother(call, part) ? undefined : call;
}

function sameIdOrLast(open: readonly OpenCall[], { id }: CallPart): OpenCall | undefined {
  return (id ? open.findLast((call) => call.id === id) : undefined) ?? open.at(-1);
}

/** Some servers give all calls the same index, or none: then a part with a name begins another call. */
function beginsAnother(call: OpenCall, part: CallPart): boolean {
  if (!part.function?.name || call.name === "") return false;
  if (part.id && call.id && part.id !== call.id) return true;
  return isComplete(call.parts);
}

/** Whether the arguments are a complete JSON value, which nothing can continue. */
function isComplete(parts: readonly string[]): boolean {
  if (!parts.at(-1)?.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(parts.join(""));
    return true;
  } catch {
    return false;
  }
}
