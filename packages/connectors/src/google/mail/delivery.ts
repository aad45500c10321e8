import { z } from "zod";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { DeliveryStatus, RecipientDelivery } from "../../ports/mail.ts";
import { toIso } from "../../time/zoned-instant.ts";
import type { GoogleSession } from "../google-session.ts";
import { deliveryHeaders } from "./find-marked.ts";
import { folderOf, GmailMessage, headerOf, peopleOf, snippetOf } from "./gmail-messages.ts";

const Thread = z.object({ messages: z.array(GmailMessage).default([]) });

/** Delivery of a sent message. Gmail puts the mails that came back into the same thread. */
export async function readDelivery(session: GoogleSession, id: string): Promise<DeliveryStatus> {
  const metadata = { userId: "me", format: "metadata", metadataHeaders: deliveryHeaders };
  const message = await session.call({ what: messageOf(id), schema: GmailMessage, param: "id" }, ({ gmail }) =>
    gmail.users.messages.get({ ...metadata, id }),
  );
  const folder = folderOf(message.labelIds);
  if (folder !== "sent") {
    throw new ConnectorError("params", `the message ${id} is in the folder ${folder} and was not sent from here`, {
      param: "id",
    });
  }
  const { messages } = await session.call({ what: "read the thread of the message", schema: Thread }, ({ gmail }) =>
    gmail.users.threads.get({ ...metadata, id: message.threadId }),
  );
  return await toDelivery(message, messages);
}

export const messageOf = (id: string): string => `read the message ${JSON.stringify(id)}`;

async function toDelivery(message: GmailMessage, thread: readonly GmailMessage[]): Promise<DeliveryStatus> {
  const failed = new Map<string, string>();
  for (const { payload, snippet } of thread) {
    if (!/mailer-daemon@/i.test(headerOf(payload, "From") ?? "")) continue;
    for (const { address } of peopleOf(payload, "X-Failed-Recipients")) failed.set(address, await snippetOf(snippet));
  }
  const everyone = ["To", "Cc", "Bcc"].flatMap((header) => peopleOf(message.payload, header));
  const recipients = [...new Set(everyone.map(({ address }) => address))]
    .toSorted()
    .map((address): RecipientDelivery => {
      const detail = failed.get(address);
      return detail === undefined ? { address, status: "accepted", detail: "" } : { address, status: "failed", detail };
    });
  return {
    id: message.id,
    thread: message.threadId,
    status: recipients.some(({ status }) => status === "failed") ? "failed" : "accepted",
    recipients,
    sentAt: toIso(Number(message.internalDate)),
  };
}
