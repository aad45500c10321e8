import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { headers } from "@nats-io/transport-node";
import type { FeedItem } from "@troupe/core";
import { restoreEntries } from "@troupe/nats";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionCopies } from "../bench/session-copies.ts";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { contentOf, entryAfter, writeInto } from "../restore/feeds.ts";
import { type PortsUnderTest, useNats } from "./ports.fixture.ts";
import { copyOf, countRecorded, type Recording, startRecording } from "./recording.fixture.ts";

/** The recorder over a real server: after every fault of either, its rows are those of the journal. */

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(`the recorder over NATS${hasServer ? "" : ` (${natsServerMissing})`}`, () => {
  const nats = useNats();
  let sessions: FeedItem[];
  let folder: string;
  let ports: PortsUnderTest;
  let opened: (() => unknown)[];

  beforeAll(async () => {
    sessions = await sessionCopies(400);
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-nats-recorder-"));
    ports = await nats().open();
    opened = [() => ports.dispose()];
  });
  afterEach(async () => {
    for (const close of opened.reverse()) await close();
    await rm(folder, { recursive: true, force: true });
  });

  async function* inBatches(feed: readonly FeedItem[]): AsyncGenerator<readonly FeedItem[]> {
    for (let first = 0; first < feed.length; first += 50) yield feed.slice(first, first + 50);
  }
  const fill = (feed: readonly FeedItem[]) => restoreEntries({ journal: ports.journal, items: inBatches(feed) });
  const record = async (name = "troupe.db", journal = ports.journal): Promise<Recording> => {
    const recording = await startRecording(folder, name, journal);
    opened.push(recording.close);
    return recording;
  };
  const others = async (): Promise<PortsUnderTest> => {
    const other = await nats().open({ namespace: ports.namespace });
    opened.push(() => other.dispose());
    return other;
  };
  const expectAll = async (recording: Recording, feed: readonly FeedItem[]): Promise<void> => {
    await recording.recorder.caughtUp();
    expect(contentOf(await copyOf(recording))).toEqual(contentOf(feed));
    expect(countRecorded(recording.file)).toEqual({ items: feed.length, most: 1 });
    expect(recording.problems.filter(({ kind }) => kind !== "stalled")).toEqual([]);
  };

  it("has the existing and the new items, and resumes where it stopped", async () => {
    await fill(sessions.slice(0, 130));
    const first = await record();
    await first.recorder.caughtUp();
    await writeInto(ports.journal, sessions.slice(130, 160));
    await expectAll(first, sessions.slice(0, 160));
    await first.close();
    await fill(sessions.slice(160));
    await expectAll(await record(), sessions);
  });

  it("catches up with everything again after its file was deleted", async () => {
    await fill(sessions);
    const first = await record();
    await first.recorder.caughtUp();
    await first.close();
    await rm(first.file);
    await expectAll(await record(), sessions);
  });

  it("survives a server that is killed and restarted again and again", async () => {
    await fill(sessions.slice(0, 100));
    const recording = await record();
    await recording.recorder.caughtUp();
    for (const [from, to] of [
      [100, 200],
      [200, 400],
    ]) {
      await nats().server.restart();
      await expect.poll(() => ports.link.connected).toBe(true);
      await fill(sessions.slice(from, to));
    }
    await expect
      .poll(
        () =>
          recording.recorder.caughtUp().then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true);
    await expectAll(recording, sessions);
  });

  it("has each item once after kills with SIGKILL at any moment", async () => {
    await fill(sessions);
    const program = fileURLToPath(new URL("recorder-process.ts", import.meta.url));
    // Kill it before its first item, and right after it.
    for (const wanted of ["up", /^[0-9]+$/]) {
      const child = spawn(process.execPath, [program, nats().server.url, ports.namespace, folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      for await (const line of createInterface({ input: child.stdout })) if (line.match(wanted)) break;
      child.kill("SIGKILL");
      await exited;
    }
    await expectAll(await record(), sessions);
  });

  it("ignores a message that is sent again", async () => {
    await fill(sessions.slice(0, 60));
    const recording = await record();
    await recording.recorder.caughtUp();
    const [, first] = sessions;
    if (first?.kind !== "entry") throw new Error("a session begins with a request");
    ports.link.connection.publish(ports.subjects.journal(first.session, first.run), first.text);
    await ports.link.connection.flush();
    await expectAll(recording, sessions.slice(0, 60));
  });

  it("keeps both versions of a run with a forged entry, and names the run", async () => {
    const [asked, opening, ...rest] = sessions;
    if (asked?.kind !== "inbox" || opening?.kind !== "entry") throw new Error("a session begins with a request");
    const next = rest.find((item) => item.kind === "entry" && item.run === opening.run);
    if (next?.kind !== "entry") throw new Error("a run has several entries");
    const other = rest.find((item) => item.session !== asked.session);
    if (other?.kind !== "inbox") throw new Error("there are several sessions");
    const whole = [asked, opening, next, other];
    await writeInto(ports.journal, whole);
    const first = await record();
    await first.recorder.caughtUp();
    await first.close();

    const forged = entryAfter(opening, { kind: "timer.fired", timer: "forged" });
    const subject = ports.subjects.journal(opening.session, opening.run);
    const head = headers();
    head.set("Troupe-Version", "1");
    head.set("Troupe-First", String(forged.index));
    head.set("Troupe-Last", String(forged.index));
    head.set("Nats-Expected-Last-Subject-Sequence", "3");
    const answer = await ports.link.connection.request(subject, forged.text, { headers: head, timeout: 5_000 });
    expect(answer.json()).not.toHaveProperty("error");

    // A recorder with the true entries refuses the forged one. A new recorder cannot tell which of them is true.
    const again = await record("troupe.db", (await others()).journal);
    await expect.poll(() => again.problems.map(({ kind }) => kind)).toEqual(["forked"]);
    expect(again.problems).toMatchObject([{ kind: "forked", run: opening.run, index: 1 }]);
    expect(await again.record.reader.session(opening.session)).toMatchObject({
      flaws: [{ kind: "forked", run: opening.run, index: 1 }],
    });
    expect(contentOf(await copyOf(again))).toEqual(contentOf(whole));
    expect(await ports.journal.readRun(opening.session, opening.run)).toEqual([opening.text, next.text]);
  });
});
