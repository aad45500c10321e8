/** A session is accepted once, even if it is submitted again: its caller may have missed the reply, or the process may have crashed. */
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { type AgentDefinition, RunRequest, SubmitSession, TroupeError } from "@troupe/core";
import { decode, type SessionGrant } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { systemIds } from "@troupe/core/system";
import { parsePolicy } from "@troupe/tools/internal";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcceptOptions, createAccept } from "./accept-session.ts";
import { spawnsDefault } from "./begin-session.ts";
import { createIdleDeps, definition, type IdleDeps, recordedSession } from "./service.fixture.ts";

const session = "0198a000-0000-7000-8000-00000000000a";
let workspaces: string;

beforeEach(async () => {
  workspaces = await mkdtemp(`${tmpdir()}/troupe-accept-`);
});
afterEach(async () => {
  await rm(workspaces, { recursive: true, force: true });
});

function acceptIn(
  deps: IdleDeps,
  policy = "",
  model: AcceptOptions["model"] = { id: "test/model", demo: false },
  record: AcceptOptions["record"] = { session: async () => null },
  ids: AcceptOptions["ids"] = createCountingIds(),
) {
  const parsed = parsePolicy(policy, "policy.yaml");
  return createAccept({ deps, ids, workspaces, model, record, policy: parsed, resolveScenario: async (name) => name });
}

async function requestsIn(deps: IdleDeps): Promise<number> {
  return (await deps.journal.readInbox(session)).filter(({ item }) => item.kind === "session.requested").length;
}

const command = SubmitSession.parse({ session, task: "once" });

describe("a session with an id from its caller", () => {
  it("is the same for every submission, concurrent or later", async () => {
    const deps = await createIdleDeps();
    const accept = acceptIn(deps);
    const [first, atOnce] = await Promise.all([accept(command), accept(command)]);
    expect(first).toMatchObject({ session, workspace: `${workspaces}/${session}`, demo: false });
    expect(atOnce).toEqual(first);
    expect(await accept({ ...command, task: "something else" })).toEqual(first);
    expect(await requestsIn(deps)).toBe(1);
    expect(await deps.journal.openRuns()).toHaveLength(1);
  });

  it("is the same even after it was purged from the journal", async () => {
    const deps = await createIdleDeps();
    const detail = recordedSession(session);
    const record = { session: async (id: string) => (id === session ? detail : null) };
    const { rootRun, workspace } = detail.session;
    expect(await acceptIn(deps, "", undefined, record)(command)).toEqual({
      session,
      run: rootRun,
      workspace,
      demo: false,
    });
    expect(await requestsIn(deps)).toBe(0);
  });

  it("is one run, even if several daemons accept it before they learn of each other", async () => {
    const deps = await createIdleDeps();
    const daemons = [systemIds(), systemIds()].map((ids) => acceptIn(deps, "", undefined, undefined, ids));
    const accepted = await Promise.all(daemons.map((accept) => accept(command)));
    expect(new Set(accepted.map(({ run }) => run)).size).toBe(1);
    expect(await requestsIn(deps)).toBe(2);
    expect(await deps.journal.openRuns()).toHaveLength(1);
    expect(await deps.offered()).toHaveLength(1);
  });

  it("is offered by the next process if the one that accepted it has crashed", async () => {
    const before = await createIdleDeps();
    const first = await acceptIn(before)(command);
    const after = { ...(await createIdleDeps()), journal: before.journal };
    expect(await acceptIn(after)(command)).toEqual(first);
    expect(await after.offered()).toEqual([first.run]);
  });
});

it("every submission without an id gets a session of its own", async () => {
  const accept = acceptIn(await createIdleDeps());
  const unnamed = SubmitSession.parse({ task: "again" });
  const both = await Promise.all([accept(unnamed), accept(unnamed)]);
  expect(new Set(both.map((each) => each.session)).size).toBe(2);
});

/** The request of a session's first run. */
async function requestFor(
  wanted: Partial<SubmitSession>,
  { agents = [{ id: "main" }], policy = "" }: { agents?: Parameters<typeof definition>[0][]; policy?: string } = {},
): Promise<RunRequest> {
  const deps = await createIdleDeps(agents.map(definition));
  await acceptIn(deps, policy)({ ...command, ...wanted });
  const [task] = await deps.queue.take({ agents: "all", localities: [], max: 1 });
  return decode(RunRequest, task?.bytes ?? new Uint8Array(), "task");
}

describe("a home as the workspace", () => {
  const accept = (options: Partial<AcceptOptions>, submission: object) =>
    createIdleDeps().then((deps) =>
      createAccept({
        ...{ deps, ids: createCountingIds(), workspaces, model: { id: "test/model", demo: false } },
        resolveScenario: async (name) => name,
        ...options,
      })(SubmitSession.parse({ task: "once", ...submission })),
    );

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ["a home", (home: string) => home],
    ["a home", () => userInfo().homedir],
    ["a folder above the home", () => path.dirname(userInfo().homedir)],
    ["the whole file system", () => "/"],
  ])("is refused, with the reason and the next step: %s", async (what, workspaceOf) => {
    const home = path.join(workspaces, "people", "ada");
    await mkdir(home, { recursive: true });
    vi.stubEnv("HOME", home);
    const workspace = workspaceOf(home);
    // The parent of root's home is the whole file system.
    if (workspace === "/") what = "the whole file system";
    await expect(accept({}, { workspace })).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining(what),
      fix: expect.stringContaining("--allow-home"),
    });
    await symlink(home, path.join(workspaces, "link"));
    await expect(accept({}, { workspace: path.join(workspaces, "link") })).rejects.toMatchObject({ code: "USAGE" });
  });

  it("is allowed by the session or by the daemon, and a project in a home is allowed anyway", async () => {
    const home = path.join(workspaces, "ada");
    await mkdir(path.join(home, "project"), { recursive: true });
    vi.stubEnv("HOME", home);
    expect((await accept({}, { workspace: home, allowHome: true })).workspace).toBe(home);
    expect((await accept({ allowHome: true }, { workspace: home })).workspace).toBe(home);
    const workspace = path.join(home, "project");
    expect((await accept({}, { workspace })).workspace).toBe(workspace);
    // A HOME in a project is not a person's home.
    vi.stubEnv("HOME", workspace);
    expect((await accept({}, { workspace: home })).workspace).toBe(home);
  });
});

describe("the workspace of the root", () => {
  const workspaceOf = async (agent: Parameters<typeof definition>[0], place?: string) => {
    const deps = await createIdleDeps([definition(agent)]);
    await acceptIn(place === undefined ? deps : { ...deps, locality: place })(command);
    const [task] = await deps.queue.take({ agents: "all", localities: "all", max: 1 });
    return decode(RunRequest, task?.bytes ?? new Uint8Array(), "task").workspace;
  };

  it("names this machine's disk if there are several", async () => {
    expect(await workspaceOf({ id: "main" })).not.toHaveProperty("place");
    expect(await workspaceOf({ id: "main" }, "desk")).toMatchObject({ place: "desk" });
  });

  it("has the mode of the agent's file; an agent that only other hosts serve is isolated", async () => {
    const remote = { origin: "remote" as const, path: "lab" };
    expect(await workspaceOf({ id: "main", workspace: "worktree" }, "desk")).toMatchObject({
      mode: "worktree",
      place: "desk",
    });
    const isolated = await workspaceOf({ id: "main", source: remote }, "desk");
    expect(isolated).toMatchObject({ mode: "isolated" });
    expect(isolated).not.toHaveProperty("place");
  });
});

describe("the root's request", () => {
  it("has the policy as its first layer and the session's grant as its second", async () => {
    const policy = "tools: {deny: [shell]}";
    const first = {
      from: "policy",
      kind: "policy",
      tools: null,
      denyTools: ["shell"],
      agents: null,
      denyAgents: [],
      writes: null,
    };
    expect((await requestFor({}, { policy })).layers).toEqual([first]);
    expect((await requestFor({ grant: { tools: ["read"], denyAgents: ["main"] } }, { policy })).layers).toEqual([
      first,
      {
        from: "session",
        kind: "session",
        tools: ["read"],
        denyTools: [],
        agents: null,
        denyAgents: ["main"],
        writes: null,
      },
    ]);
  });

  it("has no parent and no ancestors", async () => {
    expect(await requestFor({})).toMatchObject({
      chain: [],
      ancestors: [],
      parent: null,
      depth: 0,
      parentPrompt: null,
    });
  });

  it.each<[string, SubmitSession["budget"], object]>([
    [
      "the default limits runs only",
      undefined,
      { tokens: null, costUsd: null, toolCalls: null, spawns: spawnsDefault },
    ],
    ["a given limit holds, next to the default", { tokens: 50_000 }, { tokens: 50_000, spawns: spawnsDefault }],
    ["more runs", { spawns: 500, costUsd: 0.5 }, { spawns: 500, costUsd: 0.5, tokens: null }],
    ["no runs at all", { spawns: 0 }, { spawns: 0 }],
  ])("has a budget: %s", async (_, budget, expected) => {
    expect((await requestFor(budget ? { budget } : {})).budget).toMatchObject(expected);
  });

  it.each<[Partial<SubmitSession>, object]>([
    [{}, {}],
    [{ timeoutMs: 50 }, { maxDurationMs: 50 }],
    [{ limits: { maxIterations: 3 } }, { maxIterations: 3 }],
    [
      { timeoutMs: 50, limits: { maxDurationMs: 20, maxDepth: 0 } },
      { maxDurationMs: 20, maxDepth: 0 },
    ],
    [{ timeoutMs: 50, limits: { maxDurationMs: 90 } }, { maxDurationMs: 50 }],
  ])("has the lower of two limits: %j", async (wanted, limits) => {
    expect((await requestFor(wanted)).limits).toEqual(limits);
  });

  it("has the temperature of its agent", async () => {
    expect((await requestFor({})).temperature).toBeNull();
    expect((await requestFor({}, { agents: [{ id: "main", temperature: 0.2 }] })).temperature).toBe(0.2);
  });
});

describe("a session's grant", () => {
  it.each<[SessionGrant]>([
    [{}],
    [{ tools: [] }],
    [{ tools: ["read", "filesystem", "*"], denyTools: ["shell", "delegate", "Task"] }],
    [{ tools: ["mcp__github__*"], denyTools: ["mcp__*"] }],
    [{ tools: ["r*"], denyTools: ["deleg*"] }],
    [{ agents: ["*"], denyAgents: ["helper"] }],
    [{ denyAgents: ["*"] }],
    [{ agents: [] }],
  ])("can be %j", async (grant) => {
    const { layers } = await requestFor({ grant }, { agents: [{ id: "main" }, { id: "helper" }] });
    expect(layers[1]).toMatchObject({ tools: grant.tools ?? null, agents: grant.agents ?? null });
  });

  it.each<[SessionGrant, string, string]>([
    [
      { tools: ["raed"] },
      'an unknown tool, "raed"; known tools: read, write, shell; groups: filesystem',
      "did you mean read?",
    ],
    [{ denyTools: ["filesytem"] }, 'an unknown tool, "filesytem"', "did you mean filesystem?"],
    [{ tools: ["mcp__github__list"] }, 'an unknown tool, "mcp__github__list"', "use the name of a known tool"],
    [{ agents: ["main", "helpr"] }, 'an unknown agent, "helpr"; known agents: main, helper', "did you mean helper?"],
    [{ denyTools: ["web_*"] }, 'an unknown tool, "web_*"', "use the name of a known tool"],
    [{ denyAgents: ["h*"] }, 'an unknown agent, "h*"', "use the name of a known agent"],
  ])("is refused with an unknown name: %j", async (grant, message, fix) => {
    const refused = requestFor({ grant }, { agents: [{ id: "main" }, { id: "helper" }] });
    await expect(refused).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining(message), fix });
  });
});

describe("an agent cannot be asked if it is disabled", () => {
  it.each<[string, Partial<AgentDefinition>, string, string]>([
    ["in its own file", { disabled: true }, "", "disabled in its own file, main.md"],
    ["by the policy", {}, "agents: {disabled: [main]}", "by this machine's policy"],
  ])("%s", async (_, changes, policy, message) => {
    const deps = await createIdleDeps([definition({ id: "main", ...changes })]);
    await expect(acceptIn(deps, policy)(command)).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining(message),
      fix: expect.stringContaining("troupe agents ls"),
    });
    expect(await requestsIn(deps)).toBe(0);
    expect(await deps.offered()).toEqual([]);
  });
});

describe("the model of a session", () => {
  const chosen: AcceptOptions["model"] = async ({ model, workspace }) => {
    if (model === "none") throw new TroupeError("UNKNOWN_MODEL", "there is no such");
    return { id: `chosen/${model}`, demo: workspace === null };
  };

  it.each([
    ["a named model, as the chooser resolves it", { model: "sonnet" }, chosen, "chosen/sonnet", true],
    ["the model of the folder if none is named", { workspace: "/usr" }, chosen, "chosen/null", false],
    ["a scenario, even if a model is named", { scenario: "s", model: "sonnet" }, chosen, "s", true],
    ["a named model as written, without a chooser", { model: "a/b" }, undefined, "a/b", false],
    ["a script, which is a demo", { model: "scripted/x" }, undefined, "scripted/x", true],
    ["otherwise the default model", {}, undefined, "test/model", false],
  ])("is %s", async (_, submission, model, id, demo) => {
    const deps = await createIdleDeps();
    const submitted = await acceptIn(deps, "", model)({ ...command, ...submission });
    expect(submitted.demo).toBe(demo);
    const [first] = await deps.journal.readInbox(session);
    expect(first?.item).toMatchObject({ kind: "session.requested", request: { model: id }, demo });
  });

  it("is refused before the session is stored if it is unknown", async () => {
    const deps = await createIdleDeps();
    await expect(acceptIn(deps, "", chosen)({ ...command, model: "none" })).rejects.toMatchObject({
      code: "UNKNOWN_MODEL",
    });
    expect(await requestsIn(deps)).toBe(0);
    expect(await deps.journal.openRuns()).toEqual([]);
  });
});
