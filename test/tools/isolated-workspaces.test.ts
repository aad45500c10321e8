/**
 * Runs outside their parent's folder, on hosts with separate disks that share journal, queue, bus and blobs. A host
 * that takes over such a run finds the files that its journal lists, or the run ends as lost.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Blobs,
  childRunId,
  type Entry,
  type ModelReply,
  type ModelRequest,
  type RunResponse,
  type ToolCall,
} from "@troupe/core";
import { createMemoryBlobs } from "@troupe/core/memory";
import { createFileTools, createRunFolders, createToolHost, defineTool } from "@troupe/tools";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type ActorHost, createActorHost } from "../../packages/runtime/src/host/actor-host.ts";
import {
  ask,
  createTestDeps,
  delegate,
  entriesOf,
  rootRequest,
  type Script,
  type TestAgent,
  type TestDeps,
  toolCall,
} from "../../packages/runtime/src/host/host-deps.test-helper.ts";
import { recoverOpenRuns } from "../../packages/runtime/src/host/recovery/resume-open-runs.ts";
import { replaySession } from "../../packages/runtime/src/replay/replay-session.ts";
import { git, makeRepository, put } from "../../packages/tools/src/run-workspaces/run-folders.fixture.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const subagents = { allow: ["maker", "helper"], deny: [], execution: "parallel" as const, max_concurrent: 5 };
const tools = ["read", "write", "edit", "sh"];
const writer = { tools, limits: {} };

/** A command, as far as folders are concerned: it changes files, and says nothing of it. */
const sh = defineTool({
  name: "sh",
  description: "writes a file, as a command would",
  input: z.strictObject({ path: z.string(), text: z.string() }),
  risk: "low",
  effect: "unsafe",
  async run({ path, text }, { workspace }) {
    await writeFile(join(workspace, path), text);
    return { output: "done" };
  },
});

interface HostsFixture {
  root: string;
  session: string;
  blobs: Blobs;
  /** A host with a disk of its own, over the ports of the first. */
  deps(name: string, script: Script): TestDeps;
}

async function createHostsFixture(agents: TestAgent[]): Promise<HostsFixture> {
  const root = await mkdtemp(join(tmpdir(), "troupe-own-folders-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const session = join(root, "session");
  await makeRepository(session, { "a.txt": "first\n" });
  const blobs = createMemoryBlobs();
  let first: TestDeps | null = null;
  return {
    root,
    session,
    blobs,
    deps(name, script) {
      const own = createTestDeps({ agents, script, ...(first ? { keep: first } : {}) });
      const deps: TestDeps = {
        ...own,
        hostId: name,
        folders: createRunFolders({ folder: join(root, name), blobs }),
        tools: createToolHost({ tools: [...createFileTools({ journal: own.journal }), sh], blobs }),
      };
      first ??= deps;
      return deps;
    },
  };
}

const hosts: ActorHost[] = [];

async function start(deps: TestDeps): Promise<ActorHost> {
  const host = createActorHost({ deps });
  hosts.push(host);
  await host.start();
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 0 })));
});

function write(path: string, content: string) {
  return toolCall("write", { path, content }, `write-${path}`);
}

/** Scripted calls by agent and step; at any other step the agent is done. */
type ScriptedCalls = Readonly<Record<string, readonly ToolCall[]>>;

function saying(script: ScriptedCalls): (asked: ModelRequest) => Partial<ModelReply> {
  return ({ origin: { agent, step } }) => {
    const calls = script[`${agent} ${step}`];
    return calls ? { calls: [...calls] } : { text: "done" };
  };
}

/** The record alone brings the session about again, with no folder anywhere. */
async function expectSameReplay({ journal }: TestDeps, session: string): Promise<void> {
  expect((await replaySession({ session, from: journal })).divergence).toBeNull();
}

const never = (): Promise<never> => new Promise(() => {});

/** Stops a host during a model call: only its journal is left. */
async function crashAfter(fixture: HostsFixture, name: string, script: (step: number) => ReturnType<Script> | null) {
  const reached = Promise.withResolvers<void>();
  const deps = fixture.deps(name, ({ origin }) => {
    const reply = script(origin.step);
    if (reply) return reply;
    reached.resolve();
    return never();
  });
  const lost = createActorHost({ deps });
  await lost.start();
  return { deps, reached: reached.promise };
}

describe("an isolated run", () => {
  const agents = [{ id: "main", workspace: "isolated" as const, ...writer }];
  const request = (fixture: HostsFixture) =>
    rootRequest({ run, workspace: { id: "w1", path: fixture.session, mode: "isolated" } });

  async function moved(
    fixture: HostsFixture,
    before: (first: TestDeps) => Promise<void> = async () => {},
  ): Promise<{ response: RunResponse; entries: Entry[]; second: TestDeps }> {
    const { deps: first, reached } = await crashAfter(fixture, "a", (step) =>
      step === 1 ? { calls: [write("a.txt", "one\n"), toolCall("sh", { path: "b.txt", text: "two\n" })] } : null,
    );
    void ask(first, request(fixture));
    await reached;
    await before(first);
    const second = fixture.deps("b", ({ origin }) =>
      origin.step === 2
        ? {
            calls: [
              toolCall("edit", { path: "a.txt", old: "one", new: "one more" }),
              toolCall("read", { path: "b.txt" }),
            ],
          }
        : { text: "done" },
    );
    const answer = ask(second, request(fixture));
    await start(second);
    await recoverOpenRuns(second.journal, second.queue);
    const response = await answer;
    return { response, entries: await entriesOf(second, request(fixture)), second };
  }

  test("continues on another disk with the files in its journal", async () => {
    const fixture = await createHostsFixture(agents);
    const { response, entries, second } = await moved(fixture);
    expect(response).toMatchObject({ status: "completed", filesModified: ["a.txt"] });
    expect(response.filesCreated.toSorted()).toEqual(["a.txt", "b.txt"]);
    const outputs = entries.flatMap((entry) => (entry.kind === "tool.finished" ? [entry.outcome.output] : []));
    expect(outputs.join("\n")).toContain("two");
    const refs = Object.fromEntries(response.artifacts.map(({ name, ref }) => [name, ref]));
    expect(Buffer.from((await fixture.blobs.get(refs["a.txt"] ?? "")) ?? []).toString()).toBe("one more\n");
    expect(Object.keys(refs)).toEqual(["a.txt", "b.txt"]);
    await expectSameReplay(second, response.sessionId);
    // The session's folder is as it was, and the run's own is gone.
    expect(git(fixture.session, "status", "--porcelain")).toBe("");
    await expect.poll(() => readdir(join(fixture.root, "b", "isolated"))).toEqual([]);
  });

  test("has its changes in the record, with those of commands, each once", async () => {
    const { entries } = await moved(await createHostsFixture(agents));
    const changes = entries.flatMap((entry) => (entry.kind === "tool.finished" ? entry.outcome.changes : []));
    expect(changes.map(({ path, kind }) => `${kind} ${path}`).sort()).toEqual([
      "created a.txt",
      "created b.txt",
      "modified a.txt",
    ]);
  });

  test("is lost if the store lacks a file of its journal, and does not start", async () => {
    const fixture = await createHostsFixture(agents);
    const { response, second } = await moved(fixture, async () => {
      fixture.blobs.get = async () => null;
    });
    expect(response).toMatchObject({ status: "failed", error: { type: "workspace_lost" } });
    expect(response.error?.message).toMatch(/is not in the store/);
    expect(second.modelCalls).toEqual([]);
    expect(second.toolCalls).toEqual([]);
  });
});

describe("an isolated child", () => {
  const child = childRunId({ parentRun: run, step: 1, call: 0, item: 0, attempt: 1 });
  const agents = (workspace: TestAgent["workspace"], more: TestAgent = {}): TestAgent[] => [
    { id: "main", tools, subagents, ...more },
    { id: "maker", ...writer, workspace, subagents: { ...subagents, allow: ["helper"] } },
    { id: "helper", ...writer },
  ];

  test("starts with its named files, and its changed files are returned by reference", async () => {
    const fixture = await createHostsFixture(agents("isolated"));
    const long = "one of many lines\n".repeat(2_000);
    await put(fixture.session, { "long.txt": long });
    const seen: string[] = [];
    const deps = fixture.deps("a", ({ origin, messages }) => {
      if (origin.agent === "main" && origin.step === 1) {
        return {
          calls: [toolCall("delegate", { agent: "maker", task: "make", context_files: ["a.txt", "long.txt"] })],
        };
      }
      seen.push(`${origin.agent} ${JSON.stringify(messages.slice(-2))}`);
      if (origin.agent === "maker" && origin.step === 1) {
        return { calls: [toolCall("read", { path: "a.txt" }), toolCall("sh", { path: "made.txt", text: "m" })] };
      }
      return { text: "done" };
    });
    await start(deps);
    const response = await ask(deps, rootRequest({ run, workspace: { id: "w1", path: fixture.session } }));
    expect(response).toMatchObject({ status: "completed", filesCreated: [], artifacts: [{ name: "made.txt" }] });
    expect(seen[0]).toMatch(/File long\.txt: 3\d+ characters, in your folder/);
    expect(seen[0]).not.toContain("one of many");
    expect(seen[1]).toMatch(/read.*first/);
    await expectSameReplay(deps, response.sessionId);
    // The parent's model reads the names of the artifacts that it can fetch.
    expect(seen[2]).toMatch(/artifacts.*made\.txt/);
    expect(seen[2]).toMatch(/files_created.*made\.txt/);
    const [opened] = await entriesOf(deps, { session: response.sessionId, run: child });
    expect(opened).toMatchObject({
      request: { workspace: { mode: "isolated", files: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    });
  });

  test("gives a child of its own a copy of its files, and keeps that child's files apart", async () => {
    const fixture = await createHostsFixture(agents("isolated"));
    const seen: string[] = [];
    const calls: ScriptedCalls = {
      "main 1": [delegate("maker", "make")],
      "maker 1": [write("mine.txt", "mine")],
      "maker 2": [delegate("helper", "help")],
      "maker 3": [toolCall("read", { path: "mine.txt" })],
      "helper 1": [toolCall("read", { path: "mine.txt" })],
      "helper 2": [write("mine.txt", "of the helper")],
    };
    const deps = fixture.deps("a", (asked) => {
      const { origin, messages } = asked;
      if (!saying(calls)(asked).calls) seen.push(`${origin.agent} ${JSON.stringify(messages.at(-1))}`);
      return saying(calls)(asked);
    });
    await start(deps);
    const response = await ask(deps, rootRequest({ run, workspace: { id: "w1", path: fixture.session } }));
    expect(response.status).toBe("completed");
    const ofMaker = seen.find((text) => text.startsWith("maker"));
    expect(ofMaker).toContain("mine");
    expect(ofMaker).not.toContain("of the helper");
    expect(response.artifacts.map(({ name }) => name)).toEqual(["mine.txt", "mine.txt"]);
  });

  test("without a store for folders is refused with the missing part", async () => {
    const fixture = await createHostsFixture(agents("isolated"));
    const { folders: _, ...deps } = fixture.deps("a", ({ origin }) =>
      origin.agent === "main" && origin.step === 1 ? { calls: [delegate("maker", "make")] } : { text: "done" },
    );
    await start(deps);
    const request = rootRequest({ run, workspace: { id: "w1", path: fixture.session } });
    await ask(deps, request);
    const settled = (await entriesOf(deps, request)).find(({ kind }) => kind === "child.settled");
    expect(settled).toMatchObject({
      response: { status: "failed", error: { type: "params", message: expect.stringContaining("createRunFolders") } },
    });
  });
});

describe("children in worktrees", () => {
  test("change the same file in parallel, and each branch is named", async () => {
    const fixture = await createHostsFixture([
      { id: "main", tools, subagents },
      { id: "maker", ...writer, workspace: "worktree", subagents: { ...subagents, allow: ["helper"] } },
      { id: "helper", ...writer },
    ]);
    const edit = (text: string) => toolCall("edit", { path: "a.txt", old: "first", new: text });
    const deps = fixture.deps("a", (asked) => {
      const { task } = asked.origin;
      return saying({
        "main 1": [delegate("maker", "x"), delegate("maker", "y")],
        "maker 1": [toolCall("read", { path: "a.txt" })],
        "maker 2": [edit(`by ${task}`)],
        // Its own child works where it does itself.
        "maker 3": [delegate("helper", task)],
        "helper 1": [write("helped.txt", `for ${task}`)],
      })(asked);
    });
    await start(deps);
    const response = await ask(deps, rootRequest({ run, workspace: { id: "w1", path: fixture.session } }));
    expect(response).toMatchObject({ status: "completed", filesModified: [], filesCreated: [] });
    await expectSameReplay(deps, response.sessionId);
    const branches = response.artifacts.map(({ name }) => name.replace(/^branch /, ""));
    expect(branches).toHaveLength(2);
    for (const [i, task] of ["x", "y"].entries()) {
      const contents = branches.map((branch) => git(fixture.session, "show", `${branch}:a.txt`)).sort();
      expect(contents[i]).toBe(`by ${task}`);
    }
    expect(branches.map((branch) => git(fixture.session, "show", `${branch}:helped.txt`)).sort()).toEqual([
      "for x",
      "for y",
    ]);
    expect(await readFile(join(fixture.session, "a.txt"), "utf8")).toBe("first\n");
  });
});
