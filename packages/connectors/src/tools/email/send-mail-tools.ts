import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { DeliveryStatus } from "../../ports/mail.ts";
import { replyRecipients, replySubject } from "../../ports/reply-recipients.ts";
import type { OfficeCall } from "../calls/office-call.ts";
import { changeFields, changingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { ItemId } from "../text/arguments.ts";
import { attachmentField, BodyText, recipientFields, SubjectText } from "./mail-arguments.ts";
import { attachmentsOf, mailOutward, mailPreview } from "./outgoing-mail.ts";
import type { SentMessages } from "./sent-messages.ts";

/** `gmail_send_email`, `gmail_reply_to_message` and `gmail_create_draft`. */
export function sendMailTools(deps: OfficeToolDeps, sent: SentMessages): Tool[] {
  return [sendMail(deps, sent), replyToMessage(deps, sent), createDraft(deps)];
}

const changes = { changes: true };

const sendInput = z.strictObject({
  ...recipientFields,
  subject: SubjectText,
  body: BodyText,
  attachments: attachmentField,
  ...changeFields,
});

function sendMail(deps: OfficeToolDeps, sent: SentMessages): Tool {
  const contentOf = async (
    { to, cc, bcc, subject, body, attachments }: z.output<typeof sendInput>,
    call: OfficeCall,
  ) => {
    if (to.length + cc.length + bcc.length === 0) {
      throw new ConnectorError("params", "the mail has no recipient", {
        param: "to",
        fix: "name at least one address",
      });
    }
    return { to, cc, bcc, subject, body, attachments: await attachmentsOf(attachments, call) };
  };
  return changingTool(
    {
      domain: "email",
      name: "gmail_send_email",
      description: "Sends a plain text mail from the user's account. The result has the delivery to each recipient.",
      input: sendInput,
      outwardOf: ({ to, cc, bcc, subject, body, attachments }) =>
        mailOutward([...to, ...cc, ...bcc], [subject, body], attachments),
      async preview(args, call) {
        const { account } = await call.connect("mail", changes);
        return mailPreview(await contentOf(args, call), account, call);
      },
      async run(args, call) {
        const content = await contentOf(args, call);
        const mail = await call.connect("mail", changes);
        const delivery = await mail.call(
          (port) => port.sendMail(content, call.key),
          (port) => port.deliveryStatus(call.key),
        );
        sent.add(call.context, delivery.id);
        return { output: deliveryOutput(delivery) };
      },
    },
    deps,
  );
}

const replyInput = z.strictObject({
  message_id: ItemId,
  body: BodyText,
  to_all: z.boolean().default(false),
  attachments: attachmentField,
  ...changeFields,
});

function replyToMessage(deps: OfficeToolDeps, sent: SentMessages): Tool {
  return changingTool(
    {
      domain: "email",
      name: "gmail_reply_to_message",
      description: "Replies to a message within its thread: to its sender, or with to_all to everyone on it.",
      input: replyInput,
      // The recipients are in the message: the call could reach any of them.
      outwardOf: ({ body, attachments }) => ({ ...mailOutward([], [body], attachments), host: null }),
      async preview({ message_id, body, to_all, attachments }, call) {
        const { account, ...mail } = await call.connect("mail", changes);
        const message = await mail.call((port) => port.getMessage(message_id));
        const recipients = replyRecipients(message, { account, toAll: to_all });
        const files = await attachmentsOf(attachments, call);
        const content = { ...recipients, bcc: [], subject: replySubject(message.subject), body, attachments: files };
        return mailPreview(content, account, call);
      },
      async run({ message_id, body, to_all, attachments }, call) {
        const reply = { body, toAll: to_all, attachments: await attachmentsOf(attachments, call) };
        const mail = await call.connect("mail", changes);
        const delivery = await mail.call(
          (port) => port.replyToMessage(message_id, reply, call.key),
          (port) => port.deliveryStatus(call.key),
        );
        sent.add(call.context, delivery.id);
        return { output: deliveryOutput(delivery) };
      },
    },
    deps,
  );
}

const draftInput = z.strictObject({
  ...recipientFields,
  subject: SubjectText.default(""),
  body: BodyText.default(""),
  attachments: attachmentField,
  ...changeFields,
});

function createDraft(deps: OfficeToolDeps): Tool {
  const contentOf = async (
    { to, cc, bcc, subject, body, attachments }: z.output<typeof draftInput>,
    call: OfficeCall,
  ) => ({
    ...{ to, cc, bcc, subject, body },
    attachments: await attachmentsOf(attachments, call),
  });
  return changingTool(
    {
      domain: "email",
      name: "gmail_create_draft",
      description: "Stores a draft in the user's mailbox. Nothing is sent. Every field can be missing.",
      input: draftInput,
      // A draft stays in the mailbox, so its recipients do not raise its risk.
      riskOfPreview: () => ({ risk: "medium", reason: null }),
      async preview(args, call) {
        const { account } = await call.connect("mail", changes);
        return mailPreview(await contentOf(args, call), account, call);
      },
      async run(args, call) {
        const content = await contentOf(args, call);
        const mail = await call.connect("mail", changes);
        const draft = await mail.call((port) => port.createDraft(content, call.key));
        return { output: { draft_id: draft.id, thread_id: draft.thread } };
      },
    },
    deps,
  );
}

/** Delivery of a sent mail. */
export function deliveryOutput({ id, thread, status, recipients, sentAt }: DeliveryStatus) {
  return {
    ...{ message_id: id, thread_id: thread, recipients: recipients.map(({ address }) => address) },
    ...{ delivery_status: status, delivery: recipients, sent_at: sentAt },
  };
}
