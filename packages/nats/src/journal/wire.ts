import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { type Blobs, TroupeError } from "@troupe/core";
import { inlineBytesMax, protocolVersion, type RunAppend, tooLarge } from "@troupe/core/internal";
import { expectedHeader } from "../jetstream/publisher.ts";
import type { Fields } from "../jetstream/stored-messages.ts";
import { itemsPerMessageMax } from "../streams/positions.ts";

/** Which version of the protocol a message is in. What lacks it was not written by troupe. */
const versionHeader = "Troupe-Version";
/** Indexes of a message's entries. */
const firstHeader = "Troupe-First";
const lastHeader = "Troupe-Last";
/** The last of them settles the run. */
const terminalHeader = "Troupe-Terminal";
/** Number of an inbox item within its session. */
const seqHeader = "Troupe-Seq";
/** The run that an inbox item asks for. */
const opensHeader = "Troupe-Opens";
/** Tells one write of an inbox item from every other: two wishes may be the same, byte for byte. */
const writeHeader = "Troupe-Write";
/** Hash of the body, where that is too large for a message. */
const blobHeader = "Troupe-Blob";
/** What the subject and the headers take of the largest message. */
const envelopeBytesMax = 1024;

export interface EntriesHead {
  kind: "entries";
  /** Sequence of the message before it on its subject; 0 where there was none. */
  follows: number;
  first: number;
  last: number;
  terminal: boolean;
  blob: string;
}

export interface InboxHead {
  kind: "inbox";
  /** Sequence of the message before it on its subject; 0 where there was none. */
  follows: number;
  seq: number;
  /** Empty where it asks for no run. */
  opens: string;
  write: string;
  blob: string;
}

/** What the headers of a message say of it. */
export type Head = EntriesHead | InboxHead | { kind: "foreign"; why: string };

/**
 * Reads headers alone. Everything of ours was written by compare-and-set, and the server keeps the header that says so:
 * a message that somebody has sent a second time either lacks it, or was refused.
 */
export function readHead(fields: Fields): Head {
  const version = wholeNumber(fields.get(versionHeader));
  if (version === null) return { kind: "foreign", why: "it was not written by troupe" };
  if (version > protocolVersion) return { kind: "foreign", why: `it is of version ${version} of the protocol` };
  const follows = wholeNumber(fields.get(expectedHeader));
  if (follows === null) return { kind: "foreign", why: "it was written past the others" };
  const blob = fields.get(blobHeader);
  const seq = wholeNumber(fields.get(seqHeader));
  if (seq !== null) {
    return { kind: "inbox", follows, seq, opens: fields.get(opensHeader), write: fields.get(writeHeader), blob };
  }
  const [first, last] = [wholeNumber(fields.get(firstHeader)), wholeNumber(fields.get(lastHeader))];
  if (first === null || last === null || last < first || last - first >= itemsPerMessageMax) {
    return { kind: "foreign", why: "its headers make no sense" };
  }
  return { kind: "entries", follows, first, last, terminal: fields.get(terminalHeader) === "1", blob };
}

function wholeNumber(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export interface Body {
  bytes: Uint8Array;
  /** Empty where the bytes are the body. */
  blob: string;
}

/** Puts what is too large for a message into a blob. */
export async function toBody(text: string, blobs: Blobs, payloadBytesMax: number): Promise<Body> {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= Math.min(inlineBytesMax, payloadBytesMax - envelopeBytesMax)) return { bytes, blob: "" };
  return { bytes: new Uint8Array(), blob: await blobs.put(bytes) };
}

/** Entries as lines: none of them has a line break of its own. */
export function joinEntries({ run, entries }: RunAppend): string {
  if (entries.length > itemsPerMessageMax) throw tooLarge(entries.length, itemsPerMessageMax);
  if (entries.some(({ text }) => text.includes("\n"))) {
    throw new TroupeError("INVALID_MESSAGE", `an entry of run ${run} has a line break outside of its strings`);
  }
  return entries.map(({ text }) => text).join("\n");
}

export function entryHeaders(append: RunAppend, blob: string, afterSequence: number): MsgHdrs {
  const { after, entries, terminal } = append;
  const said = commonHeaders(afterSequence, blob);
  said.append(firstHeader, String(after + 1));
  said.append(lastHeader, String(after + entries.length));
  if (terminal) said.append(terminalHeader, "1");
  return said;
}

export function inboxHeaders(head: Omit<InboxHead, "kind" | "follows">, afterSequence: number): MsgHdrs {
  const said = commonHeaders(afterSequence, head.blob);
  said.append(seqHeader, String(head.seq));
  said.append(writeHeader, head.write);
  if (head.opens !== "") said.append(opensHeader, head.opens);
  return said;
}

function commonHeaders(afterSequence: number, blob: string): MsgHdrs {
  const said = headers();
  said.append(versionHeader, String(protocolVersion));
  said.append(expectedHeader, String(afterSequence));
  if (blob !== "") said.append(blobHeader, blob);
  return said;
}
