import { cp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Blobs, type FeedItem, type Journal, TroupeError } from "@troupe/core";
import type { JournalArchive, SessionArchive } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import { type RecordStore, readJournalItems, readSessionExport } from "@troupe/recorder";
import { blobsOf, hashesIn } from "@troupe/recorder/internal";
import { forkSession, type HostDeps, recoverOpenRuns } from "@troupe/runtime";
import { workbenchFolder } from "@troupe/tools";
import { type Home, homeFiles } from "../home/home.ts";
import { readHomeFeed } from "../home/record.ts";

export interface SessionArchiveOptions {
  home: Home;
  deps: Pick<HostDeps, "clock" | "queue" | "redact">;
  journal: Journal;
  /** The store itself: an import must keep every byte. */
  blobs: Blobs;
  record: Pick<RecordStore, "remove">;
}

/** Imports, forks and removes the sessions of a home. Needs the home's lock. */
export function createSessionArchive({ home, deps, journal, blobs, record }: SessionArchiveOptions): SessionArchive {
  const files = homeFiles(home);
  const stored = (): JournalArchive => {
    if (journal.archive) return journal.archive;
    throw new TroupeError("USAGE", "sessions on a NATS server cannot be imported, forked or removed one by one", {
      fix: "export it, and import it into another home without NATS: TROUPE_HOME=FOLDER troupe sessions import FILE",
    });
  };
  return {
    async import(text) {
      const archive = stored();
      const exported = readSessionExport(text);
      const { session, items, runs } = exported.journal;
      // An entry names blobs, so these come first.
      for (const bytes of exported.blobs) await blobs.put(bytes);
      const added = await archive.add(exported.journal);
      if (added === "conflict") throw conflict(session);
      const outcome = added === "added" ? "imported" : "known";
      return { session, outcome, runs: runs.length, items: items.length, blobs: exported.blobs.length };
    },
    async fork(session, { run, step, task, by }) {
      const archive = stored();
      const feed = await readHomeFeed(home, session);
      const newSession = systemIds().next();
      const safe = (text: string): string => deps.redact?.text(text) ?? text;
      const message = task === null ? null : safe(task);
      const request = { feed, session, run, step, newSession, task: message, by: safe(by), atMs: deps.clock.now() };
      const { journal: copy, root, from, entries } = forkSession(request);
      await copyFiles(workbenchFolder(files.memory, session), workbenchFolder(files.memory, newSession));
      await archive.add(copy);
      await recoverOpenRuns(journal, deps.queue);
      return { session: newSession, run: root, from, entries };
    },
    async remove(sessions) {
      const archive = stored();
      const open = new Set((await journal.openRuns()).map((each) => each.session));
      const unsettled = sessions.filter((session) => open.has(session));
      const wanted = new Set(sessions.filter((session) => !open.has(session)));
      const candidates = await blobsOfSessions(home, [...wanted], blobs);
      // A session that has begun another turn since is kept.
      await archive.remove([...wanted]);
      const gone = (await archive.removed()).filter(({ session }) => wanted.has(session));
      record.remove(gone);
      const removed = gone.map(({ session }) => session);
      for (const session of removed) await rm(workbenchFolder(files.memory, session), { recursive: true, force: true });
      const unused = await withoutUsed(candidates, { journal: files.journal, blobs, memory: files.memory });
      for (const hash of unused) await rm(join(files.blobs, hash.slice(0, 2), hash), { force: true });
      const why = "it has not settled";
      return { removed, kept: unsettled.map((session) => ({ session, why })), blobs: unused.size };
    },
  };
}

async function blobsOfSessions(home: Home, sessions: readonly string[], blobs: Blobs): Promise<Set<string>> {
  const found = new Set<string>();
  for (const session of sessions) {
    const bench = await textsBelow(workbenchFolder(homeFiles(home).memory, session));
    const texts = [...(await readHomeFeed(home, session)), ...bench];
    for await (const [hash] of blobsOf(texts, intactOnly(blobs))) found.add(hash);
  }
  return found;
}

/** A damaged blob is removed like every other. */
function intactOnly(blobs: Blobs): Pick<Blobs, "get"> {
  return { get: (hash) => blobs.get(hash).catch(() => new Uint8Array()) };
}

/** The candidates that no stored session and no file of the memory names. */
async function withoutUsed(
  candidates: Set<string>,
  { journal, blobs, memory }: { journal: string; blobs: Blobs; memory: string },
): Promise<Set<string>> {
  if (candidates.size === 0) return candidates;
  const unused = new Set(candidates);
  const keep = async (texts: readonly { text: string }[]): Promise<void> => {
    const named = texts.filter(({ text }) => hashesIn(text).some((hash) => candidates.has(hash)));
    for await (const [hash] of blobsOf(named, intactOnly(blobs))) unused.delete(hash);
  };
  for await (const batch of readJournalItems({ file: journal })) await keep(await withLists(batch, blobs));
  await keep(await textsBelow(memory));
  return unused;
}

/** The items of a batch, each with the text of the lists that it names. */
async function withLists(batch: readonly FeedItem[], blobs: Blobs): Promise<{ text: string }[]> {
  const listed = batch.filter(({ text }) => /"(files|folderRef)":"[0-9a-f]{64}"/.test(text));
  const lists: { text: string }[] = [];
  for await (const [, bytes] of blobsOf(listed, intactOnly(blobs)))
    lists.push({ text: Buffer.from(bytes).toString("utf8") });
  return [...batch, ...lists];
}

async function textsBelow(folder: string): Promise<{ text: string }[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const texts: { text: string }[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => null))?.isFile()) texts.push({ text: await readFile(path, "utf8") });
  }
  return texts;
}

/** The fork sees the files that its original shared, and changes only its own list. */
async function copyFiles(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  });
}

function conflict(session: string): TroupeError {
  return new TroupeError("CONFLICT", `this home has another session with the id ${session}`, {
    fix: `troupe sessions rm ${session}, then import again`,
  });
}
