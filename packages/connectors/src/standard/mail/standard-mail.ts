import { createOnce } from "../../idempotency/once.ts";
import { ChangeOptions, type ConnectionStatus } from "../../ports/connection.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import { DraftMail, type MailConnector, MailQuery, MailReply, OutgoingMail } from "../../ports/mail.ts";
import { replyRecipients, replySubject } from "../../ports/reply-recipients.ts";
import { type CheckedAccount, StandardAccount } from "../standard-options.ts";
import { withImap } from "./imap-session.ts";
import { readMail } from "./read-mail.ts";
import { searchMail } from "./search-mail.ts";
import { deliveryByKey, deliveryOf, draftOnce, type KeyedMail, sendOnce } from "./send-mail.ts";

/**
 * A mailbox at a server of IMAP, which sends by SMTP.
 *
 * @example
 * const mail = createStandardMail({
 *   user: { name: "Ana", address: "ana@acme.example" },
 *   password: process.env.MAIL_PASSWORD ?? "",
 *   imap: { host: "imap.acme.example", port: 993 },
 *   smtp: { host: "smtp.acme.example", port: 465 },
 * });
 * const { items } = await mail.searchMessages({ text: "invoice" });
 */
export function createStandardMail(options: StandardAccount): MailConnector {
  const account = parseParams(StandardAccount, options);
  const once = createOnce();
  const send = (mail: KeyedMail) => once(`send ${mail.key}`, () => sendOnce(account, mail));
  return {
    status: () => mailStatus(account),
    async searchMessages(query) {
      const parsed = parseParams(MailQuery, query);
      return withImap(account, (session) => searchMail(account, session, parsed));
    },
    getMessage: async (id) => withImap(account, async (session) => (await readMail(account, session, id)).message),
    async createDraft(draft, options) {
      const content = parseParams(DraftMail, draft);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      return once(`draft ${key}`, () => draftOnce(account, { content, references: [], key }));
    },
    async sendMail(mail, options) {
      const content = parseParams(OutgoingMail, mail);
      return send({ content, references: [], key: parseParams(ChangeOptions, options).idempotencyKey });
    },
    async replyToMessage(id, reply, options) {
      const { toAll, ...rest } = parseParams(MailReply, reply);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const { message, record } = await withImap(account, (session) => readMail(account, session, id));
      const people = { ...replyRecipients(message, { account: account.user.address, toAll }), bcc: [] };
      const content = { ...people, subject: replySubject(message.subject), ...rest };
      return send({ content, references: [...record.references, message.messageId], key });
    },
    async deliveryStatus(of) {
      if (!("id" in of)) return deliveryByKey(account, parseParams(ChangeOptions, of).idempotencyKey);
      return withImap(account, async (session) => {
        const found = await readMail(account, session, of.id);
        if (found.message.folder === "sent") return deliveryOf(found);
        throw new ConnectorError(
          "params",
          `the message ${of.id} is in the folder ${found.message.folder} and was not sent`,
          {
            param: "id",
          },
        );
      });
    },
  };
}

async function mailStatus(account: CheckedAccount): Promise<ConnectionStatus> {
  const status = { account: account.user.address, canWrite: account.smtp !== null, rateLimit: null };
  const note = account.smtp ? null : "the account has no SMTP server, so it cannot send";
  try {
    await withImap(account, async () => {});
    return { ...status, auth: "valid", note };
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.type !== "auth") throw thrown;
    return { ...status, auth: "revoked", canWrite: false, note: null };
  }
}
