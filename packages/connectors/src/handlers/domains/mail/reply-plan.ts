import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { oneLine } from "../../base/wording.ts";
import { deliveryDetails, deliverySentence, readDelivery, SentMail, undelivered } from "./delivery.ts";
import { noMessage } from "./find-plans.ts";
import { FoundMessages, messageText } from "./found-messages.ts";

const text = z.string().optional();
const Params = z.object({ id: text, from: text, subject: text, body: z.string(), all: z.boolean().default(false) });
const limit = 5;

/** Finds a message, replies to it, and looks after the delivery. */
export const replyPlan: RequestPlan = {
  expectedFormat: "A confirmation with the answered message and the delivery of the reply.",
  criteria: { message_id: "The reply is sent.", delivery_status: "Its delivery is known." },
  prepare({ params: { who, topic, ...params }, tools }) {
    const from = params.from ?? who;
    const subject = params.subject ?? topic;
    return {
      params: { ...params, ...(from === undefined ? {} : { from }), ...(subject === undefined ? {} : { subject }) },
      tools: params.id === undefined ? tools : tools.slice(1),
    };
  },
  *work({ params, read, timeZone }) {
    const { id, from, subject, body, all } = Params.parse(params);
    const assumptions: string[] = [];
    let target = { id: id ?? "", text: `the message ${oneLine(id ?? "")}` };
    if (id === undefined) {
      const args = { from, text: subject, folder: "inbox", limit };
      const { messages } = yield* read(FoundMessages, "gmail_search_messages", args, "Finds the message to answer.");
      const [newest] = messages;
      if (!newest) throw noMessage(from, subject);
      target = { id: newest.message_id, text: messageText(newest, timeZone) };
      if (messages.length > 1) assumptions.push("several messages fit, so the newest is answered");
    }
    const reply = { message_id: target.id, body, to_all: all ? true : undefined };
    const sent = yield* read(SentMail, "gmail_reply_to_message", reply, "Sends the reply.");
    const { delivery, missing } = yield* readDelivery(sent);
    return {
      summary: `Replied to ${target.text}. ${deliverySentence(delivery)}`,
      details: deliveryDetails(delivery, []),
      assumptions,
      missing: [...missing, ...undelivered(delivery)],
    };
  },
};
