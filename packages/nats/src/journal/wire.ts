import { hash } from "node:crypto";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { type Blobs, InboxItem, TroupeError } from "@troupe/core";
import { entryIsIntact, inlineBytesMax, protocolVersion, type RunAppend, tooLarge } from "@troupe/core/internal";
import { z } from "zod";
import { blobHeader, envelopeBytesMax, versionHeader } from "../jetstream/envelope.ts";
import { expectedSequenceHeader } from "../jetstream/publisher.ts";
import type { HeaderFields, StoredMessage } from "../jetstream/stored-messages.ts";
import { itemsPerMessageMax } from "../streams/positions.ts";

/** Index of the first and of the last entry in a message. */
const firstHeader = "Troupe-First";
const lastHeader = "Troupe-Last";
/** "1" if the last entry settles the run. */
const terminalHeader = "Troupe-Terminal";
/** Number of an inbox item within its session. */
const seqHeader = "Troupe-Seq";
/** The run that an inbox item requests. */
const opensHeader = "Troupe-Opens";
/** Unique id of one write of an inbox item: two items may be equal byte for byte. */
const writeHeader = "Troupe-Write";

export interface EntriesHeader {
  kind: "entries";
  /** Sequence of the previous message on this subject; 0 for the first one. */
  previousSequence: number;
  first: number;
  last: number;
  terminal: boolean;
  /** Hash of the body; empty if the message contains the body. */
  blob: string;
}

export interface InboxHeader {
  kind: "inbox";
  /** Sequence of the previous message on this subject; 0 for the first one. */
  previousSequence: number;
  seq: number;
  /** Empty if the item requests no run. */
  opens: string;
  write: string;
  /** Hash of the body; empty if the message contains the body. */
  blob: string;
}

/** A message without any effect: it was not written by troupe, or does not fit its place. */
export interface InvalidMessage {
  kind: "invalid";
  /** A fixed text, for the counter of invalid messages. */
  reason: string;
}

export const outOfSequence: InvalidMessage = { kind: "invalid", reason: "its number does not follow the one before" };

function invalid(reason: string): InvalidMessage {
  return { kind: "invalid", reason };
}

/**
 * Reads the headers of a message. Troupe writes every message by compare-and-set, and the server keeps the header with the
 * expected sequence. A replayed copy of a message either lacks this header, or was refused by the server.
 */
export function readHeader(fields: HeaderFields): EntriesHeader | InboxHeader | InvalidMessage {
  const version = wholeNumber(fields.get(versionHeader));
  if (version === null) return invalid("it was not written by troupe");
  if (version > protocolVersion) return invalid("it has a newer version of the protocol");
  const previousSequence = wholeNumber(fields.get(expectedSequenceHeader));
  if (previousSequence === null) return invalid("it was written without compare-and-set");
  const blob = fields.get(blobHeader);
  const seq = wholeNumber(fields.get(seqHeader));
  if (seq !== null) {
    const [opens, write] = [fields.get(opensHeader), fields.get(writeHeader)];
    return { kind: "inbox", previousSequence, seq, opens, write, blob };
  }
  const [first, last] = [wholeNumber(fields.get(firstHeader)), wholeNumber(fields.get(lastHeader))];
  if (first === null || last === null || last < first || last - first >= itemsPerMessageMax) {
    return invalid("its headers are invalid");
  }
  return { kind: "entries", previousSequence, first, last, terminal: fields.get(terminalHeader) === "1", blob };
}

function wholeNumber(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The texts of a message's entries. Rejects if a blob cannot be read. */
export async function readEntries(
  message: StoredMessage,
  header: EntriesHeader,
  { session, run }: { session: string; run: string },
  blobs: Blobs,
): Promise<string[] | InvalidMessage> {
  const text = toText(await bodyOf(message, header, blobs));
  if (text === null) return invalid("it is not UTF-8");
  const texts = text.split("\n");
  if (texts.length !== header.last - header.first + 1) return invalid("its headers give another number of entries");
  const areValid = texts.every((entry, i) => isEntryAt(entry, { session, run, index: header.first + i }));
  return areValid ? texts : invalid("it has an entry that does not belong to this run");
}

/** The text and value of an inbox item. Rejects if a blob cannot be read. */
export async function readItem(
  message: StoredMessage,
  header: InboxHeader,
  session: string,
  blobs: Blobs,
): Promise<{ kind: "item"; text: string; item: InboxItem } | InvalidMessage> {
  const text = toText(await bodyOf(message, header, blobs));
  if (text === null) return invalid("it is not UTF-8");
  const { success, data } = InboxItem.safeParse(parseJson(text));
  if (!success || data.session !== session) return invalid("it is not an item of this inbox");
  return { kind: "item", text, item: data };
}

/** The part of an entry that must match the subject. The entry's hash covers the rest. */
const EntryLocation = z.object({
  v: z.literal(protocolVersion),
  session: z.string(),
  run: z.string(),
  index: z.int(),
});

function isEntryAt(text: string, { session, run, index }: { session: string; run: string; index: number }): boolean {
  if (!entryIsIntact(text, sha256)) return false;
  // Hosts write the fields in this order. Parsing the whole entry would double the cost of reading it.
  const usualStart = `{"v":${protocolVersion},"session":"${session}","run":"${run}","index":${index},`;
  if (text.startsWith(usualStart)) return true;
  const { success, data } = EntryLocation.safeParse(parseJson(text));
  return success && data.session === session && data.run === run && data.index === index;
}

async function bodyOf({ bytes }: StoredMessage, { blob }: { blob: string }, blobs: Blobs): Promise<Uint8Array> {
  if (blob === "") return bytes;
  const found = await blobs.get(blob);
  if (found) return found;
  throw new TroupeError("DATABASE_DAMAGED", `the journal refers to the blob ${blob}, which is missing`, {
    fix: "restore the object store from a backup, or the journal from the recorder's copy",
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function toText(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Node's own SHA-256: four times as fast as the portable one in core. */
function sha256(text: string): string {
  return hash("sha256", text);
}

export interface MessageBody {
  bytes: Uint8Array;
  /** Hash of the body; empty if `bytes` are the body. */
  blob: string;
}

/** Puts a body that is too large for a message into a blob. */
export async function toBody(text: string, blobs: Blobs, payloadBytesMax: number): Promise<MessageBody> {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= Math.min(inlineBytesMax, payloadBytesMax - envelopeBytesMax)) return { bytes, blob: "" };
  return { bytes: new Uint8Array(), blob: await blobs.put(bytes) };
}

/** Joins entries, one per line. An entry has no line break outside of its strings. */
export function joinEntries({ run, entries }: RunAppend): string {
  if (entries.length > itemsPerMessageMax) throw tooLarge(entries.length, itemsPerMessageMax);
  if (entries.some(({ text }) => text.includes("\n"))) {
    throw new TroupeError("INVALID_MESSAGE", `an entry of run ${run} has a line break outside of its strings`);
  }
  return entries.map(({ text }) => text).join("\n");
}

export function entryHeaders({ after, entries, terminal }: RunAppend, blob: string, expectedSequence: number): MsgHdrs {
  const fields = commonHeaders(expectedSequence, blob);
  fields.append(firstHeader, String(after + 1));
  fields.append(lastHeader, String(after + entries.length));
  if (terminal) fields.append(terminalHeader, "1");
  return fields;
}

export function inboxHeaders(
  { seq, opens, write, blob }: Omit<InboxHeader, "kind" | "previousSequence">,
  expectedSequence: number,
): MsgHdrs {
  const fields = commonHeaders(expectedSequence, blob);
  fields.append(seqHeader, String(seq));
  fields.append(writeHeader, write);
  if (opens !== "") fields.append(opensHeader, opens);
  return fields;
}

function commonHeaders(expectedSequence: number, blob: string): MsgHdrs {
  const fields = headers();
  fields.append(versionHeader, String(protocolVersion));
  fields.append(expectedSequenceHeader, String(expectedSequence));
  if (blob !== "") fields.append(blobHeader, blob);
  return fields;
}
