import { z } from "zod";
import { mapConcurrently } from "../concurrently.ts";
import { isMissing, toConnectorError } from "../google-error.ts";
import { type GoogleSession, readAnswer } from "../google-session.ts";
import { folderOf, GmailMessage, headerOf } from "./gmail-messages.ts";

/**
 * The header by which troupe finds its own mail again: the mark of the idempotency key, and the digest of the content. Gmail
 * replaces the Message-ID of a mail that a program sends, so that a mail cannot be found by an id of ours.
 */
export const markHeader = "X-Troupe-Key";

/** A mail of ours: sent, or a draft that was not sent. */
export interface MarkedMail {
  message: GmailMessage;
  digest: string;
  isSent: boolean;
}

/** The content of the mail, as far as a search needs it. */
export interface MarkHint {
  /** A query of Gmail that finds the mail. */
  query: string;
}

/** The index of Gmail's search can be seconds behind; the lists of labels are not. */
const recentCount = 10;
/** Without the content of the mail, only the newest sent mail is looked at. */
const recentCountWithoutHint = 50;
const foundMax = 20;

const MessageIds = z.object({ messages: z.array(z.object({ id: z.string() })).default([]) });

/** Finds the mail of a key: the sent one, else the draft. Null if the account has neither. */
export async function findMarked(
  session: GoogleSession,
  mark: string,
  hint: MarkHint | null,
): Promise<MarkedMail | null> {
  const newest = hint === null ? recentCountWithoutHint : recentCount;
  const lists = [
    { labelIds: ["SENT"], maxResults: newest },
    { labelIds: ["DRAFT"], maxResults: recentCount },
    ...(hint === null ? [] : [{ q: `(in:sent OR in:drafts) ${hint.query}`, maxResults: foundMax }]),
  ];
  const found = await mapConcurrently(lists, async (list) => {
    const { messages } = await session.call(
      { what: "look for the mail of this key", schema: MessageIds },
      ({ gmail }) => gmail.users.messages.list({ userId: "me", ...list }),
    );
    return messages.map(({ id }) => id);
  });
  const ids = [...new Set(found.flat())];
  const marked = (await mapConcurrently(ids, (id) => readMark(session, id))).filter((each) => each?.mark === mark);
  const [best = null] = marked.toSorted((a, b) => Number(b?.isSent) - Number(a?.isSent));
  return best;
}

/** Headers that the status of a delivery needs. */
export const deliveryHeaders = [markHeader, "From", "To", "Cc", "Bcc", "X-Failed-Recipients"];

/** Null for a message without a mark, and for one that was deleted meanwhile. */
async function readMark(session: GoogleSession, id: string): Promise<(MarkedMail & { mark: string }) | null> {
  const what = "read a mail of this account";
  let data: unknown;
  try {
    ({ data } = await session.callRaw(({ gmail }) =>
      gmail.users.messages.get({ userId: "me", id, format: "metadata", metadataHeaders: deliveryHeaders }),
    ));
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw toConnectorError(thrown, { what, account: session.account });
  }
  const message = readAnswer(GmailMessage, data, what);
  const [mark = "", digest = ""] = (headerOf(message.payload, markHeader) ?? "").split(" ");
  return mark === "" ? null : { message, mark, digest, isSent: folderOf(message.labelIds) !== "drafts" };
}
