import { randomBytes } from "node:crypto";
import PostalMime, { type Address, type Email } from "postal-mime";
import { gmailFilter } from "./gmail-search.ts";
import {
  type GoogleReply,
  type GoogleRequest,
  invalidPageToken,
  notFound,
  ok,
  pageOf,
  refuse,
} from "./google-reply.ts";

export interface StoredMessage {
  id: string;
  threadId: string;
  labelIds: string[];
  internalDate: number;
  raw: Buffer;
  email: Email;
  messageId: string;
  attachmentCount: number;
  searchText: Record<"all" | "from" | "to" | "subject", string>;
  /** Whether the search knows the message already. */
  isIndexed: boolean;
}

/** The mailboxes of all accounts. */
export interface GmailServer {
  mailboxOf(email: string): Mailbox;
  /** Puts a message into a mailbox, as if it came from outside. */
  arrive(email: string, raw: Buffer, sentMs: number): Promise<void>;
  /** While true, the search does not find new messages. Lists of labels do. */
  isIndexBehind: boolean;
  /** Mails that left, each once per send. */
  readonly sent: { from: string; subject: string; raw: Buffer }[];
  handle(email: string, request: GoogleRequest): Promise<GoogleReply>;
}

interface Mailbox {
  messages: StoredMessage[];
  drafts: { id: string; message: StoredMessage }[];
}

const newId = (): string => randomBytes(8).toString("hex");

export function createGmailServer(now: () => number): GmailServer {
  const mailboxes = new Map<string, Mailbox>();
  const server: GmailServer = {
    isIndexBehind: false,
    sent: [],
    mailboxOf(email) {
      const known = mailboxes.get(email) ?? { messages: [], drafts: [] };
      mailboxes.set(email, known);
      return known;
    },
    async arrive(email, raw, sentMs) {
      await store(server, email, raw, { labelIds: ["INBOX", "UNREAD"], internalDate: sentMs });
    },
    async handle(email, request) {
      const rest = request.path.replace(/^\/gmail\/v1\/users\/me\//, "");
      const [kind = "", id = ""] = rest.split("/").map(decodeURIComponent);
      const mailbox = server.mailboxOf(email);
      const routes: Record<string, () => GoogleReply | Promise<GoogleReply>> = {
        "GET profile": () => ok({ emailAddress: email, messagesTotal: 1, threadsTotal: 1, historyId: "1" }),
        "GET messages": () => listMessages(mailbox, request.query),
        "GET messages/ID": () => getMessage(mailbox, id, request.query),
        "GET threads/ID": () => getThread(mailbox, id, request.query),
        "GET drafts": () => listDrafts(mailbox, request.query),
        "POST drafts": () => createDraft(server, email, request),
        "POST drafts/ID": () => sendDraft(server, email, request, now()),
        "DELETE drafts/ID": () => deleteDraft(mailbox, id),
      };
      return (await routes[`${request.method} ${kind}${id === "" ? "" : "/ID"}`]?.()) ?? notFound();
    },
  };
  return server;
}

function newestFirst(messages: readonly StoredMessage[]): StoredMessage[] {
  return messages.toSorted((a, b) => b.internalDate - a.internalDate);
}

function listMessages(mailbox: Mailbox, query: URLSearchParams): GoogleReply {
  const labelIds = query.getAll("labelIds");
  const q = query.get("q");
  const matches = gmailFilter(q ?? "");
  const found = newestFirst(mailbox.messages).filter(
    (message) =>
      labelIds.every((label) => message.labelIds.includes(label)) &&
      (q === null || (message.isIndexed && matches(message))),
  );
  const page = pageOf(found, query, { sizeParam: "maxResults", sizeDefault: 100 });
  if (page === null) return invalidPageToken();
  const { items, ...next } = page;
  const messages = items.map(({ id, threadId }) => ({ id, threadId }));
  return ok({ ...(messages.length > 0 ? { messages } : {}), ...next, resultSizeEstimate: found.length });
}

/** An id that cannot be one is another error than an unknown one. */
const refusedId = (id: string): GoogleReply =>
  /^[0-9a-f]{16}$/.test(id) ? notFound() : refuse(400, "invalidArgument", "Invalid id value");

function getMessage({ messages }: Mailbox, id: string, query: URLSearchParams): GoogleReply {
  const message = messages.find((each) => each.id === id);
  return message ? ok(view(message, query)) : refusedId(id);
}

function getThread({ messages }: Mailbox, id: string, query: URLSearchParams): GoogleReply {
  const thread = messages.filter(({ threadId }) => threadId === id);
  return thread.length === 0 ? refusedId(id) : ok({ id, messages: thread.map((message) => view(message, query)) });
}

function view(message: StoredMessage, query: URLSearchParams) {
  const { id, threadId, labelIds, internalDate, email, raw } = message;
  const snippet = escapeHtml((email.text ?? "").slice(0, 200));
  const head = { id, threadId, labelIds, internalDate: `${internalDate}`, snippet, sizeEstimate: raw.length };
  const format = query.get("format") ?? "full";
  if (format === "minimal") return head;
  if (format === "raw") return { ...head, raw: raw.toString("base64url") };
  const wanted = query.getAll("metadataHeaders").map((name) => name.toLowerCase());
  const headers = headersOf(raw).filter(({ name }) => wanted.length === 0 || wanted.includes(name.toLowerCase()));
  const parts = email.attachments.map(({ filename, mimeType }, i) => ({ partId: `${i + 1}`, filename, mimeType }));
  const text = { partId: "0", filename: "", mimeType: "text/plain" };
  return { ...head, payload: { filename: "", headers, ...(format === "full" ? { parts: [text, ...parts] } : {}) } };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** The headers as they were sent, unfolded. */
function headersOf(raw: Buffer): { name: string; value: string }[] {
  const [head = ""] = raw.toString("utf8").split(/\r?\n\r?\n/, 1);
  return head
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/)
    .map((line) => ({ name: line.slice(0, line.indexOf(":")), value: line.slice(line.indexOf(":") + 1).trim() }));
}

function listDrafts({ drafts }: Mailbox, query: URLSearchParams): GoogleReply {
  const page = pageOf(drafts, query, { sizeParam: "maxResults", sizeDefault: 100 });
  if (page === null) return invalidPageToken();
  const { items, ...next } = page;
  return ok({ drafts: items.map(({ id, message }) => ({ id, message: idsOf(message) })), ...next });
}

const idsOf = ({ id, threadId, labelIds }: StoredMessage) => ({ id, threadId, labelIds });

async function createDraft(server: GmailServer, email: string, { body }: GoogleRequest): Promise<GoogleReply> {
  const { raw, threadId } = (body.message ?? {}) as { raw?: string; threadId?: string };
  if (!raw) return refuse(400, "invalidArgument", "'raw' RFC822 payload message string or uploading message required");
  const bytes = Buffer.from(raw, "base64url");
  const message = await store(server, email, bytes, { labelIds: ["DRAFT"], internalDate: Date.now(), threadId });
  const draft = { id: `r${randomBytes(6).readUIntBE(0, 6)}`, message };
  server.mailboxOf(email).drafts.unshift(draft);
  return ok({ id: draft.id, message: idsOf(message) });
}

function deleteDraft(mailbox: Mailbox, id: string): GoogleReply {
  const draft = mailbox.drafts.find((each) => each.id === id);
  if (!draft) return notFound();
  remove(mailbox, draft);
  return { status: 204, body: null };
}

function remove(mailbox: Mailbox, draft: Mailbox["drafts"][number]): void {
  mailbox.drafts.splice(mailbox.drafts.indexOf(draft), 1);
  mailbox.messages.splice(mailbox.messages.indexOf(draft.message), 1);
}

/** The draft becomes a message with another id, and another Message-ID, as at Google. */
async function sendDraft(
  server: GmailServer,
  email: string,
  { body }: GoogleRequest,
  nowMs: number,
): Promise<GoogleReply> {
  const mailbox = server.mailboxOf(email);
  const draft = mailbox.drafts.find(({ id }) => id === body.id);
  if (!draft) return notFound();
  const { to = [], cc = [], bcc = [] } = draft.message.email;
  const recipients = addressesOf([...to, ...cc, ...bcc]);
  if (recipients.length === 0) return refuse(400, "invalidArgument", "Recipient address required");
  if (recipients.some((address) => address.endsWith("@refused.example"))) {
    return refuse(400, "invalidArgument", "Invalid To header");
  }
  remove(mailbox, draft);
  const own = `<CA${randomBytes(12).toString("base64url")}@mail.gmail.com>`;
  const raw = Buffer.from(
    draft.message.raw.toString("latin1").replace(/^Message-ID:.*$/im, `Message-ID: ${own}`),
    "latin1",
  );
  const options = { labelIds: ["SENT"], internalDate: nowMs, threadId: draft.message.threadId };
  const message = await store(server, email, raw, options);
  server.sent.push({ from: email, subject: message.email.subject ?? "", raw });
  return ok(idsOf(message));
}

interface StoreOptions {
  labelIds: string[];
  internalDate: number;
  threadId?: string | undefined;
}

async function store(server: GmailServer, email: string, raw: Buffer, options: StoreOptions): Promise<StoredMessage> {
  const mailbox = server.mailboxOf(email);
  const parsed = await PostalMime.parse(raw);
  const id = newId();
  const earlier = `${parsed.references ?? ""} ${parsed.inReplyTo ?? ""}`;
  const answered = mailbox.messages.find(({ messageId }) => messageId !== "" && earlier.includes(messageId));
  const [from, to] = [textOf(parsed.from ? [parsed.from] : []), textOf([...(parsed.to ?? []), ...(parsed.cc ?? [])])];
  const subject = parsed.subject ?? "";
  const message: StoredMessage = {
    ...{ id, threadId: options.threadId ?? answered?.threadId ?? id, labelIds: options.labelIds },
    ...{ internalDate: options.internalDate, raw, email: parsed, messageId: parsed.messageId ?? "" },
    attachmentCount: parsed.attachments.length,
    searchText: { from, to, subject, all: `${subject} ${parsed.text ?? ""} ${from} ${to}` },
    isIndexed: !server.isIndexBehind,
  };
  mailbox.messages.push(message);
  return message;
}

function textOf(addresses: readonly Address[]): string {
  return addresses.map(({ name, address }) => `${name} ${address}`).join(" ");
}

function addressesOf(addresses: readonly Address[]): string[] {
  return addresses.map(({ address }) => address ?? "").filter((address) => address !== "");
}
