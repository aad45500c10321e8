/** The permissions of docs/nats.md are sufficient, and a process with fewer permissions names the denied subject. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { PermissionViolationError } from "@nats-io/transport-node";
import { createSubjects, silentLogger } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import {
  createNatsBlobs,
  createNatsBusOn,
  createNatsTaskQueue,
  ensureStreams,
  type NatsLink,
  openNatsLink,
} from "@troupe/nats";
import { describe, expect, it, type TestContext } from "vitest";
import { findNatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { createTroupes, type ProcessOptions } from "./troupes.fixture.ts";

const hasServer = findNatsServer() !== null;
const manual = new URL("../../docs/nats.md", import.meta.url);
const onlyForDelegating = /# Only if painters delegate:[^\]]*/g;

/** Too large for a message: it is stored as a blob. */
const large = "€".repeat(90_000);
const painting = { painter: [{ steps: [{ text: `Painted. ${large}` }] }] };
const leading = (by: string, to: string) => ({
  [by]: [{ steps: [{ calls: [delegate(to, "Go on.")] }, { text: "They say: {{result.0.summary}}" }] }],
});

describe.skipIf(!hasServer)(hasServer ? "with the permissions of the manual" : natsServerMissing, () => {
  it("a worker runs tasks of a daemon's run, with bodies too large for a message, and nothing is denied", async (test) => {
    const { daemon, worker, troupes, url } = await startBoth(test, {
      agents: { ...leading("lead", "painter"), ...painting },
      daemonHas: { lead: { tools: [], subagents: { allow: ["painter"] } } },
      workerHas: { painter: { tools: [] } },
      rights: (config) => config.replaceAll(onlyForDelegating, ""),
    });
    const { host } = await worker.ready;
    const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
    const answer = await responseOf(daemon, session);
    expect(answer).toMatchObject({ success: true, summary: expect.stringContaining("They say: Painted.") });
    // The request is large, too.
    const second = await daemon.client.submit({ task: large, agent: "painter", origin: "api" });
    expect(await responseOf(daemon, second.session)).toMatchObject({ success: true });
    expect(await blobsOf(url, troupes.namespace, test)).toBeGreaterThanOrEqual(3);
    const details = await Promise.all([session, second.session].map((id) => daemon.client.session(id)));
    const painted = details.flatMap(({ runs }) => runs).filter(({ agent }) => agent === "painter");
    expect(painted.map((row) => row.host)).toEqual([host, host]);
    expect((await worker.stop()).code).toBe(0);
    expect(worker.stderr() + daemon.stderr()).not.toContain("does not let");
  });

  it("a worker whose agents delegate reaches a daemon, receives the outcome, and cancels its children", async (test) => {
    const asked = [delegate("critic", "Good?"), delegate("sleeper", "And now?")];
    const { daemon, worker } = await startBoth(test, {
      agents: {
        painter: [{ steps: asked.map((call) => ({ calls: [call] })) }],
        critic: [{ steps: [{ text: "Good." }] }],
        sleeper: [{ steps: [{ text: "Late.", latencyMs: 60_000 }] }],
      },
      daemonHas: { critic: { tools: [] }, sleeper: { tools: [] } },
      workerHas: { painter: { tools: [], subagents: { allow: ["critic", "sleeper"] } } },
    });
    await worker.ready;
    const { session, run } = await daemon.client.submit({ task: "go", agent: "painter", origin: "api" });
    const statusOf = async (agent: string) =>
      (await daemon.client.session(session)).runs.find((row) => row.agent === agent)?.status;
    await until(async () => (await statusOf("sleeper")) === "running");
    expect(await statusOf("critic")).toBe("completed");
    await daemon.client.cancelRun(run, "no longer wanted");
    expect(await responseOf(daemon, session)).toMatchObject({ status: "cancelled" });
    await until(async () => (await statusOf("sleeper")) === "cancelled");
    expect(worker.stderr() + daemon.stderr()).not.toContain("does not let");
  });

  it.for([
    ["look for tasks", "$JS.API.CONSUMER.MSG.NEXT.troupe_tasks.painter@any", "publish to $JS.API.CONSUMER.MSG.NEXT."],
    ["write the journal", "troupe.journal.*.*", "publish to {ns}.journal."],
    ["announce itself", "troupe.host.gpu", "publish to {ns}.host.gpu;"],
  ] as const)(
    "a worker that may not %s continues, and names the denied subject",
    async ([what, right, words], test) => {
      const { daemon, worker, troupes } = await startBoth(test, {
        agents: { ...leading("lead", "painter"), ...painting },
        daemonHas: { lead: { tools: [], subagents: { allow: ["painter"] } } },
        workerHas: { painter: { tools: [] } },
        rights: (config) => without(config, right),
      });
      await worker.ready;
      if (what === "write the journal") await daemon.client.submit({ task: "go", agent: "painter", origin: "api" });
      const told = `does not let this user ${words.replace("{ns}", troupes.namespace)}`;
      await until(() => worker.stderr().includes(told));
      // It tries again and again, and reports it once.
      if (what === "write the journal") await until(async () => (await triesOf(worker.home)) > 2);
      expect(worker.stderr().split(told)).toHaveLength(2);
      expect(worker.isOver()).toBe(false);
    },
  );

  it.for([
    ["see the streams", "$JS.API.STREAM.INFO.troupe_tasks", "publish to $JS.API.STREAM.INFO.{ns}_tasks"],
    ["receive replies", "_INBOX_gpu.>", "subscribe to _INBOX_gpu."],
    ["receive commands", "troupe.control.all", "subscribe to {ns}.control.all"],
  ] as const)(
    "a worker that may not %s ends with exit code 4, and names the subject",
    async ([_what, right, words], test) => {
      const { url, troupes, contextOf } = await open(test, {
        agents: painting,
        rights: (config) => without(config, right),
      });
      const link = await linkOf(url, test);
      await ensureStreams({ link, namespace: troupes.namespace });
      const has = { painter: { tools: [] } };
      const worker = await troupes.workerInProcess("painter", { has, nats: await contextOf("gpu"), flags: asGpu });
      const { code, stdout } = await worker.ended;
      expect(code).toBe(4);
      expect(JSON.parse(stdout).error).toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining(`does not let this user ${words.replace("{ns}", troupes.namespace)}`),
        fix: expect.stringContaining("docs/nats.md"),
      });
    },
  );

  it("a worker's credentials cannot drain the daemon, and a worker without the right to be drained runs", async (test) => {
    const { daemon, worker, troupes, url } = await startBoth(test, {
      agents: { ...leading("lead", "painter"), ...painting },
      daemonHas: { lead: { tools: [], subagents: { allow: ["painter"] } } },
      workerHas: { painter: { tools: [] } },
      rights: (config) => without(config, "troupe.drain.gpu"),
    });
    await worker.ready;
    const hosts = async () => (await daemon.client.hosts()).map(({ role, status }) => [role, status]);
    const host = (await daemon.client.hosts()).find(({ role }) => role === "daemon")?.host ?? "";
    const { connection } = await linkOf(url, test, "gpu");
    const denied = permissionErrorsOf(connection);
    const drain = encode({ v: 1, kind: "drain.asked", host, by: "a worker" });
    const subjects = createSubjects(troupes.namespace);
    connection.publish(subjects.control(host), drain);
    connection.publish(subjects.drain(host), drain);
    await until(() => denied.length > 0);
    expect(denied).toEqual([subjects.drain(host)]);
    const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ success: true });
    expect(await hosts()).toEqual(
      expect.arrayContaining([
        ["daemon", "alive"],
        ["worker", "alive"],
      ]),
    );
  });

  it("a user that may not offer an agent's task, or receive a reply, gets an error at once", async (test) => {
    const { url, troupes } = await open(test, {
      agents: {},
      rights: (config) => ["_INBOX_gpu.>", "troupe.task.*.*.*"].reduce(without, config),
    });
    const { namespace } = troupes;
    await ensureStreams({ link: await linkOf(url, test), namespace });
    const mayNot = (words: string) => ({ code: "FORBIDDEN", message: expect.stringContaining(words) });

    const withoutReplies = await linkOf(url, test, "gpu");
    const blobs = createNatsBlobs({ link: withoutReplies, namespace });
    // Not only for the request that was denied, but for each later one, too.
    for (const _ of "12")
      await expect(blobs.get("0".repeat(64))).rejects.toMatchObject(mayNot("subscribe to _INBOX_gpu."));

    const withReplies = await linkOf(url, test, "gpu", "nothing");
    const subjects = createSubjects(namespace);
    const parts = { link: withReplies, subjects, namespace, clock: systemClock(), logger: silentLogger };
    const queue = await createNatsTaskQueue({ ...parts, bus: createNatsBusOn(withReplies) });
    test.onTestFinished(() => queue.close());
    const offer = queue.offer({ run: "r1", agent: "critic", locality: "any", bytes: new Uint8Array() });
    await expect(offer).rejects.toMatchObject(mayNot(`publish to ${namespace}.task.any.critic.r1`));
  });

  it("several users put the same body at once, although none of them may purge the duplicates", async (test) => {
    const { url, troupes } = await open(test, { agents: {} });
    const { namespace } = troupes;
    const links = await Promise.all(["daemon", "gpu"].map((user) => linkOf(url, test, user)));
    const [first] = links;
    if (first) await ensureStreams({ link: first, namespace });
    const bytes = new TextEncoder().encode(large);
    const all = links.map((link) => createNatsBlobs({ link, namespace }));
    const hashes = await Promise.all([...all, ...all].map((blobs) => blobs.put(bytes)));
    expect(new Set(hashes).size).toBe(1);
    for (const blobs of all) expect(await blobs.get(hashes[0] ?? "")).toEqual(bytes);
  });
});

async function linkOf(url: string, test: TestContext, user = "daemon", inbox = `_INBOX_${user}`): Promise<NatsLink> {
  const servers = url.replace("//", `//${user}:${user.toUpperCase()}@`);
  const link = await openNatsLink({ servers, inboxPrefix: inbox });
  test.onTestFinished(() => link.close());
  return link;
}

/** The subjects to which the server did not let this connection publish, from now on. */
function permissionErrorsOf(connection: NatsLink["connection"]): string[] {
  const denied: string[] = [];
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError)
        denied.push(status.error.subject);
    }
  })();
  return denied;
}

/** Number of blobs on the server. */
async function blobsOf(url: string, namespace: string, test: TestContext): Promise<number> {
  const { connection } = await linkOf(url, test);
  const { streams } = await jetstreamManager(connection);
  const about = { subjects_filter: `$O.${namespace}_blobs.M.>` };
  const { state } = await streams.info(`OBJ_${namespace}_blobs`, about);
  return Object.keys(state.subjects ?? {}).length;
}

/** How often a run could not be claimed, by the worker's log. */
async function triesOf(home: string): Promise<number> {
  const folder = path.join(home, "workers", "gpu", "logs");
  const [name = ""] = await readdir(folder);
  const lines = (await readFile(path.join(folder, name), "utf8")).trim().split("\n");
  return lines.filter((line) => line.includes("does not let") && "run" in JSON.parse(line)).length;
}

const asGpu = ["--name", "gpu", "--place", "gpu"];

/** Removes the last occurrence: the worker's permissions come after the daemon's. */
function without(config: string, right: string): string {
  const at = config.lastIndexOf(`"${right}"`);
  if (at === -1) throw new Error(`the manual does not give ${right}`);
  return `${config.slice(0, at)}"nothing.>"${config.slice(at + right.length + 2)}`;
}

interface OpenOptions {
  agents: Parameters<typeof createTroupes>[1]["agents"];
  /** Changes the manual's configuration. */
  rights?: (config: string) => string;
}

/** A server with the manual's configuration, and contexts of its users. */
async function open(test: TestContext, { agents, rights = (same) => same }: OpenOptions) {
  const troupes = await createTroupes(test, { url: "unused", agents });
  const [, written = ""] = /```conf\njetstream .*?\n(.*?)```/s.exec(await readFile(manual, "utf8")) ?? [];
  const server = await startNatsServer({ config: rights(written).replaceAll("troupe", troupes.namespace) });
  test.onTestFinished(() => server.stop());
  const folder = await tempFolder("rights", test);
  return {
    troupes,
    url: server.url,
    async contextOf(user: string): Promise<string[]> {
      const file = path.join(folder, `${user}.json`);
      const context = { url: server.url, user, password: user.toUpperCase(), inbox_prefix: `_INBOX_${user}` };
      await writeFile(file, JSON.stringify(context));
      return ["--context", file];
    },
  };
}

interface StartOptions extends OpenOptions {
  daemonHas: NonNullable<ProcessOptions["has"]>;
  workerHas: NonNullable<ProcessOptions["has"]>;
}

/** A daemon and a worker on that server, both in the test's process, each with a connection of its own. */
async function startBoth(test: TestContext, { daemonHas, workerHas, ...options }: StartOptions) {
  const { troupes, url, contextOf } = await open(test, options);
  const [daemon, worker] = await Promise.all([
    troupes.daemon({ has: daemonHas, nats: await contextOf("daemon") }),
    troupes.workerInProcess("painter", { has: workerHas, nats: await contextOf("gpu"), flags: asGpu }),
  ]);
  return { troupes, url, worker, daemon };
}
