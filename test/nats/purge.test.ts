import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem } from "@troupe/core";
import { silentLogger } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { purgeSettled, startPurging } from "@troupe/nats";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionCopies } from "../bench/session-copies.ts";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { contentOf, feedOf, writeInto } from "../restore/feeds.ts";
import { type PortsUnderTest, useNats } from "./ports.fixture.ts";
import { copyOf, type Recording, startRecording } from "./recording.fixture.ts";

/** A purge deletes settled sessions that every recorder has stored, and nothing else. */

const hasServer = findNatsServer() !== null;
const dayMs = 86_400_000;

describe.skipIf(!hasServer)(`purging a journal${hasServer ? "" : ` (${natsServerMissing})`}`, () => {
  const nats = useNats();
  let sessions: FeedItem[];
  let ids: string[];
  /** Two later sessions. */
  let more: FeedItem[];
  let folder: string;
  let ports: PortsUnderTest;
  let opened: (() => unknown)[];

  beforeAll(async () => {
    const all = await sessionCopies(150);
    const names = [...new Set(all.map(({ session }) => session))];
    const of = (some: string[]) => all.filter(({ session }) => some.includes(session));
    ids = names.slice(0, 3);
    // The last of them has not settled.
    sessions = of(ids).slice(0, -3);
    more = of(names.slice(3, 5));
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-nats-purge-"));
    ports = await nats().open();
    opened = [() => ports.dispose()];
    await writeInto(ports.journal, sessions);
  });
  afterEach(async () => {
    for (const close of opened.reverse()) await close();
    await rm(folder, { recursive: true, force: true });
  });

  const record = async (name: string): Promise<Recording> => {
    const recording = await startRecording(folder, name, ports.journal);
    opened.push(recording.close);
    await recording.recorder.caughtUp();
    return recording;
  };
  /** Sessions in the journal now, for a new reader. */
  const sessionsLeft = async (): Promise<string[]> => {
    const other = await nats().open({ namespace: ports.namespace });
    const left = new Set((await feedOf(other.journal)).map(({ session }) => session));
    await other.dispose();
    return ids.filter((id) => left.has(id));
  };
  const purge = (options: { olderThanMs?: number; dryRun?: boolean } = {}) =>
    purgeSettled({ journal: ports.journal, clock: { now: () => Date.now() }, olderThanMs: 0, ...options });
  const settled = (): string[] => ids.slice(0, -1);

  it("deletes settled and recorded sessions; the record keeps them, and open sessions stay", async () => {
    const recording = await record("troupe.db");
    await recording.recorder.stop();
    expect((await purge({ dryRun: true })).purged.map(({ session }) => session)).toEqual(settled());
    expect(await sessionsLeft()).toEqual(ids);
    expect(await purge()).toMatchObject({ lacked: [], lackedBy: [] });
    expect(await sessionsLeft()).toEqual(ids.slice(-1));
    expect(contentOf(await copyOf(recording))).toEqual(contentOf(sessions));
    recording.record.close();
    // The last recorded items are purged, and none has arrived since.
    const again = await record("troupe.db");
    await again.recorder.ready();
    expect(again.problems).toEqual([]);
    expect(await ports.journal.openRuns()).not.toEqual([]);
  });

  it("deletes no session that is not old enough", async () => {
    const { recorder } = await record("troupe.db");
    await recorder.stop();
    expect(await purge({ olderThanMs: dayMs })).toEqual({ purged: [], lacked: [], lackedBy: [] });
    expect(await sessionsLeft()).toEqual(ids);
  });

  it("deletes nothing if no recorder follows", async () => {
    const { purged, lacked, lackedBy } = await purge();
    expect([purged, lackedBy]).toEqual([[], []]);
    expect(lacked.map(({ session }) => session)).toEqual(settled());
    expect(await sessionsLeft()).toEqual(ids);
  });

  it("keeps sessions that an absent recorder lacks, and deletes them once the recorder has them", async () => {
    const slow = await record("slow.db");
    await slow.close();
    await writeInto(ports.journal, more);
    const later = [...new Set(more.map(({ session }) => session))];
    const fast = await record("fast.db");
    await fast.recorder.stop();
    const report = await purge();
    expect(report.purged.map(({ session }) => session)).toEqual(settled());
    // The newest session stays anyway: positions never go back.
    expect(report.lacked.map(({ session }) => session)).toEqual(later.slice(0, -1));
    expect(report.lackedBy).toEqual([slow.follower]);

    const again = await record("slow.db");
    await again.recorder.stop();
    const { purged, lacked } = await purge();
    expect([purged.map(({ session }) => session), lacked]).toEqual([later.slice(0, -1), []]);
    expect(contentOf(await copyOf(again))).toEqual(contentOf([...sessions, ...more]));
  });

  it.each([
    { keepDays: 7, afterDays: 8, left: 1 },
    { keepDays: 7, afterDays: 6, left: 3 },
    { keepDays: 0, afterDays: 800, left: 3 },
  ])("is done by a daemon that keeps $keepDays days, $afterDays days later", async ({ keepDays, afterDays, left }) => {
    const { recorder } = await record("troupe.db");
    await recorder.stop();
    const clock = createSimulatedClock(Date.now() + afterDays * dayMs);
    const looks: Promise<unknown>[] = [];
    const journal = {
      tail: () => ports.journal.tail(),
      followers: () => ports.journal.followers(),
      purgeSession: (session: string, through: number) => ports.journal.purgeSession(session, through),
      settledSessions() {
        const looking = ports.journal.settledSessions();
        looks.push(looking);
        return looking;
      },
    };
    const stop = startPurging({ journal, keepDays, clock, logger: silentLogger });
    opened.push(stop);
    clock.advance(3_600_000);
    expect(looks).toHaveLength(keepDays === 0 ? 0 : 1);
    await expect.poll(async () => (await sessionsLeft()).length).toBe(left);
  });
});
