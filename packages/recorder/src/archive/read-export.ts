import { hash as hashOf } from "node:crypto";
import { type FeedItem, InboxItem, TroupeError } from "@troupe/core";
import { decodeText, Id, type JournalSession } from "@troupe/core/internal";
import { z } from "zod";
import { createCopyInspector } from "../record/journal-copy.ts";
import { chainOf, exportFormat, exportVersion, unseal } from "./export-lines.ts";

/** The content of an export that is complete and intact. */
export interface SessionExport {
  journal: JournalSession;
  blobs: readonly Uint8Array[];
}

const Count = z.int().nonnegative();
const Line = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("header"),
    format: z.literal(exportFormat),
    version: z.int(),
    session: Id,
    troupe: z.string(),
  }),
  z.object({ kind: z.literal("inbox"), seq: z.int().positive(), text: z.string() }),
  z.object({ kind: z.literal("entry"), run: Id, index: Count, text: z.string() }),
  z.object({ kind: z.literal("blob"), hash: z.string(), base64: z.base64() }),
  z.object({ kind: z.literal("end"), items: Count, blobs: Count }),
]);
type Line = z.infer<typeof Line>;

/**
 * Reads an export and verifies it: the hash of each line, the hash chain of each run, the order of the inbox, and the bytes of
 * each blob. Throws `INVALID_EXPORT` with the first line or entry that is wrong.
 *
 * @example
 * const { journal } = readSessionExport(await readFile("session.jsonl", "utf8"));
 */
export function readSessionExport(text: string): SessionExport {
  const lines = verifiedLines(text);
  const [header, ...rest] = lines;
  if (header?.kind !== "header") throw invalid("it does not begin with the header of an export");
  if (header.version > exportVersion) {
    throw invalid(`it has version ${header.version}, and this troupe reads versions up to ${exportVersion}`, newer);
  }
  const end = rest.pop();
  const items = rest.flatMap((line, i) =>
    line.kind === "inbox" || line.kind === "entry" ? [toItem(line, i, header)] : [],
  );
  const blobs = rest.flatMap((line) => (line.kind === "blob" ? [bytesOf(line)] : []));
  if (end?.kind !== "end" || end.items !== items.length || end.blobs !== blobs.length) {
    throw invalid(`it ends early, behind line ${lines.length}`);
  }
  checkChains(items);
  return { journal: { session: header.session, items: items.map(toJournalItem), runs: runsOf(items) }, blobs };
}

const newer = "npm install -g @troupe/cli@latest";

function verifiedLines(text: string): Line[] {
  let chain = "";
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((line, i) => {
    const sealed = unseal(line);
    if (!sealed) throw invalid(`line ${i + 1} ${i === all.length - 1 ? "is cut off" : "has no hash"}`);
    chain = chainOf(chain, sealed.open);
    if (chain !== sealed.chain) throw invalid(`line ${i + 1}${nameOf(sealed.open)} does not match its hash chain`);
    const parsed = Line.safeParse(parseJson(sealed.open));
    if (parsed.success) return parsed.data;
    throw invalid(`line ${i + 1} is not a line of an export`);
  });
}

/** The entry in a line, for the error about it. */
function nameOf(open: string): string {
  const line = Line.safeParse(parseJson(open));
  if (line.data?.kind === "entry") return ` (entry ${line.data.index} of run ${line.data.run})`;
  return line.data?.kind === "inbox" ? ` (item ${line.data.seq} of the inbox)` : "";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toItem(line: Line & { kind: "inbox" | "entry" }, i: number, { session }: { session: string }): FeedItem {
  const position = i + 1;
  if (line.kind === "entry") {
    return { position, kind: "entry", session, run: line.run, index: line.index, text: line.text };
  }
  const item = decodeInbox(line.text, line.seq);
  if (item.session !== session) throw invalid(`item ${line.seq} of the inbox belongs to another session`);
  return { position, kind: "inbox", session, seq: line.seq, text: line.text };
}

function decodeInbox(text: string, seq: number): InboxItem {
  try {
    return decodeText(InboxItem, text, "inbox item");
  } catch (cause) {
    throw invalid(`item ${seq} of the inbox cannot be read`, undefined, cause);
  }
}

function bytesOf({ hash, base64 }: Line & { kind: "blob" }): Uint8Array {
  const bytes = Buffer.from(base64, "base64");
  if (hashOf("sha256", bytes) !== hash) throw invalid(`the bytes of the blob ${hash} do not match its hash`);
  return bytes;
}

/** Every run is complete and has settled: a copy of an unfinished run would be continued twice. */
function checkChains(items: readonly FeedItem[]): void {
  const inspector = createCopyInspector();
  for (const item of items) inspector.add(item);
  const { damage, open } = inspector.result();
  const [worst] = damage;
  if (worst) {
    const what = worst.run === null ? `item ${worst.index} of the inbox` : `entry ${worst.index} of run ${worst.run}`;
    throw invalid(`${what} ${worst.reason}`);
  }
  const requested = items.flatMap((item) => (item.kind === "inbox" ? rootRunOf(item.text) : []));
  const known = new Set(items.flatMap((item) => (item.kind === "entry" ? [item.run] : [])));
  if (open > 0 || requested.length === 0 || requested.some((run) => !known.has(run))) {
    throw invalid(
      "its session has not settled",
      "export it again when it has settled, or cancel it: troupe cancel SESSION",
    );
  }
}

function rootRunOf(text: string): string[] {
  const item = decodeText(InboxItem, text, "inbox item");
  return item.kind === "session.requested" || item.kind === "session.continued" ? [item.request.run] : [];
}

function toJournalItem(item: FeedItem): JournalSession["items"][number] {
  if (item.kind === "inbox") return { run: null, index: item.seq, text: item.text };
  return { run: item.run, index: item.index, text: item.text };
}

function runsOf(items: readonly FeedItem[]): JournalSession["runs"] {
  const last = new Map<string, number>();
  for (const item of items) if (item.kind === "entry") last.set(item.run, item.index);
  return [...last].map(([run, lastIndex]) => ({ run, lastIndex, terminal: true }));
}

function invalid(
  why: string,
  fix = "export the session again: troupe sessions export SESSION",
  cause?: unknown,
): TroupeError {
  return new TroupeError("INVALID_EXPORT", `this is not a complete export of a session: ${why}`, { fix, cause });
}
