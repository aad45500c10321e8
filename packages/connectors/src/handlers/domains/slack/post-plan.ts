import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { capitalized, oneLine, quoted } from "../../base/wording.ts";

const Params = z.object({ channel: z.string(), text: z.string() });

/** Posts a message in a channel. */
export const postPlan: RequestPlan = {
  expectedFormat: "A confirmation with the channel and the text.",
  criteria: { message_id: "The message is posted." },
  prepare({ params }, { request }) {
    // "Tell #general that lunch is ready": the text begins a sentence there.
    const isClause = /\b(?:that|saying|know) [^:"“]*$/i.test(request.task);
    const text = String(params.text);
    return { params: { ...params, text: isClause ? capitalized(text) : text } };
  },
  *work({ params, call }) {
    const { channel, text } = Params.parse(params);
    yield* call("slack_post_message", { channel, text }, `Posts in #${oneLine(channel)}.`);
    return `Posted in #${oneLine(channel)}: ${quoted(text.replace(/[.]$/, ""))}.`;
  },
};
