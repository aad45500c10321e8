// `power-cut-writer.ts FOLDER COMMITS`: appends entries to a journal, one commit at a time, and writes a line to the file `acks`
// for each commit that was acknowledged. A preloaded library records every write and sync.
import { openSync, writeSync } from "node:fs";
import path from "node:path";
import { type SealedEntry, sealEntry } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import { openSqliteJournal } from "@troupe/recorder";

const [folder = "", commits = "200"] = process.argv.slice(2);
const journal = await openSqliteJournal({ file: path.join(folder, "journal.db") });
const acks = openSync(path.join(folder, "acks"), "a");
const session = systemIds().next();
const runs = [systemIds().next(), systemIds().next()];
const last = new Map<string, SealedEntry>();

for (let i = 0; i < Number(commits); i += 1) {
  if (i % 3 === 2) {
    // Long texts, so that the log is moved into the database several times.
    const text = `${i} ${"x".repeat(45_000)}`;
    await journal.appendInbox({ v: 1, kind: "run.steered", at: i, session, run: session, text, by: "a person" });
  } else {
    const run = runs[i % 2] ?? "";
    const before = last.get(run) ?? null;
    const head = {
      v: 1 as const,
      session,
      run,
      index: (before?.index ?? -1) + 1,
      epoch: 1,
      host: "writer",
      at: i,
      prev: before?.hash ?? null,
    };
    const entry = sealEntry(head, { kind: "run.claimed", reason: "resumed" });
    await journal.append({ session, run, after: head.index - 1, entries: [entry], terminal: false });
    last.set(run, entry);
  }
  writeSync(acks, `${i}\n`);
}
// No orderly end: the power is cut.
process.kill(process.pid, "SIGKILL");
