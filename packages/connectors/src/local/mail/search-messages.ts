import type { z } from "zod";
import type { MailQuery, MailSummary } from "../../ports/mail.ts";
import type { Page } from "../../ports/page.ts";
import { type SqlCondition, spanConditions } from "../database/conditions.ts";
import { pageOf } from "../database/cursor.ts";
import { columnQuery } from "../database/full-text.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { mailboxToken } from "./mail-store.ts";
import { type SummaryRow, summaryColumns, toSummary } from "./message-rows.ts";

type Query = z.output<typeof MailQuery>;

/** Newest first. Words are found by the index, and its hits are read in the order of time until the page is full. */
export function searchMailbox(database: OfficeDatabase, mailbox: number, query: Query): Page<MailSummary> {
  const words = wordQuery(query);
  const [source, position]: [SqlCondition, string] =
    words.length === 0
      ? [{ sql: "messages m WHERE m.mailbox = ?", values: [mailbox] }, "m.position"]
      : [
          {
            sql: "message_words w JOIN messages m ON m.position = w.rowid WHERE message_words MATCH ?",
            values: [[`mailbox : ${mailboxToken(mailbox)}`, ...words].join(" AND ")],
          },
          "w.rowid",
        ];
  const conditions = [source, ...spanConditions(query, position), ...fieldConditions(query)];
  const rows = database.all<SummaryRow>(
    `SELECT ${summaryColumns} FROM ${conditions.map(({ sql }) => sql).join(" AND ")} ORDER BY ${position} DESC LIMIT ?`,
    ...conditions.flatMap(({ values }) => values),
    query.limit + 1,
  );
  return pageOf(rows, query.limit, toSummary, (row) => `${row.position}`);
}

function wordQuery({ text, from, to, subject }: Query): string[] {
  return [
    ...columnQuery("subject body sender recipients", text),
    ...columnQuery("sender", from),
    ...columnQuery("recipients", to),
    ...columnQuery("subject", subject),
  ];
}

function fieldConditions({ folder, isUnread, hasAttachment, thread }: Query): SqlCondition[] {
  return [
    ...(folder === null ? [] : [{ sql: "m.folder = ?", values: [folder] }]),
    ...(isUnread === null ? [] : [{ sql: "m.is_unread = ?", values: [Number(isUnread)] }]),
    ...(hasAttachment === null ? [] : [{ sql: "(m.attachment_count > 0) = ?", values: [Number(hasAttachment)] }]),
    ...(thread === null ? [] : [{ sql: "m.thread = ?", values: [thread] }]),
  ];
}
