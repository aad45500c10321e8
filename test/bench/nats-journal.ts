/**
 * Appends of 1 KB per second over NATS, compared with the client's own publish and acknowledge in the same process on
 * the same server. With `always` the server syncs before each acknowledgement.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { silentLogger } from "@troupe/core";
import { type SealedEntry, sealEntry } from "@troupe/core/internal";
import { systemClock, systemIds } from "@troupe/core/system";
import { openNatsLink, openNatsPorts } from "@troupe/nats";
import { startNatsServer } from "../harness/nats-server.ts";

export interface NatsJournalCost {
  /** Many runs at once, each one append after the other. */
  manyPerSecond: number;
  manyFloorPerSecond: number;
  manyRatio: number;
  /** One run, one append after the other. */
  onePerSecond: number;
  oneFloorPerSecond: number;
  oneRatio: number;
  readRunMs: number;
}

const runsAtOnce = 256;
const rounds = 5;

async function measure(sync: string | undefined): Promise<NatsJournalCost> {
  const folder = await mkdtemp(path.join(tmpdir(), "troupe-bench-"));
  const flags = sync === "always" ? ["--config", await alwaysSync(folder)] : [];
  const server = await startNatsServer({ flags });
  const link = await openNatsLink({ servers: server.url });
  const { journal, subjects, close } = await openNatsPorts({ link, clock: systemClock(), logger: silentLogger });
  const client = jetstream(link.connection);
  const ids = systemIds();
  const words = "x".repeat(750);
  const entryOf = (session: string, run: string, index: number): SealedEntry =>
    sealEntry(
      { v: 1, session, run, index, epoch: 1, host: "host", at: 1_000, prev: null },
      { kind: "timer.fired", timer: words },
    );

  /**
   * Appends a number of entries to each of a number of runs. Entries are sealed beforehand, because sealing is not part
   * of the journal.
   */
  const appends = async (runs: number, entries: number): Promise<number> => {
    const session = ids.next();
    const prepared = Array.from({ length: runs }, () => {
      const run = ids.next();
      return { run, entries: Array.from({ length: entries }, (_, index) => entryOf(session, run, index)) };
    });
    return await perSecond(runs * entries, () =>
      Promise.all(
        prepared.map(async ({ run, entries }) => {
          for (const entry of entries) {
            await journal.append({ session, run, after: entry.index - 1, entries: [entry], terminal: false });
          }
        }),
      ),
    );
  };
  const bare = async (runs: number, entries: number): Promise<number> => {
    const session = ids.next();
    const bytes = Buffer.from(entryOf(session, session, 0).text);
    return await perSecond(runs * entries, () =>
      Promise.all(
        Array.from({ length: runs }, async () => {
          const subject = subjects.journal(session, ids.next());
          for (let index = 0; index < entries; index += 1) await client.publish(subject, bytes);
        }),
      ),
    );
  };
  const readRun = async (): Promise<number> => {
    const [session, run] = [ids.next(), ids.next()];
    for (let index = 0; index < 20; index += 1) {
      const entries = [entryOf(session, run, index)];
      await journal.append({ session, run, after: index - 1, entries, terminal: false });
    }
    return (
      1_000 /
      (await perSecond(200, async () => {
        for (let i = 0; i < 200; i += 1) await journal.readRun(session, run);
      }))
    );
  };

  const [many, one] = sync === "always" ? [10, 500] : [80, 2_000];
  await appends(runsAtOnce, 4);
  await bare(runsAtOnce, 4);
  const samples: { many: number; manyFloor: number; one: number; oneFloor: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    samples.push({
      manyFloor: await bare(runsAtOnce, many),
      many: await appends(runsAtOnce, many),
      oneFloor: await bare(1, one),
      one: await appends(1, one),
    });
  }
  const readRunMs = await readRun();
  await close();
  await link.close();
  await server.stop();
  await rm(folder, { recursive: true });
  const of = (pick: (sample: (typeof samples)[number]) => number): number => median(samples.map(pick));
  return {
    manyPerSecond: of((each) => each.many),
    manyFloorPerSecond: of((each) => each.manyFloor),
    manyRatio: of((each) => each.many / each.manyFloor),
    onePerSecond: of((each) => each.one),
    oneFloorPerSecond: of((each) => each.oneFloor),
    oneRatio: of((each) => each.one / each.oneFloor),
    readRunMs,
  };
}

/** The setting stands in a file; there is no flag for it. */
async function alwaysSync(folder: string): Promise<string> {
  const file = path.join(folder, "server.conf");
  await writeFile(file, "jetstream { sync_interval: always }\n");
  return file;
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - startedMs);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

console.log(JSON.stringify(await measure(process.argv[2])));
