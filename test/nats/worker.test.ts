/**
 * Workers in their own processes: every process can use their agents, and their runs continue when they are drained, killed
 * or cut off.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createSubjects } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import { createNatsBus, ensureStreams, openNatsLink } from "@troupe/nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CliResult } from "../harness/cli.ts";
import { writeAgent, writeNewsTeam } from "../harness/home-files.ts";
import { repeatedKeys } from "../harness/ledger.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { responseOf, runsWhere } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { createTroupes } from "./troupes.fixture.ts";

const hasServer = findNatsServer() !== null;

const lead = { lead: { tools: [], subagents: { allow: ["expert"] } } };
const expert = { expert: { tools: [] } };

/** How long the model of `expert` takes to answer. */
const asking = (latencyMs = 0) => ({
  lead: [{ steps: [{ calls: [delegate("expert", "think")] }, { text: "The expert says: {{result.0.summary}}" }] }],
  expert: [{ steps: [{ text: "I thought.", latencyMs }] }],
});

describe.skipIf(!hasServer)(hasServer ? "workers" : natsServerMissing, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());

  it("serve some agents of a team: the parent runs here, and the team's child there", async (test) => {
    const answers = {
      news_lead: [{ steps: [{ calls: [delegate("news_writer", "write")] }, { text: "News: {{result.0.summary}}" }] }],
      news_writer: [{ steps: [{ text: "It rained." }] }],
    };
    const troupes = await createTroupes(test, { url: server.url, agents: answers });
    const homes = await Promise.all([tempFolder("nats-team", test), tempFolder("nats-team", test)]);
    for (const home of homes) await writeNewsTeam(path.join(home, "teams"));
    const [workerHome = "", daemonHome = ""] = homes;
    const [worker, daemon] = await Promise.all([
      troupes.workerInProcess("news/writer", { home: workerHome }),
      troupes.daemon({ home: daemonHome, flags: ["--agents", "news/lead"] }),
    ]);
    const { host, ...ready } = await worker.ready;
    expect(ready).toMatchObject({ event: "ready", agents: ["news_writer"] });
    const { session } = await daemon.client.submit({ task: "go", team: "news", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ success: true, summary: "News: It rained." });
    const { runs } = await daemon.client.session(session);
    expect(runs.map(({ agent, team }) => [agent, team])).toEqual([
      ["news_lead", "news"],
      ["news_writer", "news"],
    ]);
    expect(runs[0]?.host).not.toBe(host);
    expect(runs[1]?.host).toBe(host);

    const all = await troupes.workerInProcess("news/*", { home: workerHome });
    expect(await all.ready).toMatchObject({ agents: ["news_lead", "news_writer"] });
    const wrong = await troupes.workerInProcess("news/writr", { home: workerHome });
    expect(await wrong.ended).toMatchObject({ code: 2, stdout: expect.stringContaining("did you mean news/writer") });
  });

  it("serve agents that no other process has: a daemon's session asks one by id, and gets the answer", async (test) => {
    const troupes = await createTroupes(test, { url: server.url, agents: asking() });
    // Started together: the worker waits for the streams that the daemon creates.
    const [worker, daemon] = await Promise.all([
      troupes.worker("expert", { has: expert, flags: ["--name", "brain", "--capacity", "3", "--place", "lab"] }),
      troupes.daemon({ has: lead }),
    ]);
    expect(await worker.ready).toMatchObject({
      ...{ event: "ready", host: "brain", agents: ["expert"], capacity: 3, place: "lab" },
      bus: `${server.url} (namespace ${troupes.namespace})`,
      pid: worker.process.pid,
    });
    expect(daemon.ready).toMatchObject({ bus: `${server.url} (namespace ${troupes.namespace})` });
    await until(async () => (await daemon.client.agents(null)).agents.some(({ id }) => id === "expert"));

    const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ success: true, summary: "The expert says: I thought." });
    const calls = await troupes.ledger.calls();
    expect(calls.filter(({ pid }) => pid === worker.process.pid)).toHaveLength(1);
    expect(calls.filter(({ pid }) => pid === daemon.pid)).toHaveLength(2);

    // Other processes see an edited definition a moment later.
    await writeAgent(worker.home, "expert", { tools: [], description: "knows even more" });
    await until(async () => {
      const { agents } = await daemon.client.agents(null);
      return agents.some(({ id, description }) => id === "expert" && description === "knows even more");
    });

    // Two workers with one name would answer for each other.
    const twin = await troupes.workerInProcess("expert", { has: expert, flags: ["--name", "brain"] });
    expect(await twin.ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("is taken by a worker"),
    });
    expect(await worker.kill("SIGTERM")).toMatchObject({ code: 0 });
    expect(worker.stderr()).toMatch(/draining.*\nstopped\n$/s);
  });

  it("serve the agents of their own folder, for sessions of any process", async (test) => {
    const troupes = await createTroupes(test, { url: server.url, agents: asking() });
    const project = await tempFolder("project", test);
    const file = path.join(project, ".troupe", "agents", "expert.md");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "---\nname: expert\ndescription: thinks\ntools: []\n---\nYou think.\n");
    const [daemon, worker] = await Promise.all([
      troupes.daemon({ has: lead }),
      troupes.workerInProcess("expert", { flags: ["--workspace", project, "--place", "lab"] }),
    ]);
    await worker.ready;
    await until(async () => (await daemon.client.agents(null)).agents.some(({ id }) => id === "expert"));
    const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ success: true, summary: "The expert says: I thought." });
  });

  it("leave their runs to other hosts when they drain or die, and no finished call runs again", async (test) => {
    // A slow first answer, a tool call and a second answer: enough time to interrupt it.
    const agents = {
      ...asking(),
      expert: [
        { steps: [{ calls: [{ tool: "read", args: { path: "a" } }], latencyMs: 1_200 }, { text: "I thought." }] },
      ],
    };
    const troupes = await createTroupes(test, { url: server.url, agents });
    const has = { expert: { tools: ["read"] } };
    const optionsOf = (name: string) => ({ has, flags: ["--name", name] });
    const [daemon, drained] = await Promise.all([
      troupes.daemon({ has: lead }),
      troupes.workerInProcess("expert", optionsOf("drained")),
    ]);
    await drained.ready;
    await until(async () => (await daemon.client.agents(null)).agents.some(({ id }) => id === "expert"));
    const bus = await createNatsBus({ servers: server.url });
    test.onTestFinished(() => bus.close());
    const subjects = createSubjects(troupes.namespace);

    /** A session while its expert works. */
    const begin = async () => {
      const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
      const [, run] = (await runsWhere(daemon, session, (runs) => runs.length === 2)).map((row) => row.run);
      if (run === undefined) throw new Error("the session has no expert");
      await until(async () => (await troupes.ledger.calls([run])).length > 0);
      return { session, run };
    };
    /** Ends a worker that has a run. The next one takes the run over, and starts the next. */
    const endWith = async <Next extends { ready: Promise<unknown> }>(
      how: "drain.asked" | "SIGTERM" | "SIGKILL",
      end: () => Promise<CliResult>,
      next: () => Promise<Next>,
    ): Promise<Next> => {
      const { session, run } = await begin();
      const [ended, successor] = await Promise.all([end(), next()]);
      expect(ended, `${how}: ${ended.stderr}`).toMatchObject({ code: how === "SIGKILL" ? null : 0 });
      await successor.ready;
      expect(await responseOf(daemon, session)).toMatchObject({
        success: true,
        summary: "The expert says: I thought.",
      });
      const calls = await troupes.ledger.calls([run]);
      expect(new Set(calls.map(({ pid }) => pid)).size, how).toBe(2);
      // Only calls without an outcome at the time of the kill are repeated.
      const repeated = repeatedKeys(calls.map(({ key }) => key));
      expect(repeated, how).toEqual(how === "SIGKILL" ? [`${run}/model/1`] : []);
      return successor;
    };

    // Signals need processes. One in this process comes before and after them, so that a takeover shows in the ledger.
    const askDrain = async () => {
      const { host } = await drained.ready;
      bus.publish(subjects.drain(host), encode({ v: 1, kind: "drain.asked", host, by: "ada" }));
      return await drained.ended;
    };
    const stopped = await endWith("drain.asked", askDrain, () => troupes.worker("expert", optionsOf("stopped")));
    const stop = () => stopped.kill("SIGTERM");
    const killed = await endWith("SIGTERM", stop, () => troupes.worker("expert", optionsOf("killed")));
    const kill = () => killed.kill("SIGKILL");
    await endWith("SIGKILL", kill, () => troupes.workerInProcess("expert", optionsOf("last")));
  }, 180_000);

  it("wait for a server that is not started yet, and reconnect to a lost one without a limit", async (test) => {
    const own = await startNatsServer();
    test.onTestFinished(() => own.stop());
    await own.kill();
    const troupes = await createTroupes(test, { url: own.url, agents: asking() });
    const worker = await troupes.workerInProcess("expert", { has: expert });
    await worker.waitForOutput(new RegExp(`waiting: no NATS server answers at ${own.url}`));
    await own.restart();
    await worker.waitForOutput(/waiting: .* has no streams of the namespace/);
    const daemon = await troupes.daemonProcess({ has: lead });
    await worker.ready;

    await own.kill();
    await until(async () => (await daemon.client.status()).bus.includes("not reachable"));
    await worker.waitForOutput(new RegExp(`${own.url} is not reachable; reconnecting`));
    await own.restart();
    await worker.waitForOutput(new RegExp(`${own.url} is reachable again`));
    await until(async () => !(await daemon.client.status()).bus.includes("not reachable"));
    await until(async () => (await daemon.client.agents(null)).agents.some(({ id }) => id === "expert"));
    const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ success: true });

    // A lost server does not delay the shutdown.
    await own.kill();
    await until(async () => (await daemon.client.status()).bus.includes("not reachable"));
    expect((await worker.stop()).code).toBe(0);
    await daemon.stop();
    expect(await daemon.ended).toMatchObject({ code: 0 });
  }, 180_000);

  it.for([
    [
      "an unknown agent",
      ["--agents", "exprt"],
      2,
      /"exprt\\" does not exist; available: .*expert.*did you mean expert/,
    ],
    ["no server", ["--agents", "expert"], 2, /no server is configured/],
    ["a server of one's own", ["--agents", "expert", "--nats", "auto"], 2, /`auto` is for `troupe up` only/],
  ] as const)("refuse %s", async ([what, flags, code, words], test) => {
    const home = await tempFolder("worker", test);
    await writeAgent(home, "expert");
    const troupes = await createTroupes(test, { url: server.url, agents: asking() });
    const nats = what.startsWith("an unknown") ? ["--nats", server.url] : [];
    if (nats.length > 0) await createStreams(server.url, troupes.namespace);
    const worker = await troupes.workerInProcess("expert", { home, nats, flags: [...flags] });
    expect(await worker.ended).toMatchObject({ code, stdout: expect.stringMatching(words) });
  });
});

async function createStreams(url: string, namespace: string): Promise<void> {
  const link = await openNatsLink({ servers: url });
  await ensureStreams({ link, namespace });
  await link.close();
}
