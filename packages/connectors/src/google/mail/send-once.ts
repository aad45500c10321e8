import { z } from "zod";
import { keyReused } from "../../idempotency/keyed-content.ts";
import { composeMail } from "../../mail/compose-mail.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { DraftMail } from "../../ports/mail.ts";
import type { Person } from "../../ports/person.ts";
import { isMissing, toConnectorError } from "../google-error.ts";
import { type GoogleSession, readAnswer } from "../google-session.ts";
import { type CallsOnce, createCallsOnce, digestOf } from "../once.ts";
import { findMarked, type MarkedMail, type MarkHint, markHeader } from "./find-marked.ts";
import { quotedWords } from "./gmail-query.ts";

/** A mail of ours, before it is composed. */
export interface OwnMail extends z.output<typeof DraftMail> {
  /** The thread of Gmail and the Message-IDs that a reply belongs to. */
  reply: { thread: string; references: readonly string[] } | null;
}

/** A message of Gmail: its id and thread. */
export interface GmailIds {
  id: string;
  thread: string;
}

/** The mailbox of one account, with the calls of this process. */
export interface OwnMailbox {
  session: GoogleSession;
  user: Person;
  drafts: CallsOnce<GmailIds>;
  sends: CallsOnce<GmailIds>;
  /** Searches that find the mail of a key again, if its outcome is not known. */
  hints: Map<string, MarkHint>;
}

export function createOwnMailbox(session: GoogleSession, name: string): OwnMailbox {
  const user = { name, address: session.account };
  return { session, user, drafts: createCallsOnce(), sends: createCallsOnce(), hints: new Map() };
}

/** Stores a draft, once for a key. */
export async function draftOnce(mailbox: OwnMailbox, mail: OwnMail, key: string): Promise<GmailIds> {
  const digest = digestOf(mail);
  return await mailbox.drafts.run(key, digest, async () => {
    const found = await findOwn(mailbox, { kind: "draft", key, digest, mail });
    if (found) return idsOf(found);
    return (await createDraft(mailbox, { kind: "draft", key, digest, mail })).message;
  });
}

/**
 * Sends a mail, once for a key. It is stored as a draft first, and Gmail sends a draft only once. After a kill, the draft or
 * the sent mail is found by its mark, by any process on any machine.
 */
export async function sendOnce(mailbox: OwnMailbox, mail: OwnMail, key: string): Promise<GmailIds> {
  const digest = digestOf(mail);
  mailbox.hints.set(key, hintOf(mail));
  const ids = await mailbox.sends.run(key, digest, async () => {
    const own: OwnSend = { kind: "send", key, digest, mail };
    const found = await findOwn(mailbox, own);
    if (found?.isSent) return idsOf(found);
    const draft = found ? await draftIdOf(mailbox, found) : (await createDraft(mailbox, own)).id;
    return await sendDraft(mailbox, own, draft);
  });
  mailbox.hints.delete(key);
  return ids;
}

/** The sent mail of a key. Null if nothing was sent. */
export async function findSent(mailbox: OwnMailbox, key: string): Promise<MarkedMail | null> {
  const found = await findMarked(mailbox.session, markOf(mailbox, "send", key), mailbox.hints.get(key) ?? null);
  return found?.isSent ? found : null;
}

interface OwnSend {
  kind: "send" | "draft";
  key: string;
  digest: string;
  mail: OwnMail;
}

const markOf = ({ user }: OwnMailbox, kind: string, key: string): string => digestOf([kind, user.address, key]);

async function findOwn(mailbox: OwnMailbox, { kind, key, digest, mail }: OwnSend): Promise<MarkedMail | null> {
  const found = await findMarked(mailbox.session, markOf(mailbox, kind, key), hintOf(mail));
  if (found && found.digest !== digest) throw keyReused(key);
  return found;
}

function idsOf({ message }: MarkedMail): GmailIds {
  return { id: message.id, thread: message.threadId };
}

function hintOf({ subject, to, cc, bcc }: OwnMail): MarkHint {
  const [recipient] = [...to, ...cc, ...bcc];
  const words = quotedWords(subject).map((word) => `subject:${word}`);
  return { query: [...words, ...(recipient ? [`to:${recipient.address}`] : [])].join(" ") };
}

const DraftAnswer = z.object({ id: z.string(), message: z.object({ id: z.string(), threadId: z.string() }) });

async function createDraft(mailbox: OwnMailbox, own: OwnSend): Promise<{ id: string; message: GmailIds }> {
  const { session, user } = mailbox;
  const { reply, ...content } = own.mail;
  const mark = markOf(mailbox, own.kind, own.key);
  const headers = { [markHeader]: `${mark} ${own.digest}` };
  const messageId = `<${mark}@${user.address.split("@")[1]}>`;
  const references = reply?.references ?? [];
  const bytes = await composeMail({ ...content, from: user, messageId, references, headers }, { keepsBcc: true });
  const message = { raw: bytes.toString("base64url"), ...(reply ? { threadId: reply.thread } : {}) };
  const { id, message: stored } = await session.call({ what: "store the draft", schema: DraftAnswer }, ({ gmail }) =>
    gmail.users.drafts.create({ userId: "me", requestBody: { message } }),
  );
  return { id, message: { id: stored.id, thread: stored.threadId } };
}

const DraftList = z.object({
  drafts: z.array(z.object({ id: z.string(), message: z.object({ id: z.string() }) })).default([]),
  nextPageToken: z.string().optional(),
});

/** Drafts have an id of their own, which only their list tells. */
async function draftIdOf({ session }: OwnMailbox, { message }: MarkedMail): Promise<string> {
  let pageToken: string | undefined;
  do {
    const page = await session.call({ what: "list the drafts", schema: DraftList }, ({ gmail }) =>
      gmail.users.drafts.list({ userId: "me", maxResults: 500, ...(pageToken === undefined ? {} : { pageToken }) }),
    );
    const draft = page.drafts.find((each) => each.message.id === message.id);
    if (draft) return draft.id;
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  throw new ConnectorError("tool_error", "the draft of this mail was deleted before it was sent", {
    fix: "send the mail again with a new key",
  });
}

const SentAnswer = z.object({ id: z.string(), threadId: z.string() });

async function sendDraft(mailbox: OwnMailbox, own: OwnSend, draft: string): Promise<GmailIds> {
  const { session } = mailbox;
  const what = "send the mail";
  try {
    const { data } = await session.callRaw(({ gmail }) =>
      gmail.users.drafts.send({ userId: "me", requestBody: { id: draft } }),
    );
    const { id, threadId } = readAnswer(SentAnswer, data, what);
    return { id, thread: threadId };
  } catch (thrown) {
    if (isMissing(thrown)) return await sentMeanwhile(mailbox, own);
    const error = toConnectorError(thrown, { what, param: "to", account: session.account });
    // A refused mail leaves nothing behind. After a lost connection the draft is what tells whether the mail was sent.
    if (error instanceof ConnectorError && error.type !== "network") await removeDraft(session, draft);
    throw error;
  }
}

/** The draft does not exist: another call with this key sent it. */
async function sentMeanwhile(mailbox: OwnMailbox, own: OwnSend): Promise<GmailIds> {
  const found = await findOwn(mailbox, own);
  if (found?.isSent) return idsOf(found);
  throw new ConnectorError("network", "the draft of this mail is gone, and the sent mail is not in the mailbox yet", {
    fix: "ask deliveryStatus by the key; do not send the mail with another key",
  });
}

async function removeDraft(session: GoogleSession, id: string): Promise<void> {
  // A draft that stays is harmless: the next call with this key sends it.
  await session.callRaw(({ gmail }) => gmail.users.drafts.delete({ userId: "me", id })).catch(() => {});
}
