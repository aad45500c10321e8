import type { DeliveryStatus, MailFolder, MailMessage, MailSummary, RecipientDelivery } from "../../ports/mail.ts";
import type { Person } from "../../ports/person.ts";
import { toIso } from "../../time/zoned-instant.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { timeOfPosition } from "../database/positions.ts";

/** Columns of a message in a list. */
export interface SummaryRow {
  position: number;
  id: string;
  thread: string;
  folder: MailFolder;
  from_name: string;
  from_address: string;
  /** JSON: `{to, cc, bcc}`. */
  recipients: string;
  subject: string;
  snippet: string;
  is_unread: number;
  attachment_count: number;
}

/** Columns of a whole message. */
export interface MessageRow extends SummaryRow {
  message_id: string;
  body: string;
  is_truncated: number;
}

const summaryNames =
  "position id thread folder from_name from_address recipients subject snippet is_unread attachment_count";
export const summaryColumns = summaryNames.replace(/\w+/g, "m.$&").replaceAll(" ", ", ");

export function toSummary(row: SummaryRow): MailSummary {
  return {
    id: row.id,
    thread: row.thread,
    folder: row.folder,
    from: { name: row.from_name, address: row.from_address },
    to: recipientsOf(row).to,
    subject: row.subject,
    snippet: row.snippet,
    sentAt: toIso(timeOfPosition(row.position)),
    isUnread: row.is_unread === 1,
    attachmentCount: row.attachment_count,
  };
}

export function toMessage(database: OfficeDatabase, row: MessageRow): MailMessage {
  const { cc, bcc } = recipientsOf(row);
  const attachments = database.all<MailMessage["attachments"][number]>(
    "SELECT name, content_type AS contentType, size_bytes AS sizeBytes FROM attachments WHERE message = ? ORDER BY number",
    row.id,
  );
  return {
    ...toSummary(row),
    cc,
    bcc,
    body: row.body,
    isTruncated: row.is_truncated === 1,
    messageId: row.message_id,
    attachments: attachments.map((attachment) => ({ ...attachment })),
  };
}

export function recipientsOf({ recipients }: SummaryRow): Record<"to" | "cc" | "bcc", Person[]> {
  return JSON.parse(recipients);
}

/** From the weakest to the strongest. */
const deliveryStates: readonly RecipientDelivery["status"][] = ["failed", "stored", "accepted", "delivered"];

/** The delivery of a sent message. */
export function toDelivery(database: OfficeDatabase, row: SummaryRow): DeliveryStatus {
  const recipients = database
    .all<RecipientDelivery>("SELECT address, status, detail FROM deliveries WHERE message = ? ORDER BY address", row.id)
    .map((recipient) => ({ ...recipient }));
  const status = deliveryStates.find((state) => recipients.some((recipient) => recipient.status === state)) ?? "failed";
  return { id: row.id, thread: row.thread, status, recipients, sentAt: toIso(timeOfPosition(row.position)) };
}
