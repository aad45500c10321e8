import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { momentText, uncapitalized } from "../../base/wording.ts";
import { namesOf, People } from "../people-text.ts";
import { deliveryDetails, deliverySentence, SentMail } from "./delivery.ts";
import { noMessage } from "./find-plans.ts";
import { FoundMessages } from "./found-messages.ts";

const Params = z.object({ id: z.string().optional(), to: People.default([]) });

/** The delivery of a sent message: by its id, or the newest one to a person. */
export const deliveryPlan: RequestPlan = {
  expectedFormat: "The delivery of one message to each recipient.",
  criteria: { delivery_status: "The delivery is known." },
  prepare: ({ params, tools }) => ({ params, tools: params.id === undefined ? tools : tools.slice(1) }),
  *work({ params, read, timeZone }) {
    const { id, to } = Params.parse(params);
    let message_id = id;
    if (message_id === undefined) {
      const args = { folder: "sent", to: to[0]?.address, limit: 1 };
      const { messages } = yield* read(FoundMessages, "gmail_search_messages", args, "Finds the sent message.");
      if (!messages[0]) throw noMessage(undefined, undefined);
      message_id = messages[0].message_id;
    }
    const args = { message_id };
    const { delivery, sent_at } = yield* read(SentMail, "gmail_get_delivery_status", args, "Checks the delivery.");
    const whom = to.length === 0 ? "" : ` to ${namesOf(to)}`;
    const when = sent_at === undefined ? "" : ` of ${momentText(sent_at, timeZone)}`;
    return {
      summary: `${id === undefined ? "The newest mail" : "The mail"}${whom}${when}: ${uncapitalized(deliverySentence(delivery))}`,
      details: deliveryDetails(delivery, to),
    };
  },
};
