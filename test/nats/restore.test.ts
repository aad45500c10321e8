import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { defaultPolicy, type FeedItem, SubmitSession, silentLogger } from "@troupe/core";
import { systemClock, systemIds } from "@troupe/core/system";
import { openNatsLink, type RestoreReport, restoreNatsJournal } from "@troupe/nats";
import { type CopyOptions, openRecord } from "@troupe/recorder";
import {
  type ActorHost,
  builtinVerifiers,
  createActorHost,
  createService,
  type HostDeps,
  noFailpoints,
  resumeOpenRuns,
} from "@troupe/runtime";
import { createToolHost } from "@troupe/tools";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answeringModel, benchAgents, delegations } from "../bench/bench-agents.ts";
import { sessionCopies } from "../bench/session-copies.ts";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { contentOf, entryAfter, feedOf, writeInto } from "../restore/feeds.ts";
import { type PortsUnderTest, useNats } from "./ports.fixture.ts";
import { copyOf, type Recording, startRecording } from "./recording.fixture.ts";

/** A lost stream is restored from the recorders' copies, and its sessions resume. */

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(`a lost journal${hasServer ? "" : ` (${natsServerMissing})`}`, () => {
  const nats = useNats();
  let sessions: FeedItem[];
  let folder: string;
  let ports: PortsUnderTest;
  let opened: (() => unknown)[];

  beforeAll(async () => {
    sessions = (await sessionCopies(95)).slice(0, -3);
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-nats-restore-"));
    opened = [];
    ports = await openPorts();
  });
  afterEach(async () => {
    for (const close of opened.reverse()) await close();
    await rm(folder, { recursive: true, force: true });
  });

  const openPorts = async (namespace?: string): Promise<PortsUnderTest> => {
    const some = await nats().open(namespace === undefined ? {} : { namespace });
    let isOpen = true;
    const dispose = async (): Promise<void> => {
      if (isOpen) await some.dispose();
      isOpen = false;
    };
    opened.push(dispose);
    return { ...some, dispose };
  };
  /** A record of the current journal, without a running recorder. */
  const recorded = async (name: string): Promise<Recording> => {
    const recording = await startRecording(folder, name, ports.journal);
    opened.push(recording.close);
    await recording.recorder.caughtUp();
    await recording.recorder.stop();
    return recording;
  };
  const removeStream = async (): Promise<void> => {
    await (await jetstreamManager(ports.link.connection)).streams.delete(`${ports.namespace}_journal`);
  };
  const restore = async ({ record }: Pick<Recording, "record">, options?: CopyOptions): Promise<RestoreReport> => {
    const link = await openNatsLink({ servers: nats().server.url });
    try {
      const copy = { journal: record.origin().journal ?? "", position: record.cursor().position };
      const what = { namespace: ports.namespace, copy, items: record.copy.items(options) };
      return await restoreNatsJournal({ ...what, link, clock: systemClock(), logger: silentLogger });
    } finally {
      await link.close();
    }
  };
  /** A new reader without any state. */
  const reopened = (): Promise<PortsUnderTest> => openPorts(ports.namespace);

  it("is restored completely: the same id, the same runs and inboxes, and the same open runs", async () => {
    await writeInto(ports.journal, sessions);
    const id = await ports.journal.id();
    const open = await ports.journal.openRuns();
    const recording = await recorded("troupe.db");
    await nats().server.wipe();
    expect(await restore(recording)).toEqual({ created: true, items: sessions.length, parted: [] });
    const after = await reopened();
    expect(await after.journal.id()).toBe(id);
    expect(contentOf(await feedOf(after.journal))).toEqual(contentOf(sessions));
    const places = (runs: typeof open) => runs.map(({ run, lastIndex }) => `${run} ${lastIndex}`).sort();
    expect(places(await after.journal.openRuns())).toEqual(places(open));
  });

  it("is recorded by every recorder from its old position, without a duplicate", async () => {
    await writeInto(ports.journal, sessions.slice(0, 60));
    const some = await recorded("some.db");
    await writeInto(ports.journal, sessions.slice(60, 80));
    const all = await recorded("all.db");
    await removeStream();
    await restore(all);
    const after = await reopened();
    await writeInto(after.journal, sessions.slice(80));
    for (const { file } of [some, all]) {
      const again = await startRecording(folder, file.slice(folder.length + 1), after.journal);
      opened.push(again.close);
      await again.recorder.caughtUp();
      expect(again.problems).toEqual([]);
      expect(contentOf(await copyOf(again))).toEqual(contentOf(sessions));
    }
  });

  it("is completed by a copy with more items, in any order of the copies", async () => {
    await writeInto(ports.journal, sessions.slice(0, 40));
    const less = await recorded("less.db");
    await writeInto(ports.journal, sessions.slice(40));
    const more = await recorded("more.db");
    await removeStream();
    expect(await restore(less)).toMatchObject({ created: true, items: 40 });
    expect(await restore(more)).toEqual({ created: false, items: sessions.length, parted: [] });
    expect(await restore(less)).toEqual({ created: false, items: 40, parted: [] });
    expect(contentOf(await feedOf((await reopened()).journal))).toEqual(contentOf(sessions));
  });

  it("replaces the empty stream that a daemon has created meanwhile", async () => {
    await writeInto(ports.journal, sessions);
    const recording = await recorded("troupe.db");
    await removeStream();
    const daemon = await reopened();
    const refused = await startRecording(folder, "troupe.db", daemon.journal);
    await expect(refused.recorder.ready()).rejects.toMatchObject({ code: "JOURNAL_LOST", fix: "troupe nats restore" });
    await refused.close();
    await daemon.dispose();
    expect(await restore(recording)).toMatchObject({ created: true, items: sessions.length });
    expect(contentOf(await feedOf((await reopened()).journal))).toEqual(contentOf(sessions));
  });

  it("does not replace a stream with messages of another journal", async () => {
    await writeInto(ports.journal, sessions.slice(0, 60));
    const recording = await recorded("troupe.db");
    await removeStream();
    const daemon = await reopened();
    await writeInto(daemon.journal, sessions.slice(80));
    await expect(restore(recording)).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("messages of the journal"),
      fix: expect.stringContaining("--namespace"),
    });
    expect(contentOf(await feedOf(daemon.journal))).toEqual(contentOf(sessions.slice(80)));
  });

  it("keeps runs with other content, and names them", async () => {
    await writeInto(ports.journal, sessions.slice(0, 3));
    const less = await recorded("less.db");
    await writeInto(ports.journal, sessions.slice(3));
    const more = await recorded("more.db");
    await removeStream();
    await restore(less);
    const after = await reopened();
    const last = sessions[2];
    if (last?.kind !== "entry") throw new Error("a run has several entries");
    const other = entryAfter(last, { kind: "timer.fired", timer: "tick" });
    await after.journal.append({ ...last, after: last.index, entries: [other], terminal: false });
    const { parted } = await restore(more);
    expect(parted).toEqual([{ session: last.session, run: last.run, index: other.index }]);
    expect((await after.journal.readRun(last.session, last.run)).at(-1)).toBe(other.text);
  });

  it("finishes its sessions, without repeating answered calls", async () => {
    const asked: string[] = [];
    const held = Promise.withResolvers<void>();
    const depsOver = (some: PortsUnderTest, hostId: string, isHeld: boolean): HostDeps => ({
      ...some,
      models: answeringModel(async ({ run, agent, step }) => {
        asked.push(`${agent} ${run} ${step}`);
        if (isHeld && agent === "worker") await held.promise;
        return agent === "main" && step === 1 ? { calls: delegations(2) } : {};
      }),
      tools: createToolHost({ tools: [] }),
      agentSource: { load: async () => benchAgents },
      verifiers: builtinVerifiers,
      clock: systemClock(),
      logger: silentLogger,
      failpoint: noFailpoints,
      locality: "here",
      hostId,
    });
    const hostOn = (deps: HostDeps): ActorHost =>
      createActorHost({ deps, agents: () => ["main", "worker"], localities: () => ["here"] });
    const before = depsOver(ports, "before", true);
    const host = hostOn(before);
    const recording = await startRecording(folder, "troupe.db", ports.journal);
    const service = createService({
      ...{ deps: before, record: recording.record.reader, ids: systemIds(), policy: defaultPolicy },
      workspaces: folder,
      model: { id: "bench/model", demo: false },
      resolveScenario: async (name) => name,
      status: () => ({}) as never,
    });
    await host.start();
    const { session, run } = await service.submit(SubmitSession.parse({ task: "two things" }));
    await expect.poll(() => asked.filter((call) => call.startsWith("worker")).length).toBe(2);
    await recording.recorder.caughtUp();
    await recording.close();
    // As in a power cut: no process shuts down, and pending messages are lost.
    await ports.link.close();
    await nats().server.wipe();
    service.close();
    void host.stop({ graceMs: 0 }).catch(() => {});

    const record = await openRecord({ file: recording.file });
    await restore({ record });
    record.close();
    const after = await reopened();
    const deps = depsOver(after, "after", false);
    const next = hostOn(deps);
    opened.push(() => next.stop({ graceMs: 0 }));
    await next.start();
    const { stop } = await resumeOpenRuns(deps);
    opened.push(stop);
    await expect
      .poll(async () => (await after.journal.lastOf(session, run)) ?? "", { timeout: 10_000 })
      .toContain("run.settled");
    expect(asked.filter((call) => call === `main ${run} 1`)).toHaveLength(1);
    const again = await startRecording(folder, "troupe.db", after.journal);
    opened.push(again.close);
    await again.recorder.caughtUp();
    expect(contentOf(await copyOf(again))).toEqual(contentOf(await feedOf(after.journal)));
    expect(await again.record.reader.session(session)).toMatchObject({ session: { status: "completed", runs: 3 } });
  });
});
