import type { z } from "zod";
import { contentHash, keyReused } from "../../idempotency/keyed-content.ts";
import { type ComposedMail, composeMail } from "../../mail/compose-mail.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { DeliveryStatus, DraftMail, RecipientDelivery } from "../../ports/mail.ts";
import type { CheckedAccount } from "../standard-options.ts";
import { type ImapSession, withImap } from "./imap-session.ts";
import { type KeyedKind, keyedMessageId, keyMark, mailId } from "./mail-ids.ts";
import { type ReadMail, readMail } from "./read-mail.ts";
import { type SmtpResult, sendBySmtp, UnknownOutcome } from "./smtp-session.ts";

/** A mail of the account, and the key of its call. */
export interface KeyedMail {
  content: z.output<typeof DraftMail>;
  references: readonly string[];
  key: string;
}

/** A mail with its time. */
type PreparedMail = ComposedMail & { sentMs: number };

/** A header of the own copy: recipients that the server refused. */
const refusedHeader = "X-Troupe-Refused";
/** The own copy has this flag until the server of SMTP has answered. */
const pendingFlag = "\\Draft";

/**
 * Sends a mail once for its key. The own copy is stored first, and marked as pending. After a kill, a repeated call finds it: a
 * copy without the mark was sent, and one with the mark is in doubt and never sent again.
 */
export async function sendOnce(account: CheckedAccount, mail: KeyedMail): Promise<DeliveryStatus> {
  const composed = compose(account, "send", mail);
  const begun = await withImap(account, async (session) => {
    const earlier = await findKeyed(account, session, "send", mail.key);
    if (earlier) return { earlier: deliveryOf(await checked(account, session, earlier, composed, mail.key)) };
    return { pending: await storeCopy(session, composed, ["\\Seen", pendingFlag]) };
  });
  if (begun.earlier) return begun.earlier;
  const result = await sendOrForget(account, composed, begun.pending);
  return withImap(account, async (session) => {
    const id = await settleCopy(session, composed, begun.pending, result);
    return deliveryOf(await readMail(account, session, id));
  });
}

/** Stores a draft once for its key. */
export async function draftOnce(account: CheckedAccount, mail: KeyedMail): Promise<{ id: string; thread: string }> {
  const composed = compose(account, "draft", mail);
  return withImap(account, async (session) => {
    const earlier = await findKeyed(account, session, "draft", mail.key);
    if (earlier) {
      checkContent(earlier, composed, mail.key);
      return { id: earlier.message.id, thread: earlier.message.thread };
    }
    const path = await session.ensureFolder("drafts");
    await session.client.append(path, await composeMail(composed, { keepsBcc: true }), ["\\Seen", "\\Draft"]);
    const stored = await findKeyed(account, session, "draft", mail.key);
    if (!stored) throw new ConnectorError("tool_error", `the folder ${path} does not show the stored draft`);
    return { id: stored.message.id, thread: stored.message.thread };
  });
}

/** The delivery of the mail that was sent with this key; null if none was. Throws if it is in doubt. */
export async function deliveryByKey(account: CheckedAccount, key: string): Promise<DeliveryStatus | null> {
  return withImap(account, async (session) => {
    const sent = await findKeyed(account, session, "send", key);
    if (!sent) return null;
    checkSettled(sent, session);
    return deliveryOf(sent);
  });
}

function compose(account: CheckedAccount, kind: KeyedKind, { content, references, key }: KeyedMail): PreparedMail {
  const { user, clock } = account;
  const hash = contentHash({ content, references });
  const messageId = keyedMessageId(keyMark(kind, user.address, key), hash, user.address);
  // A header has whole seconds.
  const sentMs = Math.floor(clock.now() / 1_000) * 1_000;
  return { from: user, ...content, references, messageId, sentMs, headers: {} };
}

async function findKeyed(
  account: CheckedAccount,
  session: ImapSession,
  kind: KeyedKind,
  key: string,
): Promise<ReadMail | null> {
  const folder = kind === "send" ? "sent" : "drafts";
  if (!session.paths.has(folder)) return null;
  const mark = keyMark(kind, account.user.address, key);
  const found = await session.within(folder, async (opened) => {
    const uids = (await session.client.search({ header: { "message-id": mark }, deleted: false }, { uid: true })) || [];
    const uid = uids.at(-1);
    return uid === undefined ? null : mailId({ ...opened, uid });
  });
  return found === null ? null : readMail(account, session, found);
}

function checkContent(earlier: ReadMail, composed: PreparedMail, key: string): void {
  if (earlier.message.messageId === composed.messageId) return;
  throw keyReused(key);
}

async function checked(
  account: CheckedAccount,
  session: ImapSession,
  earlier: ReadMail,
  composed: PreparedMail,
  key: string,
): Promise<ReadMail> {
  checkContent(earlier, composed, key);
  checkSettled(earlier, session);
  return readMail(account, session, earlier.message.id);
}

function checkSettled({ flags, message }: ReadMail, { paths }: ImapSession): void {
  if (!flags.has(pendingFlag)) return;
  throw new ConnectorError(
    "tool_error",
    `the mail ${JSON.stringify(message.subject)} may have been sent: its first try was interrupted`,
    {
      fix: `ask a recipient; if it did not arrive, delete the copy in ${paths.get("sent")} and send it again`,
    },
  );
}

async function storeCopy(session: ImapSession, composed: PreparedMail, flags: string[]): Promise<string> {
  const path = await session.ensureFolder("sent");
  const raw = await composeMail(composed, { keepsBcc: true });
  const appended = await session.client.append(path, raw, flags, new Date(composed.sentMs));
  if (appended && appended.uid !== undefined && appended.uidValidity !== undefined) {
    return mailId({ folder: "sent", uidValidity: String(appended.uidValidity), uid: appended.uid });
  }
  // Without UIDPLUS, the server does not name the uid.
  return session.within("sent", async (opened) => {
    const query = { header: { "message-id": composed.messageId }, deleted: false };
    const uid = ((await session.client.search(query, { uid: true })) || []).at(-1);
    if (uid === undefined) throw new ConnectorError("tool_error", `the folder ${path} does not show the stored copy`);
    return mailId({ ...opened, uid });
  });
}

/** A mail that was certainly not sent leaves no copy, so the same key can be used again. */
async function sendOrForget(account: CheckedAccount, composed: PreparedMail, pending: string): Promise<SmtpResult> {
  const { to, cc, bcc } = composed;
  const recipients = [...new Set([...to, ...cc, ...bcc].map(({ address }) => address))];
  try {
    return await sendBySmtp(account, { recipients, raw: await composeMail(composed, { keepsBcc: false }) });
  } catch (thrown) {
    if (!(thrown instanceof UnknownOutcome)) await withImap(account, (session) => removeCopy(session, pending));
    throw thrown;
  }
}

async function removeCopy(session: ImapSession, id: string): Promise<void> {
  const uid = id.slice(id.lastIndexOf("-") + 1);
  await session.within("sent", () => session.client.messageDelete(uid, { uid: true }));
}

/** The copy of a mail with refused recipients names them. It replaces the pending one. */
async function settleCopy(
  session: ImapSession,
  composed: PreparedMail,
  pending: string,
  { rejected }: SmtpResult,
): Promise<string> {
  if (rejected.length > 0) {
    const refused =
      Buffer.from(JSON.stringify(rejected))
        .toString("base64url")
        .match(/.{1,60}/g) ?? [];
    const id = await storeCopy(session, { ...composed, headers: { [refusedHeader]: refused.join(" ") } }, ["\\Seen"]);
    await removeCopy(session, pending);
    return id;
  }
  const uid = pending.slice(pending.lastIndexOf("-") + 1);
  await session.within("sent", () => session.client.messageFlagsRemove(uid, [pendingFlag], { uid: true }));
  return pending;
}

/** From the weakest to the strongest. */
const deliveryStates = ["failed", "accepted"] as const;

/** The delivery of a sent message: the server took it for all recipients that its copy does not name as refused. */
export function deliveryOf({ message, headers }: ReadMail): DeliveryStatus {
  const refused = new Map(refusedIn(headers).map(({ address, detail }) => [address, detail]));
  const addresses = [...new Set([...message.to, ...message.cc, ...message.bcc].map(({ address }) => address))];
  const recipients = addresses.toSorted().map((address): RecipientDelivery => {
    const detail = refused.get(address);
    return detail === undefined ? { address, status: "accepted", detail: "" } : { address, status: "failed", detail };
  });
  const status = deliveryStates.find((state) => recipients.some((each) => each.status === state)) ?? "accepted";
  return { id: message.id, thread: message.thread, status, recipients, sentAt: message.sentAt };
}

function refusedIn(headers: string): SmtpResult["rejected"] {
  const [, value] = new RegExp(`^${refusedHeader}:((?:.|\\r\\n[ \\t])*)`, "im").exec(headers) ?? [];
  if (value === undefined) return [];
  const text = Buffer.from(value.replace(/\s/g, ""), "base64url").toString();
  return JSON.parse(text);
}
