// Runs in a mount namespace of its own: `full-disk-program.ts FOLDER`. It mounts a small disk there, with the home and two
// workspaces. An agent fills it. Prints what happened as JSON.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@troupe/core";
import { systemIds } from "@troupe/core/system";
import { openSqliteJournal } from "@troupe/recorder";
import { replaySession } from "@troupe/runtime";
import { createTroupe, type TroupeEvent } from "troupe";
import { readHomeFeed, withReserve } from "troupe/internal";
import { until } from "../harness/until.ts";

const [folder = ""] = process.argv.slice(2);
const disk = join(folder, "disk");
const megabytes = 64;
const freeMb = 16;

const scenario = `name: full-disk
description: one agent fills the disk, others work
agents:
  main:
    - when: { task: flood }
      steps:
        - calls: [{ tool: shell, args: { command: "while :; do head -c 1000000 /dev/zero >> big; sleep 0.02; done" } }]
        - { text: "{{result.0.output}}" }
    - when: { task: look }
      steps:
        - calls: [{ tool: ls, args: {} }]
        - { text: "{{result.0.output}}" }
    - when: { task: burst }
      steps:
        - calls: [{ tool: shell, args: { command: "yes > burst" } }]
        - { text: "{{result.0.output}}" }
    - steps:
        - calls: [{ tool: write, args: { path: note.txt, content: kept } }]
        - { text: "{{result.0.output}}" }
`;

await mkdir(disk);
execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
const [home, flooded, other] = [join(disk, "home"), join(disk, "flooded"), join(disk, "other")];
await Promise.all([home, flooded, other].map((each) => mkdir(each)));
await writeFile(join(home, "policy.yaml"), `disk: { freeMb: ${freeMb} }\nrisk: { high: allow }\n`);
await writeFile(join(folder, "answers.yaml"), scenario);
const options = {
  model: `scripted/${join(folder, "answers.yaml")}`,
  agents: [{ id: "main", description: "Works.", prompt: "You work.", tools: ["shell", "write", "ls"] }],
  workspace: other,
  env: { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: home },
};

const freeMbNow = async (): Promise<number> => {
  const { bavail, bsize } = await statfs(disk);
  return (bavail * bsize) / 1024 ** 2;
};

const troupe = await createTroupe(options);
const events: TroupeEvent[] = [];
const onEvent = (event: TroupeEvent): void => void events.push(event);

const flood = await troupe.run("flood", { workspace: flooded });
const freeAfterFlood = await freeMbNow();

const waiting = troupe.run("write", { onEvent });
const warnings = async (): Promise<readonly string[]> => (await troupe.service.status()).warnings ?? [];
await until(async () => (await warnings()).length > 0);
const [warning = ""] = await warnings();
// A session that only reads goes on.
const look = await troupe.run("look", { workspace: flooded });
const isWrittenWhileFull = existsSync(join(other, "note.txt"));
await rm(join(flooded, "big"));
const freedAt = performance.now();
const written = await waiting;
const resumedMs = performance.now() - freedAt;
await until(async () => (await warnings()).length === 0);

// Faster than any look at the disk: it takes the whole disk, also the part that has to stay free.
const running = troupe.run("burst");
// Without a reserve its outcome cannot be stored until there is space.
const removal = setTimeout(() => void rm(join(other, "burst")), 20_000);
const burst = await running;
clearTimeout(removal);
await rm(join(other, "burst"), { force: true });
await troupe.close();

const again = await createTroupe(options);
const sessions = await again.sessions.list();
await again.close();
const divergences: unknown[] = [];
for (const { session } of sessions) {
  const from = await readHomeFeed({ path: home }, session);
  divergences.push((await replaySession({ session, from })).divergence);
}
/** Appends to a journal on a disk without a free block. */
async function useReserve() {
  const small = join(folder, "small");
  await mkdir(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=32m", "tmpfs", small]);
  const file = join(small, "disk-reserve");
  const plain = await openSqliteJournal({ file: join(small, "journal.db") });
  const journal = await withReserve(plain, { file, logger: silentLogger });
  const session = systemIds().next();
  const item = (text: string) =>
    ({ v: 1, at: 1, session, kind: "run.steered", run: session, text, by: "a person" }) as const;
  await journal.appendInbox(item("before"));
  const hadReserve = existsSync(file);
  await fill(join(small, "ballast"));
  const text = "x".repeat(200_000);
  const plainError = await plain.appendInbox(item(text)).then(
    () => "none",
    (error: Error) => error.message,
  );
  // An error shows in the number of items.
  await journal.appendInbox(item(text)).catch(() => {});
  const items = await journal.readInbox(session);
  const isUsed = !existsSync(file);
  await journal.close();
  return { hadReserve, plainError, isUsed, items: items.length };
}

/** Leaves no block on the disk of a file. */
async function fill(path: string): Promise<void> {
  await using file = await open(path, "w");
  const block = Buffer.alloc(64 * 1024, 1);
  for (let size = block.byteLength; size >= 1; ) {
    const written = await file.write(block.subarray(0, size)).then(
      ({ bytesWritten }) => bytesWritten,
      () => 0,
    );
    if (written < size) size = Math.floor(size / 2);
  }
}

process.stdout.write(
  JSON.stringify({
    ...{ flood: flood.summary, freeAfterFlood, warning, look: look.summary, isWrittenWhileFull, resumedMs },
    ...{ written: written.status, burst: burst.summary, reserve: await useReserve() },
    ...{ statuses: sessions.map(({ status }) => status), divergences },
  }),
);
