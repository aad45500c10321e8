import { createHash, hash } from "node:crypto";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem, ModelReply } from "@troupe/core";
import { EntryHead, sealEntry } from "@troupe/core/internal";
import { answeringModel, delegations } from "./bench-agents.ts";
import { openBenchHome } from "./bench-home.ts";

/**
 * Items of a realistic journal: one session that really ran (a root, two children, file reads) and as many copies as
 * make `count` items. Each copy has its own ids and newly sealed chains.
 */
export async function sessionCopies(count: number): Promise<FeedItem[]> {
  const session = await realSession();
  const items: FeedItem[] = [];
  for (let copy = 0; items.length < count; copy += 1) items.push(...copyOf(session, copy));
  return items.slice(0, count).map((item, i) => ({ ...item, position: i + 1 }));
}

async function realSession(): Promise<FeedItem[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-bench-files-"));
  const path = join(folder.path, "notes.md");
  await writeFile(path, "A note about the work in this folder.\n".repeat(8));
  const reading: Partial<ModelReply> = {
    text: "Let me see what was written down.",
    calls: [{ id: "read", name: "read", args: { path }, problem: null }],
  };
  const models = answeringModel(async ({ agent, step }) => {
    if (step === 1) return reading;
    return agent === "main" && step === 2 ? { calls: delegations(2) } : {};
  });
  const home = await openBenchHome({ models, capacity: 8 });
  await home.ask("read the notes, then have two others read them", 2);
  const items: FeedItem[] = [];
  const tail = await home.deps.journal.tail();
  const enough = new AbortController();
  for await (const batch of home.deps.journal.watch({ after: 0, signal: enough.signal })) {
    items.push(...batch);
    if ((items.at(-1)?.position ?? 0) >= tail) enough.abort();
  }
  await home.close();
  return items;
}

function copyOf(session: readonly FeedItem[], copy: number): FeedItem[] {
  const ids = new Set(session.map((item) => item.session));
  for (const item of session) if (item.kind === "entry") ids.add(item.run);
  const names = new Map([...ids].map((id) => [id, idAs(id, copy)]));
  const heads = new Map<string, string>();
  const renamed = (text: string): string => {
    let changed = text;
    for (const [before, after] of names) changed = changed.replaceAll(before, after);
    return changed;
  };
  return session.map((item) => {
    const copied = { ...item, session: renamed(item.session), text: renamed(item.text) };
    if (copied.kind !== "entry") return copied;
    const run = renamed(copied.run);
    const { hash: _, ...value } = JSON.parse(copied.text);
    const head = { ...EntryHead.parse(value), prev: heads.get(run) ?? null };
    const sealed = sealEntry(head, value, (text) => hash("sha256", text));
    heads.set(run, sealed.hash);
    return { ...copied, run, text: sealed.text };
  });
}

/** The same for the same copy; one that grows with time (version 7) does so from copy to copy as well. */
function idAs(id: string, copy: number): string {
  const hex = createHash("sha256").update(`${id} ${copy}`).digest("hex");
  const grows = id[14] === "7";
  const begin = grows ? (0x198_a000_0000 + copy).toString(16).padStart(12, "0") : hex.slice(0, 12);
  return `${begin.slice(0, 8)}-${begin.slice(8)}-${grows ? 7 : 8}${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
