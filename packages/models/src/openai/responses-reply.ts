import type { ModelReply } from "@troupe/core";
import { JsonObject } from "@troupe/core/internal";
import { z } from "zod";
import type { AnswerReader, Said } from "./said.ts";
import { ResponsesUsage, responsesTokens } from "./usage.ts";
import { BrokenAnswer, errorIn, vendorErrorOf } from "./vendor-error.ts";

const Words = z.string().nullish().catch(null);

const Part = z.object({ type: z.string(), text: Words, refusal: Words });

/** An item of the output, as far as it is read; what a model thought is kept whole. */
const Item = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), phase: Words, content: z.array(Part).catch([]) }),
  z.object({
    type: z.literal("function_call"),
    call_id: Words,
    id: Words,
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
  model: Words,
  output: z.array(z.unknown()).nullish().catch(null),
  usage: ResponsesUsage.nullish().catch(null),
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: Words }).nullish().catch(null),
});
const AnswerDone = z.object({ response: Answer });

/** Reads the answer of Responses. Only one of its closing events ends it. */
export function createResponsesReader(onText: (text: string) => void): AnswerReader {
  const items = new Map<number, Item>();
  const heard: string[] = [];
  let last: z.infer<typeof Answer> | null = null;

  const say = (text: string): void => {
    if (text === "") return;
    heard.push(text);
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
          say(TextDelta.safeParse(data).data?.delta ?? "");
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
      for (const [place, item] of (last.output ?? []).entries()) {
        const parsed = Item.safeParse(item).data;
        if (parsed && !items.has(place)) items.set(place, parsed);
      }
      const said = saidIn([...items].sort(([a], [b]) => a - b).map(([, item]) => item));
      const text = heard.join("");
      // What came without its deltas is said at the end: nobody hears less than the reply has.
      if (said.text.startsWith(text)) say(said.text.slice(text.length));
      const stopReason = stopReasonOf(last.incomplete_details?.reason ?? null, said);
      return {
        text: heard.join(""),
        calls: said.calls,
        thoughts: said.thoughts,
        stopReason,
        model: last.model || null,
        tokens: last.usage ? responsesTokens(last.usage) : null,
      };
    },
  };
}

function stopReasonOf(incomplete: string | null, { refused, calls }: SaidItems): ModelReply["stopReason"] {
  if (incomplete === "content_filter" || refused) return "refusal";
  if (incomplete !== null) return "max_tokens";
  return calls.length > 0 ? "tool_calls" : "end";
}

type SaidItems = Pick<Said, "text" | "calls" | "thoughts"> & { refused: boolean };

function saidIn(items: readonly Item[]): SaidItems {
  const said: SaidItems = { text: "", calls: [], thoughts: [], refused: false };
  for (const item of items) addItem(said, item);
  return said;
}

function addItem(said: SaidItems, item: Item): void {
  const place = { textBefore: said.text.length, callsBefore: said.calls.length };
  if (item.type === "function_call") {
    const text = typeof item.arguments === "string" ? item.arguments : JSON.stringify(item.arguments ?? "");
    said.calls.push({ id: item.call_id || item.id || null, name: item.name, arguments: text });
    return;
  }
  if (item.type === "reasoning") {
    const block = JsonObject.safeParse(item).data;
    if (block) said.thoughts.push({ ...place, block });
    return;
  }
  if (item.phase) said.thoughts.push({ ...place, block: { type: "message", phase: item.phase } });
  for (const { text, refusal } of item.content) {
    said.text += text ?? refusal ?? "";
    said.refused ||= Boolean(refusal);
  }
}
