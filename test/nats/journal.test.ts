import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { type Logger, silentLogger } from "@troupe/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { newRun, readFeed } from "./entries.fixture.ts";
import { type PortsUnderTest, type SharedNats, useNats } from "./ports.fixture.ts";

// Cases that only a journal on a shared server has.

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "the journal over NATS" : natsServerMissing, () => {
  const nats = useNats();
  const open = async (...options: Parameters<SharedNats["open"]>): Promise<PortsUnderTest> => {
    const ports = await nats().open(...options);
    onTestFinished(() => ports.dispose());
    return ports;
  };

  it("lets one of two writers in different processes win, race after race", async () => {
    const namespace = nats().freshNamespace();
    const [a, b] = [await open({ namespace }), await open({ namespace })];
    let of = newRun();
    for (let race = 0; race < 300; race += 1) {
      const index = race % 30;
      if (index === 0) of = newRun();
      const results = await Promise.all(
        [a, b].map(({ journal }, i) => of.append(journal, index - 1, [of.entry(index, `writer ${i}`)])),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
      expect(results).toContainEqual({ ok: false, reason: "conflict", lastIndex: index });
    }
    const texts = await a.journal.readRun(of.session, of.run);
    expect(texts).toHaveLength(30);
    expect(await b.journal.readRun(of.session, of.run)).toEqual(texts);
    expect(a.journal.refused).toBe(0);
  });

  it("keeps several hundred runs of many sessions separate and in order, and knows the open ones", async () => {
    const { journal } = await open();
    const sessions = Array.from({ length: 20 }, () => newRun().session);
    const runs = sessions.flatMap((session) => Array.from({ length: 20 }, () => newRun(session)));
    await Promise.all(
      runs.map(async (of, i) => {
        await of.append(journal, -1, [of.entry(0), of.entry(1)]);
        await of.append(journal, 1, [of.entry(2)], i % 2 === 0);
      }),
    );
    const feed = readFeed(journal);
    const items = await feed.until(1_200);
    await feed.stop();
    for (const of of runs) {
      const own = items.filter((item) => item.kind === "entry" && item.run === of.run);
      expect(own.map(({ text }) => text)).toEqual(of.texts(0, 1, 2));
      expect(await journal.readRun(of.session, of.run)).toEqual(of.texts(0, 1, 2));
    }
    expect(await journal.openRuns()).toHaveLength(200);
    for (const session of sessions) {
      const open = await journal.openRuns({ session });
      expect(open.map(({ run }) => run).sort()).toEqual(
        runs
          .filter((of, i) => of.session === session && i % 2 === 1)
          .map(({ run }) => run)
          .sort(),
      );
    }
  });

  it("measures by the server's clock how long a run has been idle", async () => {
    const { journal } = await open();
    const [old, young] = [newRun(), newRun()];
    await old.append(journal, -1, [old.entry(0)]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await young.append(journal, -1, [young.entry(0)]);
    const [first, second] = await journal.openRuns();
    expect(first).toMatchObject({ run: old.run, idleMs: expect.any(Number) });
    // Timers and the server's clock differ by fractions of a millisecond.
    expect(first?.idleMs).toBeGreaterThanOrEqual(295);
    expect((first?.idleMs ?? 0) - (second?.idleMs ?? 0)).toBeGreaterThanOrEqual(295);
  });

  it("accepts entries and inbox items of any size, and never loses its connection because of them", async () => {
    const { journal, link } = await open();
    let disconnects = 0;
    link.onEvent(({ kind }) => {
      if (kind === "disconnected") disconnects += 1;
    });
    const of = newRun();
    const large = of.entry(1, "large ".repeat(500_000));
    expect(await of.append(journal, -1, [of.entry(0), large, of.entry(2)])).toEqual({ ok: true });
    expect(await of.append(journal, -1, [of.entry(0), large, of.entry(2)])).toEqual({ ok: true });
    const item = {
      v: 1,
      kind: "session.cancelled",
      at: 1,
      session: of.session,
      reason: "so ".repeat(400_000),
    } as const;
    expect(await journal.appendInbox(item)).toEqual({ seq: 1 });
    expect(await journal.readRun(of.session, of.run)).toEqual([of.entry(0).text, large.text, of.entry(2).text]);
    expect(await journal.lastOf(of.session, of.run)).toBe(of.entry(2).text);
    expect(await journal.readInbox(of.session)).toEqual([{ seq: 1, item }]);
    const feed = readFeed(journal);
    expect((await feed.until(4)).map(({ text }) => text.length)).toEqual([
      of.entry(0).text.length,
      large.text.length,
      of.entry(2).text.length,
      JSON.stringify(item).length,
    ]);
    await feed.stop();
    expect(disconnects).toBe(0);
  });

  it("reads from the leader alone if the operator has disabled direct reads", async () => {
    const { journal, link, namespace } = await open();
    const manager = await jetstreamManager(link.connection);
    await manager.streams.update(`${namespace}_journal`, { allow_direct: false });
    const of = newRun();
    for (let index = 0; index < 5; index += 1) await of.append(journal, index - 1, [of.entry(index)]);
    expect(await journal.readRun(of.session, of.run)).toEqual(of.texts(0, 1, 2, 3, 4));
    expect(await of.append(journal, 0, [of.entry(1)])).toEqual({ ok: true });
  });

  describe("among invalid messages", () => {
    const of = newRun();
    const other = newRun();
    const body = (...entries: { text: string }[]): string => entries.map(({ text }) => text).join("\n");
    const ours = { "Troupe-Version": "1", "Troupe-First": "1", "Troupe-Last": "1" };
    const cas = { "Nats-Expected-Last-Subject-Sequence": "1" };

    it.each<{ what: string; fields: Record<string, string>; bytes: string | Buffer }>([
      { what: "other text", fields: {}, bytes: "hello" },
      { what: "a newer version", fields: { ...ours, ...cas, "Troupe-Version": "2" }, bytes: body(of.entry(1)) },
      {
        what: "a message that was sent again",
        fields: { ...ours, "Troupe-First": "0", "Troupe-Last": "0" },
        bytes: body(of.entry(0)),
      },
      { what: "an entry without compare-and-set", fields: ours, bytes: body(of.entry(1)) },
      {
        what: "an entry out of sequence",
        fields: { ...ours, ...cas, "Troupe-First": "7", "Troupe-Last": "7" },
        bytes: body(of.entry(7)),
      },
      { what: "another run's entry", fields: { ...ours, ...cas }, bytes: body(other.entry(1)) },
      {
        what: "an entry that was changed",
        fields: { ...ours, ...cas },
        bytes: of.entry(1).text.replace("timer", "tamer"),
      },
      { what: "fewer entries than it says", fields: { ...ours, ...cas, "Troupe-Last": "2" }, bytes: body(of.entry(1)) },
      { what: "bytes that are not UTF-8", fields: { ...ours, ...cas }, bytes: Buffer.from([0xff, 0xfe, 0x00]) },
      { what: "invalid headers", fields: { ...ours, ...cas, "Troupe-First": "9".repeat(30) }, bytes: "" },
    ])("ignores $what", async ({ fields, bytes }) => {
      const log: string[] = [];
      const logger: Logger = { ...silentLogger, warn: (_details, message) => void log.push(message) };
      const namespace = nats().freshNamespace();
      const [own, others] = [await open({ namespace, logger }), await open({ namespace })];
      const { journal, subjects } = own;
      const feed = readFeed(journal);
      await of.append(journal, -1, [of.entry(0)]);
      const publishInvalid = () => publish(others, subjects.journal(of.session, of.run), fields, bytes);
      await publishInvalid();
      if (!("Nats-Expected-Last-Subject-Sequence" in fields)) await publishInvalid();

      expect(await others.journal.lastOf(of.session, of.run)).toBe(of.entry(0).text);
      expect(await journal.lastOf(of.session, of.run)).toBe(of.entry(0).text);
      expect(await others.journal.readRun(of.session, of.run)).toEqual(of.texts(0));
      expect(await journal.openRuns()).toMatchObject([{ run: of.run }]);
      expect(await journal.tail()).toBe((await feed.until(1))[0]?.position);

      expect(await of.append(others.journal, 0, [of.entry(1)])).toEqual({ ok: true });
      expect(await of.append(journal, 0, [of.entry(1)])).toEqual({ ok: true });
      expect(await of.append(journal, 1, [of.entry(2)], true)).toEqual({ ok: true });
      await publishInvalid().catch(() => {});
      expect(await of.append(others.journal, 2, [of.entry(3)])).toMatchObject({ ok: false, lastIndex: 2 });

      expect((await feed.until(3)).map(({ text }) => text)).toEqual(of.texts(0, 1, 2));
      expect(await journal.openRuns()).toEqual([]);
      await feed.stop();
      expect(journal.refused).toBeGreaterThanOrEqual(1);
      expect(log.filter((line) => line === "message in the journal refused")).toHaveLength(1);
    });
  });
});

async function publish(
  { link }: PortsUnderTest,
  subject: string,
  fields: Record<string, string>,
  bytes: string | Buffer,
): Promise<void> {
  const all = headers();
  for (const [name, value] of Object.entries(fields)) all.set(name, value);
  await jetstream(link.connection).publish(subject, bytes, { headers: all });
}
