import { hash as hashNatively } from "node:crypto";
import { type Entry, type EntryBody, type EntryHead, protocolVersion, type SealedEntry, sealEntry } from "@troupe/core";

/** An entry as it will be fed, with the text that is stored of it. */
export type WrittenEntry = Entry & SealedEntry;

/** Where a run's journal ends, for whoever writes on. */
export interface ChainEnd {
  index: number;
  hash: string | null;
}

export interface Writer {
  session: string;
  run: string;
  epoch: number;
  host: string;
  at: number;
}

/** Seals facts one after another onto the end of a run's chain. */
export function sealChain(writer: Writer, end: ChainEnd, bodies: readonly EntryBody[]): WrittenEntry[] {
  let prev = end.hash;
  return bodies.map((body, i) => {
    const head: EntryHead = { v: protocolVersion, ...writer, index: end.index + 1 + i, prev };
    const { hash, text } = sealEntry(head, body, sha256);
    prev = hash;
    return { ...head, ...body, hash, text };
  });
}

/** Hex SHA-256, by the platform. */
export function sha256(text: string): string {
  return hashNatively("sha256", text);
}
