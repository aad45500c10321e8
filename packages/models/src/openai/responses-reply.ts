import type { ModelReply } from "@troupe/core";
import { JsonObject } from "@troupe/core/internal";
import { z } from "zod";
import type { ReplyReader, WireReply } from "./reply.ts";
import { ResponsesUsage, responsesTokens } from "./usage.ts";
import { BrokenAnswer, errorIn, vendorErrorOf } from "./vendor-error.ts";

const Text = z.string().nullish().catch(null);

const Part = z.object({ type: z.string(), text: Text, refusal: Text });

/** The known fields of an output item. Reasoning is loose: it goes back with all its fields. */
const Item = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), phase: Text, content: z.array(Part).catch([]) }),
  z.object({
    type: z.literal("function_call"),
    call_id: Text,
    id: Text,
    name: z.string().catch(""),
    arguments: z.unknown().optional(),
  }),
  z.looseObject({ type: z.literal("reasoning") }),
]);
type Item = z.infer<typeof Item>;

const Event = z.object({ type: z.string() });
const TextDelta = z.object({ delta: z.string() });
const ItemDone = z.object({ output_index: z.int().nonnegative(), item: Item });

const Answer = z.object({
  model: Text,
  output: z.array(z.unknown()).nullish().catch(null),
  usage: ResponsesUsage.nullish().catch(null),
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: Text }).nullish().catch(null),
});
const AnswerDone = z.object({ response: Answer });

/** Reads the stream of Responses. Only a closing event ends it. */
export function createResponsesReader(onText: (text: string) => void): ReplyReader {
  const items = new Map<number, Item>();
  const texts: string[] = [];
  let last: z.infer<typeof Answer> | null = null;

  const addText = (text: string): void => {
    if (text === "") return;
    texts.push(text);
    onText(text);
  };
  return {
    take({ event, data }) {
      const { type } = Event.safeParse(data).data ?? { type: event };
      const error = type?.startsWith("response.") ? null : errorIn(event, data);
      if (error) throw new BrokenAnswer(error);
      switch (type) {
        case "response.output_text.delta":
        case "response.refusal.delta":
          addText(TextDelta.safeParse(data).data?.delta ?? "");
          return false;
        case "response.output_item.done": {
          const done = ItemDone.safeParse(data).data;
          if (done) items.set(done.output_index, done.item);
          return false;
        }
        case "response.completed":
        case "response.incomplete":
        case "response.failed":
          last = AnswerDone.safeParse(data).data?.response ?? null;
          if (type === "response.failed") throw new BrokenAnswer(vendorErrorOf(last?.error, null));
          return true;
        default:
          return false;
      }
    },
    end() {
      if (!last) return null;
      for (const [index, item] of (last.output ?? []).entries()) {
        const parsed = Item.safeParse(item).data;
        if (parsed && !items.has(index)) items.set(index, parsed);
      }
      const output = outputOf([...items].sort(([a], [b]) => a - b).map(([, item]) => item));
      const text = texts.join("");
      // Text without deltas is forwarded at the end, so that the deltas add up to the reply.
      if (output.text.startsWith(text)) addText(output.text.slice(text.length));
      const stopReason = stopReasonOf(last.incomplete_details?.reason ?? null, output);
      return {
        text: texts.join(""),
        calls: output.calls,
        thinking: output.thinking,
        stopReason,
        model: last.model || null,
        tokens: last.usage ? responsesTokens(last.usage) : null,
      };
    },
  };
}

function stopReasonOf(incomplete: string | null, { refused, calls }: Output): ModelReply["stopReason"] {
  if (incomplete === "content_filter" || refused) return "refusal";
  if (incomplete !== null) return "max_tokens";
  return calls.length > 0 ? "tool_calls" : "end";
}

type Output = Pick<WireReply, "text" | "calls" | "thinking"> & { refused: boolean };

function outputOf(items: readonly Item[]): Output {
  const output: Output = { text: "", calls: [], thinking: [], refused: false };
  for (const item of items) addItem(output, item);
  return output;
}

function addItem(output: Output, item: Item): void {
  const position = { textBefore: output.text.length, callsBefore: output.calls.length };
  if (item.type === "function_call") {
    const text = typeof item.arguments === "string" ? item.arguments : JSON.stringify(item.arguments ?? "");
    output.calls.push({ id: item.call_id || item.id || null, name: item.name, arguments: text });
    return;
  }
  if (item.type === "reasoning") {
    const block = JsonObject.safeParse(item).data;
    if (block) output.thinking.push({ ...position, block });
    return;
  }
  if (item.phase) output.thinking.push({ ...position, block: { type: "message", phase: item.phase } });
  for (const { text, refusal } of item.content) {
    output.text += text ?? refusal ?? "";
    output.refused ||= Boolean(refusal);
  }
}
