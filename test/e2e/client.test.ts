/** `troupe/client` against real daemons: a program that only has the package, the URL and the token. */
import { rolldown } from "rolldown";
import { type ClientEvent, createClient, createLocalClient } from "troupe/client";
import { describe, it } from "vitest";
import { askingPolicy, startKillableScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const agents = {
  main: [
    {
      when: { task: "delegate it" },
      steps: [{ calls: [{ tool: "delegate", args: { agent: "coder", task: "write" } }] }, { text: "All done." }],
    },
    {
      when: { task: "ask first" },
      steps: [{ calls: [{ tool: "shell", args: { command: "true" } }] }, { text: "It ran." }],
    },
    { when: { task: "wait" }, steps: [{ text: "late", latencyMs: 600_000 }] },
    { steps: [{ text: "Hello." }] },
  ],
  coder: [{ steps: [{ text: "Written." }] }],
};

describe("a client", () => {
  it("starts, lists, reads and follows sessions", async (test) => {
    const { expect } = test;
    const { url, token, home } = await startScriptedDaemon({ test, agents });
    const client = createClient({ url, token });
    const response = await client.run({ task: "delegate it" });
    expect(response).toMatchObject({ status: "completed", summary: expect.stringContaining("All done.") });
    const { sessions, position } = await client.list({ limit: 10 });
    expect(sessions.map(({ session }) => session)).toEqual([response.sessionId]);
    const [tree] = await client.tree(response.sessionId);
    expect([tree?.run.agent, tree?.children.map(({ run }) => run.agent)]).toEqual(["main", ["coder"]]);
    expect(await client.request("GET /runs/{run}/entries", { params: { run: response.runId } })).toMatchObject({
      next: null,
      entries: expect.arrayContaining([expect.objectContaining({ kind: "run.settled" })]),
    });
    // All changes again, from the beginning: the rows at the end are those of the list.
    const seen = await collect(client.follow({ session: response.sessionId, after: 0 }), (event) => {
      return event.type === "resync" || (event.type === "change" && event.position >= position);
    });
    expect(seen.at(-1)).toMatchObject({ change: { sessions: [{ status: "completed" }] } });
    const local = await createLocalClient({ home });
    expect([local.url, (await local.status()).home]).toEqual([url, home]);
  });

  it("finds, sums up, forks and removes sessions, and reads their trees and conversations", async (test) => {
    const { expect } = test;
    const { url, token } = await startScriptedDaemon({ test, agents });
    const client = createClient({ url, token });
    const { sessionId: id, runId: run } = await client.run({ task: "delegate it" });
    await expect
      .poll(async () => (await client.request("GET /search", { query: { q: "deleg*" } })).hits)
      .toContainEqual(expect.objectContaining({ kind: "run", session: id, run }));
    const { nodes } = await client.request("GET /sessions/{id}/tree", { params: { id } });
    expect(nodes.map(({ agent, depth }) => [agent, depth])).toEqual([
      ["main", 0],
      ["coder", 1],
    ]);
    const { items } = await client.request("GET /runs/{run}/conversation", { params: { run } });
    expect(items.at(-1)).toMatchObject({ kind: "answer", text: { text: expect.stringContaining("All done.") } });
    // The scripted sessions are demos, whose costs are only counted.
    const costsSince = (since: string) => client.request("GET /costs", { query: { by: "agent", since } });
    expect(await costsSince("1d")).toMatchObject({ by: "agent", rows: [], leftOut: 2 });
    expect(await costsSince("2999-01-01T00:00:00Z")).toMatchObject({ leftOut: 0 });
    expect(await client.request("GET /stats")).toMatchObject({ since: null, leftOut: 2 });
    const prefix = id.slice(0, 13);
    const { matches } = await client.request("GET /ids/{prefix}", { params: { prefix } });
    expect(matches).toContainEqual({ kind: "session", id, session: id });
    const fork = await client.request("POST /sessions/{id}/fork", { params: { id }, body: { run, step: 1 } });
    await expect.poll(() => client.response(fork.session)).toMatchObject({ status: "completed" });
    expect((await client.get(fork.session)).session.forkedFrom).toMatchObject({ session: id });
    const { removed } = await client.request("POST /session-removals", { body: { sessions: [id] } });
    expect(removed).toEqual([id]);
    const text = client.request("POST /session-imports", { body: { text: "no export" } });
    await expect(text).rejects.toMatchObject({ code: "INVALID_EXPORT" });
  });

  it("answers approvals and cancels", async (test) => {
    const { expect } = test;
    const { url, token } = await startScriptedDaemon({ test, agents, files: askingPolicy });
    const client = createClient({ url, token });
    const { session } = await client.submit({ task: "ask first" });
    await expect.poll(async () => (await client.approvals()).approvals).toHaveLength(1);
    const [approval] = (await client.approvals()).approvals;
    expect(await client.approve(approval?.id ?? "", { by: "Ada" })).toMatchObject({ outcome: "answered" });
    await expect.poll(() => client.response(session)).toMatchObject({ status: "completed" });
    const waiting = await client.submit({ task: "wait" });
    expect(await client.cancel(waiting.session)).toMatchObject({ outcome: "requested" });
    await expect.poll(() => client.response(waiting.session)).toMatchObject({ status: "cancelled" });
  });

  it("cancels the session of a run whose signal aborts", async (test) => {
    const { expect } = test;
    const { url, token } = await startScriptedDaemon({ test, agents });
    const client = createClient({ url, token });
    const stop = new AbortController();
    const running = client.run({ task: "wait" }, { signal: stop.signal });
    await expect.poll(async () => (await client.list()).sessions.length).toBe(1);
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect.poll(async () => (await client.list()).sessions[0]?.status).toBe("cancelled");
  });

  it("follows on where it was after a kill of the daemon, without gap or repeat", async (test) => {
    const { expect } = test;
    const daemon = await startKillableScriptedDaemon({ test, agents });
    const client = createClient(daemon);
    const { position } = await client.list();
    const seen: ClientEvent[] = [];
    const stop = new AbortController();
    const patienceMs = 120_000;
    const reading = (async () => {
      for await (const event of client.follow({ after: position, signal: stop.signal, patienceMs })) seen.push(event);
    })();
    const first = await client.run({ task: "one" });
    await daemon.kill();
    await daemon.startAgain();
    const second = await client.run({ task: "two" });
    const settled = (session: string): boolean =>
      changesIn(seen).some(({ change }) =>
        change.sessions.some((row) => row.session === session && row.status === "completed"),
      );
    await expect.poll(() => [settled(first.sessionId), settled(second.sessionId)]).toEqual([true, true]);
    stop.abort();
    await reading;
    const positions = changesIn(seen).map((event) => event.position);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    expect(seen.filter(({ type }) => type === "resync")).toEqual([]);
  });

  it("is told to load everything again when the daemon has no such position", async (test) => {
    const { expect } = test;
    const { url, token } = await startScriptedDaemon({ test, agents });
    const client = createClient({ url, token });
    const [event] = await collect(client.follow({ after: 1_000_000 }), () => true);
    expect(event).toEqual({ type: "resync", position: (await client.list()).position });
  });
});

describe("a failure of a client", () => {
  it("is a TroupeError with a code and a fix", async (test) => {
    const { expect } = test;
    const { url, token } = await startScriptedDaemon({ test, agents });
    const client = createClient({ url, token });
    const id = "01990000-0000-7000-8000-00000000ffff";
    await expect(client.get(id)).rejects.toMatchObject({ code: "UNKNOWN_SESSION", fix: "troupe sessions ls" });
    await expect(client.submit({ task: " " })).rejects.toMatchObject({ code: "USAGE" });
    await expect(createClient({ url, token: "wrong" }).status()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    const wrong = createClient({ url, token: "wrong" }).follow();
    await expect(collect(wrong, () => true)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    const nowhere = createClient({ url: "http://127.0.0.1:1", token });
    await expect(nowhere.status()).rejects.toMatchObject({ code: "UNREACHABLE", fix: "troupe up" });
    await expect(collect(nowhere.follow({ patienceMs: 0 }), () => true)).rejects.toMatchObject({ code: "UNREACHABLE" });
    const home = await tempFolder("empty", test);
    await expect(createLocalClient({ home })).rejects.toMatchObject({ code: "UNREACHABLE" });
  });
});

it("the client loads nothing heavy, and needs nothing of Node before a home is read", async ({ expect }) => {
  const entry = new URL(import.meta.resolve("troupe/client"));
  const bundle = await rolldown({ input: entry.pathname, platform: "browser", external: /^node:/ });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const chunks = output.filter((one) => one.type === "chunk");
  const names = new Set([chunks[0]?.fileName ?? ""]);
  // A set that grows while it is read: the chunks that load with the first one.
  for (const name of names) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) names.add(imported);
  }
  const loaded = chunks.filter(({ fileName }) => names.has(fileName));
  expect(loaded).toHaveLength(names.size);
  const code = loaded.map((chunk) => chunk.code).join("");
  expect(code).not.toMatch(/node:|xstate|\$ZodType/);
  expect(code.length).toBeLessThan(30_000);
  expect(chunks.length).toBeGreaterThan(loaded.length);
});

function changesIn(events: readonly ClientEvent[]) {
  return events.filter((event) => event.type === "change");
}

/** The events up to the first for which `isLast` holds. */
async function collect(events: AsyncIterable<ClientEvent>, isLast: (event: ClientEvent) => boolean) {
  const seen: ClientEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}
