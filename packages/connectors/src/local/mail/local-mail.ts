import type { z } from "zod";
import { ChangeOptions } from "../../ports/connection.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import {
  DraftMail,
  type MailConnector,
  type MailFolder,
  MailQuery,
  MailReply,
  OutgoingMail,
  type RecipientDelivery,
} from "../../ports/mail.ts";
import type { Person } from "../../ports/person.ts";
import { replyRecipients, replySubject } from "../../ports/reply-recipients.ts";
import { actOnce, type ReceiptScope, readReceipt } from "../database/receipts.ts";
import { type LocalAccount, localStatus } from "../local-account.ts";
import { addMessage, findMailbox, type MailRecord, shortHash } from "./mail-store.ts";
import { type MessageRow, recipientsOf, toDelivery, toMessage } from "./message-rows.ts";
import { searchMailbox } from "./search-messages.ts";

const outboxNote = "stored in the local outbox: nothing was sent outside";

/** The mailbox of a local office. Mail to other mailboxes of the office arrives there; all other mail stays in the outbox. */
export function createLocalMail(account: LocalAccount): MailConnector {
  return {
    status: async () => localStatus(account, "mail to people outside this office stays in the local outbox", true),
    searchMessages: async (query) => searchMailbox(account.database, account.mailbox, parseParams(MailQuery, query)),
    getMessage: async (id) => toMessage(account.database, readRow(account, id)),
    async createDraft(draft, options) {
      const content = parseParams(DraftMail, draft);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const id = actOnce(scopeOf(account, "draft"), key, content, () =>
        storeOwn(account, "drafts", messageIdOf(account, "draft", key), [], content),
      );
      return { id, thread: readRow(account, id).thread };
    },
    async sendMail(mail, options) {
      const content = parseParams(OutgoingMail, mail);
      return send(account, content, [], parseParams(ChangeOptions, options).idempotencyKey);
    },
    async replyToMessage(id, reply, options) {
      const { toAll, ...content } = parseParams(MailReply, reply);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const row = readRow(account, id);
      const from = { name: row.from_name, address: row.from_address };
      const replied = { ...recipientsOf(row), from };
      const recipients = { ...replyRecipients(replied, { account: account.person.address, toAll }), bcc: [] };
      const subject = replySubject(row.subject);
      return send(account, { ...recipients, subject, ...content }, [row.message_id], key);
    },
    async deliveryStatus(of) {
      if ("id" in of) return toDelivery(account.database, sentRow(account, of.id));
      const receipt = readReceipt(scopeOf(account, "send"), parseParams(ChangeOptions, of).idempotencyKey);
      return receipt ? toDelivery(account.database, readRow(account, receipt.result)) : null;
    },
  };
}

function readRow({ database, mailbox }: LocalAccount, id: string): MessageRow {
  const row = database.get<MessageRow>("SELECT * FROM messages WHERE id = ? AND mailbox = ?", id, mailbox);
  if (row) return row;
  throw new ConnectorError("params", `no message of this mailbox has the id ${JSON.stringify(id)}`, {
    param: "id",
    fix: "search for the message and use its id",
  });
}

function sentRow(account: LocalAccount, id: string): MessageRow {
  const row = readRow(account, id);
  if (row.folder === "sent") return row;
  throw new ConnectorError("params", `the message ${id} is in the folder ${row.folder} and was not sent from here`, {
    param: "id",
  });
}

function scopeOf({ database, clock, person }: LocalAccount, kind: "send" | "draft"): ReceiptScope {
  return { database, clock, account: person.address, kind };
}

/** The same key gives the same Message-ID, so that even a copy of the message in another mailbox exists once. */
function messageIdOf({ person }: LocalAccount, kind: string, key: string): string {
  return `<${shortHash(`${kind} ${person.address} ${key}`)}@office.local>`;
}

type MailContent = z.output<typeof DraftMail>;

function send(account: LocalAccount, content: MailContent, references: string[], key: string) {
  const { database } = account;
  const messageId = messageIdOf(account, "send", key);
  const id = actOnce(scopeOf(account, "send"), key, { content, references }, () => {
    const sent = storeOwn(account, "sent", messageId, references, content);
    const everyone = new Map([...content.to, ...content.cc, ...content.bcc].map((person) => [person.address, person]));
    for (const person of everyone.values()) {
      const { status, detail } = deliver(account, person, { messageId, references, content });
      database.run(
        "INSERT INTO deliveries (message, address, status, detail) VALUES (?, ?, ?, ?)",
        ...[sent, person.address, status, detail],
      );
    }
    return sent;
  });
  return toDelivery(database, readRow(account, id));
}

function storeOwn(
  account: LocalAccount,
  folder: MailFolder,
  messageId: string,
  references: readonly string[],
  content: MailContent,
): string {
  const record = toRecord(account, { folder, messageId, references, content, isUnread: false });
  const id = addMessage(account.database, account.mailbox, record);
  if (id !== null) return id;
  throw new ConnectorError("tool_error", `the mailbox already has a message ${messageId}`);
}

/** Puts the message into the recipient's mailbox if this office has it. */
function deliver(
  account: LocalAccount,
  { address }: Person,
  { messageId, references, content }: { messageId: string; references: readonly string[]; content: MailContent },
): Pick<RecipientDelivery, "status" | "detail"> {
  const mailbox = findMailbox(account.database, address);
  if (mailbox === undefined) return { status: "stored", detail: outboxNote };
  const received = { ...content, bcc: [] };
  const record = toRecord(account, { folder: "inbox", messageId, references, content: received, isUnread: true });
  addMessage(account.database, mailbox, record);
  return { status: "delivered", detail: "" };
}

function toRecord(
  { person, clock }: LocalAccount,
  { content, ...rest }: Pick<MailRecord, "folder" | "messageId" | "references" | "isUnread"> & { content: MailContent },
): MailRecord {
  return { ...rest, ...content, from: person, sentMs: clock.now() };
}
