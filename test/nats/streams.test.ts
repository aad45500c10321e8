import { jetstreamManager, RetentionPolicy, type StreamUpdateConfig } from "@nats-io/jetstream";
import { checkStreams, ensureStreams, type NatsLink, openNatsLink } from "@troupe/nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { startTcpProxy } from "../harness/tcp-proxy.ts";

// Streams on a server with its own operator: missing, as created by troupe, or changed.

const hasServer = findNatsServer() !== null;
let namespaces = 0;

describe.skipIf(!hasServer)(hasServer ? "streams" : natsServerMissing, () => {
  let server: NatsServer;
  let link: NatsLink;
  beforeAll(async () => {
    server = await startNatsServer();
    link = await openNatsLink({ servers: server.url });
  });
  afterAll(async () => {
    await link.close();
    await server.stop();
  });
  const fresh = (): string => `ns${++namespaces}`;
  const edit = async (stream: string, change: Partial<StreamUpdateConfig>): Promise<void> => {
    await (await jetstreamManager(link.connection)).streams.update(stream, change);
  };

  it("are created once, and left unchanged from then on", async () => {
    const namespace = fresh();
    expect(await checkStreams({ link, namespace })).toMatchObject({
      journalId: null,
      missing: { length: 3 },
      drift: [],
    });
    const first = await ensureStreams({ link, namespace });
    expect(first).toMatchObject({
      created: [`${namespace}_journal`, `${namespace}_tasks`, `OBJ_${namespace}_blobs`],
      drift: [],
    });
    const { journalId } = first;
    expect(await ensureStreams({ link, namespace })).toEqual({
      journalId,
      created: [],
      missing: [],
      drift: [],
      copies: [],
    });
    expect(await checkStreams({ link, namespace })).toEqual({
      journalId,
      created: [],
      missing: [],
      drift: [],
      copies: [],
    });
  });

  it("are found on a server that does not answer the first time", async ({ onTestFinished }) => {
    const proxy = await startTcpProxy(server.port);
    onTestFinished(() => proxy.close());
    const slow = await openNatsLink({ servers: `nats://127.0.0.1:${proxy.port}` });
    onTestFinished(() => slow.close());
    proxy.loseReplies("account_info_response");
    const questions: string[] = [];
    link.connection.subscribe("$JS.API.INFO", {
      callback: (_error, { subject }) => {
        // The client gave the first question up.
        if (questions.push(subject) === 2) proxy.release();
      },
    });
    expect(await checkStreams({ link: slow, namespace: fresh() })).toMatchObject({ missing: { length: 3 } });
    expect(questions.length).toBeGreaterThanOrEqual(2);
  });

  it("are the same for all processes that create them at once", async () => {
    const namespace = fresh();
    const reports = await Promise.all(Array.from({ length: 8 }, () => ensureStreams({ link, namespace })));
    expect(new Set(reports.map(({ journalId }) => journalId)).size).toBe(1);
    expect(reports.flatMap(({ drift }) => drift)).toEqual([]);
  });

  it("have the configured limits", async () => {
    const namespace = fresh();
    const settings = { journalBytesMax: 1_000_000, taskBytesMax: 2_000_000, blobBytesMax: 3_000_000 };
    await ensureStreams({ link, namespace, settings });
    expect((await checkStreams({ link, namespace, settings })).drift).toEqual([]);
    const { drift } = await ensureStreams({ link, namespace });
    expect(drift.map(({ setting, found, wanted, dangerous }) => ({ setting, found, wanted, dangerous }))).toEqual(
      [1_000_000, 2_000_000, 3_000_000].map((bytes) => ({
        setting: "max_bytes",
        found: String(bytes),
        wanted: "-1",
        dangerous: false,
      })),
    );
  });

  it.each<{ what: string; stream: string; change: Partial<StreamUpdateConfig>; fix: string }>([
    { what: "subjects", stream: "_journal", change: { subjects: ["x.>"] }, fix: "--subjects=" },
    { what: "discard", stream: "_journal", change: { discard: "old" }, fix: "--discard=new" },
    { what: "max_age", stream: "_journal", change: { max_age: 3600e9 }, fix: "--max-age=0" },
    { what: "max_msgs_per_subject", stream: "_journal", change: { max_msgs_per_subject: 5 }, fix: "subject=-1" },
    { what: "no_ack", stream: "_journal", change: { no_ack: true }, fix: "--ack" },
    { what: "max_msgs_per_subject", stream: "_tasks", change: { max_msgs_per_subject: 2 }, fix: "subject=1" },
    {
      what: "discard_new_per_subject",
      stream: "_tasks",
      change: { discard_new_per_subject: false },
      fix: "--discard-per-subject",
    },
  ])("are refused with another $what of $stream, and not changed", async ({ what, stream, change, fix }) => {
    const namespace = fresh();
    await ensureStreams({ link, namespace });
    const name = `${namespace}${stream}`;
    // Two streams cannot have the same subjects, so each gets its own.
    await edit(name, what === "subjects" ? { subjects: [`${namespace}.other.>`] } : change);
    await expect(ensureStreams({ link, namespace })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringContaining(`${name} has ${what}`),
      fix: expect.stringContaining(fix),
    });
    const { drift } = await checkStreams({ link, namespace });
    expect(drift).toEqual([expect.objectContaining({ stream: name, setting: what, dangerous: true })]);
  });

  it("with another retention are refused, with the fix", async () => {
    const namespace = fresh();
    const manager = await jetstreamManager(link.connection);
    const name = `${namespace}_journal`;
    const subjects = [`${namespace}.journal.>`, `${namespace}.inbox.>`];
    await manager.streams.add({ name, subjects, retention: RetentionPolicy.Interest, discard: "new" });
    await expect(ensureStreams({ link, namespace })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      fix: expect.stringContaining(`nats stream backup ${name}`),
    });
  });

  it.each<{ setting: string; change: Partial<StreamUpdateConfig> }>([
    { setting: "allow_direct", change: { allow_direct: false } },
    { setting: "max_bytes", change: { max_bytes: 9_000_000 } },
    { setting: "max_msgs", change: { max_msgs: 9_000 } },
  ])("with another $setting are used unchanged, with a warning", async ({ setting, change }) => {
    const namespace = fresh();
    await ensureStreams({ link, namespace });
    await edit(`${namespace}_journal`, change);
    const { drift } = await ensureStreams({ link, namespace });
    expect(drift).toEqual([expect.objectContaining({ setting, dangerous: false })]);
    expect(await checkStreams({ link, namespace })).toMatchObject({ drift });
  });

  it("created by hand have an identity, too", async () => {
    const namespace = fresh();
    await ensureStreams({ link, namespace });
    await edit(`${namespace}_journal`, { metadata: {} });
    const first = await ensureStreams({ link, namespace });
    expect(first.journalId).toContain(`${namespace}_journal@`);
    expect((await ensureStreams({ link, namespace })).journalId).toBe(first.journalId);
  });

  it("have no more replicas than the cluster has servers", async () => {
    await expect(ensureStreams({ link, namespace: fresh(), settings: { replicas: 3 } })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      fix: expect.stringContaining("nats.replicas"),
    });
  });

  it("report a server without enough storage", async () => {
    const settings = { journalBytesMax: Number.MAX_SAFE_INTEGER };
    await expect(ensureStreams({ link, namespace: fresh(), settings })).rejects.toMatchObject({
      code: "LIMIT_REACHED",
    });
  });
});
