import { RunFailure } from "@troupe/core/tool";
import { z } from "zod";
import type { Person } from "../../../ports/person.ts";
import { type CallWork, calls } from "../../base/request-work.ts";
import { bullets, capitalized, listOf } from "../../base/wording.ts";
import { nameOf, personLine, personWith } from "../people-text.ts";

const Delivery = z.array(
  z.object({
    address: z.string(),
    status: z.enum(["stored", "accepted", "delivered", "failed"]),
    detail: z.string().default(""),
  }),
);
export type Delivery = z.output<typeof Delivery>;

/** The output of a send, of a reply, and of a question about the delivery. */
export const SentMail = z.object({
  message_id: z.string(),
  delivery: Delivery.default([]),
  sent_at: z.string().optional(),
});

/** The delivery of a sent mail. The mail is sent even if the question about its delivery fails. */
export function* readDelivery(sent: z.output<typeof SentMail>): CallWork<{ delivery: Delivery; missing: string[] }> {
  const { message_id } = sent;
  try {
    const tool = "gmail_get_delivery_status";
    const { delivery } = yield* calls.read(SentMail, tool, { message_id }, "Checks the delivery.");
    return { delivery, missing: [] };
  } catch (thrown) {
    if (!(thrown instanceof RunFailure)) throw thrown;
    return { delivery: sent.delivery, missing: [`The delivery could not be checked: ${thrown.message}.`] };
  }
}

const outcomes = { delivered: "delivered", accepted: "accepted by the server", stored: "kept in the outbox" } as const;

/** The delivery in one sentence. */
export function deliverySentence(delivery: Delivery): string {
  if (delivery.length === 0) return "The delivery is not known.";
  const [first] = delivery;
  const isSame = delivery.every(({ status }) => status === first?.status);
  if (isSame && first) return sameSentence(first.status, delivery.length);
  const parts = Object.entries({ ...outcomes, failed: "not delivered" }).flatMap(([status, words]) => {
    const addresses = delivery.filter((each) => each.status === status).map(({ address }) => address);
    return addresses.length === 0 ? [] : [`${words} for ${listOf(addresses)}`];
  });
  return `It was ${listOf(parts)}.`;
}

function sameSentence(status: Delivery[number]["status"], count: number): string {
  const isOne = count === 1;
  const subject = isOne ? "It" : count === 2 ? "Both mails" : `All ${count} mails`;
  switch (status) {
    case "stored":
      return `${subject} ${isOne ? "stays" : "stay"} in the local outbox, which sends nothing to other servers.`;
    case "failed":
      return `${subject} ${isOne ? "was" : "were"} not delivered.`;
    default:
      return `${subject} ${isOne ? "was" : "were"} ${outcomes[status]}.`;
  }
}

/** The delivery to each recipient, if there are several or a reason is known. */
export function deliveryDetails(delivery: Delivery, people: readonly Person[]): string {
  if (delivery.length < 2 && delivery.every(({ detail }) => detail === "")) return "";
  return bullets(
    delivery.map(({ address, status, detail }) => {
      const words = status === "failed" ? "not delivered" : outcomes[status];
      return `${personLine(personWith(address, people))}: ${words}${detail === "" ? "" : ` (${detail})`}`;
    }),
  );
}

/** Recipients without the mail, for the missing data of an answer. */
export function undelivered(delivery: Delivery): string[] {
  return delivery.flatMap((each) =>
    each.status === "failed" ? [`${capitalized(nameOf(personWith(each.address, [])))} did not get the mail.`] : [],
  );
}
