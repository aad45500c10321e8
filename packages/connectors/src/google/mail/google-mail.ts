import { z } from "zod";
import { ChangeOptions } from "../../ports/connection.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import {
  DraftMail,
  type MailConnector,
  type MailMessage,
  MailQuery,
  MailReply,
  OutgoingMail,
} from "../../ports/mail.ts";
import type { GoogleSession } from "../google-session.ts";
import { readDelivery } from "./delivery.ts";
import { GmailMessage, headerOf, peopleOf, RawGmailMessage, toMessage } from "./gmail-messages.ts";
import { searchGmail } from "./search-gmail.ts";
import { createOwnMailbox, draftOnce, findSent, sendOnce } from "./send-once.ts";

export interface GoogleMailOptions {
  session: GoogleSession;
  /** The name of the user, for the header From. */
  userName: string;
  /** Whether the user allowed to write mail. */
  canWrite: boolean;
}

/** The Gmail mailbox of one account. */
export function createGoogleMail({ session, userName, canWrite }: GoogleMailOptions): MailConnector {
  const mailbox = createOwnMailbox(session, userName);
  return {
    status: () => session.status(canWrite, ({ gmail }) => gmail.users.getProfile({ userId: "me" })),
    refresh: () => session.refresh(),
    searchMessages: async (query) => await searchGmail(session, parseParams(MailQuery, query)),
    getMessage: (id) => readMessage(session, id),
    async createDraft(draft, options) {
      const content = parseParams(DraftMail, draft);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      return await draftOnce(mailbox, { ...content, reply: null }, key);
    },
    async sendMail(mail, options) {
      const content = parseParams(OutgoingMail, mail);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const { id } = await sendOnce(mailbox, { ...content, reply: null }, key);
      return await readDelivery(session, id);
    },
    async replyToMessage(id, reply, options) {
      const { toAll, ...content } = parseParams(MailReply, reply);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const original = await readOriginal(session, id);
      const sent = await sendOnce(mailbox, { ...original.answer(toAll), ...content, reply: original.reply }, key);
      return await readDelivery(session, sent.id);
    },
    async deliveryStatus(of) {
      if ("id" in of) return await readDelivery(session, of.id);
      const found = await findSent(mailbox, parseParams(ChangeOptions, of).idempotencyKey);
      return found ? await readDelivery(session, found.message.id) : null;
    },
  };
}

async function readMessage(session: GoogleSession, id: string): Promise<MailMessage> {
  const message = await session.call({ ...messageCall(id), schema: RawGmailMessage }, ({ gmail }) =>
    gmail.users.messages.get({ userId: "me", id: checkedId(id), format: "raw" }),
  );
  return await toMessage(message);
}

const messageCall = (id: string) => ({ what: `read the message ${JSON.stringify(id)}`, param: "id" });

/** An id is a part of the URL. */
function checkedId(id: string): string {
  const parsed = z.string().min(1).max(idCharactersMax).safeParse(id);
  if (parsed.success) return parsed.data;
  throw new ConnectorError("params", "the id of the message is empty or too long", {
    param: "id",
    fix: "search for the message and use its id",
  });
}

const idCharactersMax = 200;
const originalHeaders = ["From", "To", "Cc", "Subject", "Message-ID", "References"];

/**
 * The message that a reply answers. The reply goes to the sender, never to the header Reply-To: a person approved the sender
 * that the message shows.
 */
async function readOriginal(session: GoogleSession, id: string) {
  const { payload, threadId } = await session.call({ ...messageCall(id), schema: GmailMessage }, ({ gmail }) =>
    gmail.users.messages.get({
      ...{ userId: "me", id: checkedId(id), format: "metadata", metadataHeaders: originalHeaders },
    }),
  );
  const subject = headerOf(payload, "Subject") ?? "";
  const [from, to, cc] = ["From", "To", "Cc"].map((header) => peopleOf(payload, header));
  const ids = `${headerOf(payload, "References") ?? ""} ${headerOf(payload, "Message-ID") ?? ""}`;
  const references = [...new Set(ids.match(/<[^<>\s]{1,500}>/g) ?? [])].slice(-referencesMax);
  return {
    reply: { thread: threadId, references },
    answer: (toAll: boolean) => ({
      ...recipientsOf(session.account, { from: from ?? [], to: to ?? [], cc: cc ?? [] }, toAll),
      subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    }),
  };
}

const referencesMax = 50;

type People = MailMessage["to"];

/** A reply to an own message goes to its recipients. */
function recipientsOf(account: string, { from, to, cc }: { from: People; to: People; cc: People }, toAll: boolean) {
  const isOwn = from.some(({ address }) => address === account);
  const first = isOwn ? to : from;
  if (first.length === 0) throw new ConnectorError("params", "the message has no sender to answer", { param: "id" });
  const known = new Set([account, ...first.map(({ address }) => address)]);
  const others = toAll ? [...(isOwn ? [] : to), ...cc].filter(({ address }) => !known.has(address)) : [];
  return { to: first, cc: others, bcc: [] };
}
