/** Which calls run, which need approval, and which never run twice. */
import { CallPreview, type ToolContext, ToolOutcome, type ToolSpec } from "@troupe/core";
import {
  approvalId,
  type EffectClass,
  type EffectOf,
  type FileLosses,
  type FilePlan,
  findAgentSpec,
  hashText,
  previewPath,
  type RunFolder,
  sharedFolder,
} from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { toolCall } from "../host-deps.test-helper.ts";
import { askApproval } from "./ask-approval.ts";
import { callTool } from "./call-tool.ts";
import { createScope, run } from "./scope.test-helper.ts";

function calling(name: string, changes: Partial<EffectOf<"callTool">> = {}): EffectOf<"callTool"> {
  return {
    kind: "callTool",
    run,
    step: 2,
    call: 1,
    toolCall: toolCall(name, { b: 1, a: "x" }),
    approved: false,
    ...changes,
  };
}

const chain = ["boss", "lead"];

test.each([
  ["the limit of its conversation is unknown", { maxContextTokens: null }, undefined],
  ["the limit is high", { maxContextTokens: 100_000 }, 75_000],
  ["the limit is low", { maxContextTokens: 4_000 }, 3_000],
  ["the limit is very low", { maxContextTokens: 100 }, 1_024],
])("an output is at most a quarter of the room of its run, if %s", async (_, limits, bytesMax) => {
  const asked: ToolContext[] = [];
  const run = async (_call: unknown, context: ToolContext) => {
    asked.push(context);
    return ToolOutcome.parse({ output: "" });
  };
  const scope = await createScope({ tools: { run } });
  const spec = { ...scope.pin, limits: { ...scope.pin.limits, ...limits }, contextTokens: null };
  await callTool(calling("echo"), { ...scope, pin: spec });
  expect(asked.map(({ outputBytesMax }) => outputBytesMax)).toEqual([bytesMax]);
});

test("nothing of other runs comes between the check of a certain lease and the start of a call", async () => {
  let isSuspended = false;
  const begun: boolean[] = [];
  const scope = await createScope({
    scope: {
      isHeld() {
        isSuspended = false;
        // The next code that runs may be another run's, and the process may be suspended there for longer than its lease.
        queueMicrotask(() => {
          isSuspended = true;
        });
        return true;
      },
    },
    tools: {
      run: async () => {
        begun.push(isSuspended);
        return ToolOutcome.parse({ output: "" });
      },
    },
  });
  await callTool(calling("danger"), scope);
  expect(begun).toEqual([false]);
});

describe("a search for agents", () => {
  const agents = [
    { id: "main", subagents: { allow: ["sql"] } },
    { id: "sql", description: "Tunes slow queries." },
    { id: "hidden", description: "Tunes slow engines." },
  ];
  const search = (args: object) =>
    calling("find_agent", { toolCall: { ...toolCall("find_agent", {}), args } as never });
  const outcomeOf = async (args: object, deps: object = {}) => {
    const scope = await createScope({ agents });
    const offered = [...scope.pin.tools, { ...findAgentSpec }];
    const entry = await callTool(search(args), {
      ...scope,
      deps: { ...scope.deps, ...deps },
      pin: { ...scope.pin, tools: offered },
    });
    return { outcome: entry?.kind === "tool.finished" ? entry.outcome : null, calls: scope.deps.toolCalls };
  };

  test("is answered from the spec of the run, without the tools of the host", async () => {
    const { outcome, calls } = await outcomeOf({ query: "slow" });
    expect(JSON.parse(outcome?.output ?? "")).toEqual({
      agents: [{ agent: "sql", description: "Tunes slow queries." }],
      found: 1,
      of: 1,
    });
    expect(calls).toEqual([]);
  });

  test("with wrong arguments is an error that names the field", async () => {
    const { outcome } = await outcomeOf({ words: "slow" });
    expect(outcome).toMatchObject({ error: { type: "params", tool: "find_agent" } });
    expect(outcome?.output).toContain("find_agent: query: ");
  });

  test("in a replay has the recorded result", async () => {
    const { outcome } = await outcomeOf(
      { query: "slow" },
      {
        replay: {},
        tools: {
          specs: () => [],
          assess: () => ({ decision: "allow", risk: "low", reason: "as recorded" }),
          run: async () => ToolOutcome.parse({ output: "as recorded" }),
        },
      },
    );
    expect(outcome?.output).toBe("as recorded");
  });

  test("that was not offered is refused by the tool host", async () => {
    const scope = await createScope({ agents });
    const entry = await callTool(search({ query: "slow" }), scope);
    expect(JSON.stringify(entry)).not.toContain("Tunes");
  });
});

describe("a call that needs an approval", () => {
  test("does not run: the approval request is its outcome", async () => {
    const scope = await createScope({ request: { chain } });
    const id = approvalId({ run, step: 2, call: 1, argsHash: hashText('{"a":"x","b":1}') });
    expect(await callTool(calling("deploy"), scope)).toEqual({
      kind: "approval.requested",
      step: 2,
      call: 1,
      approval: {
        id,
        tool: "deploy",
        args: { b: 1, a: "x" },
        risk: "high",
        reason: "deploy is of high risk",
        path: ["boss", "lead", "main"],
      },
    });
    expect(scope.deps.toolCalls).toEqual([]);
    expect(scope.recorded).toEqual([]);
  });

  test("runs after an allowance, and the tool's machine knows of it", async () => {
    const approved: boolean[] = [];
    const scope = await createScope({
      tools: {
        run: async (_call, context) => {
          approved.push(context.approved);
          return ToolOutcome.parse({ output: "deployed" });
        },
      },
    });
    expect(await callTool(calling("deploy", { approved: true }), scope)).toMatchObject({ kind: "tool.finished" });
    expect(approved).toEqual([true]);
    expect(scope.recorded).toMatchObject([{ kind: "tool.started", tool: "deploy" }]);
  });

  test.each([
    ["the same subcommand", ["npm test"], "tool.finished"],
    ["another subcommand", ["npm publish"], "approval.requested"],
    ["one more command", ["npm test", "curl"], "approval.requested"],
    ["a call that cannot be told", [], "approval.requested"],
  ])("needs no approval if an allowance for the run covers it: %s", async (_, covers, kind) => {
    const scope = await createScope({ tools: { reachOf: async () => ({ covers }) } });
    const allowances = [{ tool: "deploy", risk: "high" as const, covers: ["npm test"] }];
    const entry = await callTool(calling("deploy", { allowances }), scope);
    expect(entry).toMatchObject({ kind, ...(kind === "tool.finished" ? {} : { approval: { covers } }) });
    const lower = [{ tool: "deploy", risk: "medium" as const, covers }];
    expect(await callTool(calling("deploy", { allowances: lower }), scope)).toMatchObject({
      kind: "approval.requested",
    });
  });

  test("runs if it was allowed before its host was lost", async () => {
    const scope = await createScope({ scope: { resumed: true } });
    expect(await callTool(calling("deploy", { approved: true }), scope)).toMatchObject({ outcome: { inDoubt: false } });
    expect(scope.deps.toolCalls).toEqual([`${run}/2/1`]);
  });

  test("that may have run on a lost host needs its approval before it is verified", async () => {
    let verified = 0;
    const scope = await createScope({
      scope: { resumed: true },
      tools: {
        specs: () => [
          { name: "deploy", risk: "high", effect: "verifiable", description: "", groups: [], inputSchema: {} },
        ],
        verify: async () => {
          verified += 1;
          return ToolOutcome.parse({ output: "was done" });
        },
      },
    });
    expect(await callTool(calling("deploy"), scope)).toMatchObject({ kind: "approval.requested" });
    expect(verified).toBe(0);
    expect(await callTool(calling("deploy", { approved: true }), scope)).toMatchObject({
      outcome: { output: "was done" },
    });
  });

  const bound = (digest: string) => [{ path: "build.sh", digest }];
  const examining = (digest: string, losses?: FileLosses) => ({
    examine: async () => ({
      ...{ decision: "ask" as const, risk: "high" as const, reason: "deploy is of high risk" },
      ...{ covers: ["sh build.sh"], bound: bound(digest), ...(losses ? { losses } : {}) },
    }),
  });
  const lossOf = (digest: string): FileLosses => ({ files: [{ path: "a", bytes: 1 }], count: 1, bytes: 1, digest });

  test("is bound to the files that it runs: it is asked about again if they have changed", async () => {
    const scope = await createScope({ tools: examining("2") });
    const approval = { id: run, bound: bound("1") };
    const again = await callTool(calling("deploy", { approved: true, approval }), scope);
    expect(again).toMatchObject({
      kind: "approval.requested",
      approval: { reason: "build.sh has changed since the approval", bound: bound("2") },
    });
    expect(scope.deps.toolCalls).toEqual([]);
    const same = { id: run, bound: bound("2") };
    expect(await callTool(calling("deploy", { approved: true, approval: same }), scope)).toMatchObject({
      kind: "tool.finished",
    });
  });

  test("is asked about again if it would lose other files", async () => {
    const approval = { id: run, bound: bound("1"), losses: lossOf("a") };
    const scope = await createScope({ tools: examining("1", lossOf("b")) });
    expect(await callTool(calling("deploy", { approved: true, approval }), scope)).toMatchObject({
      kind: "approval.requested",
      approval: { losses: { digest: "b" } },
    });
  });

  test("has its preview in the question, whose id depends on it", async () => {
    const asking = (title: string, digest: string) => ({
      examine: async () => ({
        ...{ decision: "ask" as const, risk: "high" as const, reason: "it deletes an event", covers: [] },
        bound: [{ path: previewPath, digest }],
        preview: CallPreview.parse({ kind: "event", action: "delete", title, when: "today" }),
      }),
    });
    const questions = await Promise.all(
      [asking("Standup", "1"), asking("Standup", "1"), asking("Board", "2")].map(async (tools) => {
        const entry = await callTool(calling("deploy"), await createScope({ tools }));
        return entry?.kind === "approval.requested" ? entry.approval : null;
      }),
    );
    expect(questions.map((each) => each?.preview)).toMatchObject([{ title: "Standup" }, {}, { title: "Board" }]);
    expect(questions[0]?.id).toBe(questions[1]?.id);
    expect(questions[0]?.id).not.toBe(questions[2]?.id);
  });

  test("runs with an approval of an earlier version, which is bound to no file", async () => {
    const scope = await createScope({ tools: examining("2") });
    expect(await callTool(calling("deploy", { approved: true, approval: { id: run } }), scope)).toMatchObject({
      kind: "tool.finished",
    });
  });

  test("has another id for each content, and each time that it is asked again", async () => {
    const idOf = async (digest: string, approval?: { id: string; bound: ReturnType<typeof bound> }) => {
      const scope = await createScope({ tools: examining(digest) });
      const changes = approval ? { approved: true, approval } : {};
      const entry = await callTool(calling("deploy", changes), scope);
      return entry?.kind === "approval.requested" ? entry.approval.id : null;
    };
    const first = await idOf("1");
    const ids = [
      first,
      await idOf("2"),
      await idOf("1", { id: first ?? "", bound: bound("0") }),
      await idOf("1", { id: run, bound: bound("0") }),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(await idOf("1")).toBe(first);
  });

  test("has another id with other arguments, at another position, and in another run", async () => {
    const scope = await createScope();
    const questions = await Promise.all([
      callTool(calling("deploy"), scope),
      callTool(calling("deploy", { toolCall: toolCall("deploy", { b: 2, a: "x" }) }), scope),
      callTool(calling("deploy", { call: 2 }), scope),
      callTool(calling("deploy", { step: 3 }), scope),
      callTool(calling("deploy"), await createScope({ request: { run: "0198a000-0000-7000-8000-000000000002" } })),
    ]);
    const ids = questions.map((body) => (body?.kind === "approval.requested" ? body.approval.id : null));
    expect(new Set(ids).size).toBe(5);
  });

  test("has the same id whatever the order of its arguments", async () => {
    const scope = await createScope();
    const [one, other] = await Promise.all([
      callTool(calling("deploy"), scope),
      callTool(calling("deploy", { toolCall: toolCall("deploy", { a: "x", b: 1 }) }), scope),
    ]);
    expect(one).toMatchObject({ approval: { id: other?.kind === "approval.requested" && other.approval.id } });
  });
});

test("a call that policy denies is refused by the tool host", async () => {
  const scope = await createScope({
    tools: {
      assess: () => ({ decision: "deny", risk: "high", reason: "never here" }),
      run: async () => ToolOutcome.parse({ output: "permission: never here" }),
    },
  });
  expect(await callTool(calling("deploy"), scope)).toMatchObject({
    kind: "tool.finished",
    outcome: { output: "permission: never here" },
  });
});

test("a call of a tool that was not granted is refused, and never marked as begun", async () => {
  const scope = await createScope();
  expect(await callTool(calling("sudo"), scope)).toMatchObject({ kind: "tool.finished", tool: "sudo" });
  expect(scope.recorded).toEqual([]);
  expect(scope.shown).toEqual([]);
});

test("a call in doubt needs no approval: it is reported", async () => {
  const scope = await createScope({
    scope: { resumed: true, startedCall: (step, call) => (step === 2 && call === 1 ? { plan: null } : null) },
  });
  expect(await callTool(calling("deploy"), scope)).toMatchObject({ kind: "tool.finished", outcome: { inDoubt: true } });
  expect(scope.deps.toolCalls).toEqual([]);
});

describe("a call without an outcome after a restart", () => {
  const plan = [{ path: "a.txt", before: "old", after: "new" }];
  const specOf = (effect: EffectClass) => ({
    name: "deploy",
    risk: "low" as const,
    effect,
    description: "",
    groups: [],
    inputSchema: {},
  });

  /** The outcome, and the plans with which the tool was verified, planned and run. */
  async function resume(effect: EffectClass, found: { plan: FilePlan[] | null } | null, happened = false) {
    const seen: string[] = [];
    const planNow = [{ path: "a.txt", before: "another's", after: "new" }];
    const say = (what: string, given: ToolContext["plan"]) => void seen.push(`${what} ${given?.[0]?.before ?? "-"}`);
    const scope = await createScope({
      scope: { resumed: true, startedCall: () => found },
      tools: {
        specs: () => [specOf(effect)],
        assess: () => ({ decision: "allow", risk: "low", reason: "it may" }),
        plan: async (_call, context) => {
          say("planned", context.plan);
          return planNow;
        },
        verify: async (_call, context) => {
          say("looked for", context.plan);
          return happened ? ToolOutcome.parse({ output: "had happened" }) : null;
        },
        run: async (_call, context) => {
          say("run", context.plan);
          return ToolOutcome.parse({ output: "run" });
        },
      },
    });
    const body = await callTool(calling("deploy"), scope);
    const outcome = body?.kind === "tool.finished" ? body.outcome : null;
    return { seen, result: outcome?.inDoubt ? "in doubt" : outcome?.output, recorded: scope.recorded };
  }

  test.each<[EffectClass, string[], string]>([
    ["read", ["run -"], "run"],
    ["idempotent", ["run -"], "run"],
    ["verifiable", ["looked for -", "planned -", "run another's"], "run"],
    ["unsafe", ["run -"], "run"],
  ])("%s, and was not announced: it runs", async (effect, seen, result) => {
    expect(await resume(effect, null)).toMatchObject({ seen, result });
  });

  test("verifiable, and announced: if it did not happen, its plan is carried out, and nothing else", async () => {
    const { seen, result, recorded } = await resume("verifiable", { plan });
    expect([seen, result]).toEqual([["looked for old", "run old"], "run"]);
    expect(recorded).toEqual([]);
  });

  test("verifiable, and done: it does not run again", async () => {
    expect(await resume("verifiable", { plan }, true)).toMatchObject({
      seen: ["looked for old"],
      result: "had happened",
    });
    expect(await resume("verifiable", null, true)).toMatchObject({ seen: ["looked for -"], result: "had happened" });
  });

  test("unsafe, and announced: it is in doubt, and neither run nor verified", async () => {
    expect(await resume("unsafe", { plan: null })).toMatchObject({ seen: [], result: "in doubt", recorded: [] });
  });
});

test("the approval of a whole run has its task, and comes before its start", async () => {
  const scope = await createScope({ request: { chain, task: "wipe the disk" } });
  expect(await askApproval({ kind: "askApproval", run, reason: "the intent is of high risk" }, scope)).toEqual({
    kind: "approval.requested",
    step: 0,
    call: 0,
    approval: {
      id: approvalId({ run, step: 0, call: 0, argsHash: hashText('{"task":"wipe the disk"}') }),
      tool: null,
      args: { task: "wipe the disk" },
      risk: "high",
      reason: "the intent is of high risk",
      path: ["boss", "lead", "main"],
    },
  });
});

describe("an idempotent call", () => {
  const folderChange = { changes: [], note: "[changed while this command ran: a.txt.]" };

  async function outputOf(fields: Partial<ToolSpec>): Promise<string | null> {
    const spec = { name: "deploy", risk: "low" as const, effect: "idempotent" as const, description: "", groups: [] };
    const folder: RunFolder = { ...sharedFolder("/work"), callEnded: async () => folderChange };
    const tools = {
      specs: () => [{ ...spec, inputSchema: {}, ...fields }],
      assess: () => ({ decision: "allow" as const, risk: "low" as const, reason: "it may" }),
      run: async () => ToolOutcome.parse({ output: "{}" }),
    };
    const body = await callTool(calling("deploy"), await createScope({ tools, scope: { folder } }));
    return body?.kind === "tool.finished" ? body.outcome.output : null;
  }

  test("can change files, so the host looks for them", async () => {
    expect(await outputOf({})).toBe(`{}\n${folderChange.note}`);
  });

  test("of a tool that changes no files has no files of other processes in its output", async () => {
    expect(await outputOf({ changesFiles: false })).toBe("{}");
  });
});
