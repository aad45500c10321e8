import { z } from "zod";
import { numbersIn } from "../../local/database/cursor.ts";
import type { MailQuery, MailSummary } from "../../ports/mail.ts";
import type { Page } from "../../ports/page.ts";
import { mapConcurrently } from "../concurrently.ts";
import { isMissing, toConnectorError } from "../google-error.ts";
import { type GoogleSession, readAnswer } from "../google-session.ts";
import { GmailMessage, summaryFields, toSummary } from "./gmail-messages.ts";
import { gmailQuery } from "./gmail-query.ts";

type GmailSearch = z.output<typeof MailQuery>;

const MessageList = z.object({
  messages: z.array(z.object({ id: z.string(), threadId: z.string() })).default([]),
  nextPageToken: z.string().optional(),
});

/** Newest first, as Gmail lists them. */
export async function searchGmail(session: GoogleSession, query: GmailSearch): Promise<Page<MailSummary>> {
  if (query.thread !== null) return await searchThread(session, query, query.thread);
  const { messages, nextPageToken = null } = await listMessages(session, query, query.limit);
  const summaries = await mapConcurrently(messages, ({ id }) => readSummary(session, id));
  return { items: summaries.filter((each) => each !== null).filter(withinTimes(query)), nextCursor: nextPageToken };
}

async function listMessages(session: GoogleSession, query: GmailSearch, maxResults: number) {
  const q = gmailQuery(query);
  const param = query.cursor === null ? undefined : "cursor";
  const what = query.cursor === null ? "search mail" : "search mail from this cursor";
  return await session.call({ what, param, schema: MessageList }, ({ gmail }) =>
    gmail.users.messages.list({
      ...{ userId: "me", maxResults },
      ...(q === "" ? {} : { q }),
      ...(query.cursor === null ? {} : { pageToken: query.cursor }),
    }),
  );
}

/** Null for a message that was deleted after it was listed. */
async function readSummary(session: GoogleSession, id: string): Promise<MailSummary | null> {
  const what = "read a message of the search";
  try {
    const { data } = await session.callRaw(({ gmail }) =>
      gmail.users.messages.get({ userId: "me", id, format: "full", fields: summaryFields }),
    );
    return await toSummary(readAnswer(GmailMessage, data, what));
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw toConnectorError(thrown, { what, account: session.account });
  }
}

function withinTimes({ since, until }: GmailSearch): (message: MailSummary) => boolean {
  const [fromMs, toMs] = [
    since === null ? -Infinity : Date.parse(since),
    until === null ? Infinity : Date.parse(until),
  ];
  return ({ sentAt }) => fromMs <= Date.parse(sentAt) && Date.parse(sentAt) < toMs;
}

const Thread = z.object({ messages: z.array(GmailMessage).default([]) });
const listedMax = 500;

/** Gmail has no query for a thread. With other conditions, the hits around the times of the thread are compared with it. */
async function searchThread(session: GoogleSession, query: GmailSearch, thread: string): Promise<Page<MailSummary>> {
  let messages: GmailMessage[];
  try {
    const { data } = await session.callRaw(({ gmail }) =>
      gmail.users.threads.get({ userId: "me", id: thread, format: "full", fields: `messages(${summaryFields})` }),
    );
    messages = readAnswer(Thread, data, "read the thread").messages;
  } catch (thrown) {
    if (isMissing(thrown)) return { items: [], nextCursor: null };
    throw toConnectorError(thrown, { what: "read the thread", param: "thread", account: session.account });
  }
  const times = messages.map(({ internalDate }) => Number(internalDate));
  const span = {
    since: query.since ?? new Date(Math.min(...times)).toISOString(),
    until: query.until ?? new Date(Math.max(...times) + 1).toISOString(),
  };
  const hasConditions = gmailQuery({ ...query, since: null, until: null }) !== "";
  const hits = hasConditions ? await listMessages(session, { ...query, ...span, cursor: null }, listedMax) : null;
  const ids = hits && new Set(hits.messages.map(({ id }) => id));
  const summaries = await mapConcurrently(
    messages.filter(({ id }) => ids === null || ids.has(id)),
    toSummary,
  );
  const found = summaries.filter(withinTimes(query)).toSorted((a, b) => b.sentAt.localeCompare(a.sentAt));
  const offset = query.cursor === null ? 0 : Number(numbersIn(query.cursor, 1)[0]);
  const items = found.slice(offset, offset + query.limit);
  const next = offset + query.limit;
  return { items, nextCursor: next < found.length ? `${next}` : null };
}
