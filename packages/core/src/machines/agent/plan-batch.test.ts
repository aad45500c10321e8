/** Refusals of a delegate call, and the requests of its children. */
import { describe, expect, test } from "vitest";
import type { ToolCall } from "../../protocol/tool.ts";
import {
  aBatch,
  anError,
  aToolCall,
  childSettled,
  claimed,
  reply,
  type SpecChanges,
  timerFired,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";

type Args = { [key: string]: ToolCall["args"] };

function asking(args: Args, changes: SpecChanges = {}, request: Parameters<typeof drive>[1] = {}): MachineDriver {
  const d = drive(changes, request);
  d.feed(reply(1, "I ask for help", [aToolCall("delegate", { agent: "helper", task: "help", ...args })]));
  return d;
}

function errorOf(d: MachineDriver) {
  const last = d.effect("callModel").messages.at(-1);
  return last?.role === "tool" ? JSON.parse(last.text).error : null;
}

const summarised = (step: number, text: string) => ({
  kind: "context.summarised" as const,
  step,
  text,
  usage: { inputTokens: 50, outputTokens: 5, cachedTokens: 0, costUsd: 0.25 },
  error: null,
  durationMs: 1,
});

describe("a refused delegation starts no task:", () => {
  test.each<[string, Args, string, string, SpecChanges?]>([
    [
      "an unknown agent, with the known ones",
      { agent: "missing" },
      "permission",
      'you cannot delegate to "missing"; you can to: helper, writer',
    ],
    [
      "an unknown alternative",
      { retry: { alternative: "missing" } },
      "permission",
      'you cannot delegate to "missing"; you can to: helper, writer',
    ],
    [
      "an alternative that would be a cycle",
      { retry: { alternative: "main" } },
      "permission",
      "main → main is a cycle",
    ],
    [
      "a dependency on a task of another call",
      { after: ["1"] },
      "params",
      'delegate: after: "helper" waits for "1", which is no task here; there are: helper',
    ],
    [
      "one invalid task among valid ones",
      {
        tasks: [
          { agent: "helper", task: "x" },
          { agent: "missing", task: "x" },
        ],
      },
      "permission",
      'you cannot delegate to "missing"',
    ],
    [
      "a cycle of tasks",
      { tasks: [{ agent: "helper", task: "x", name: "a", after: ["a"] }] },
      "params",
      "delegate: after: a → a is a cycle",
    ],
    [
      "more than the run's number of children",
      { tasks: Array(3).fill({ agent: "helper", task: "x" }) },
      "budget",
      "3 more agents are over the limit of 2 for one run: 2 are left",
      { limits: { maxChildren: 2 } },
    ],
    [
      "more than the tree's number of runs",
      { tasks: Array(3).fill({ agent: "helper", task: "x" }) },
      "budget",
      "3 more agents are over the budget of the whole tree: 2 may still be started",
      { budget: { spawns: 2 } },
    ],
  ])("%s", (_, args, type, message, changes) => {
    const d = asking(args, changes);
    expect(errorOf(d)).toEqual({ type, message: expect.stringContaining(message) });
    expect(d.context()).toMatchObject({ batches: {}, childrenRequested: 0, usage: { charged: { spawns: 0 } } });
    expect(d.facts.find((fact) => fact.type === "calls.planned")).toMatchObject({
      children: [],
      refused: [{ call: 0, tool: "delegate", error: { type } }],
    });
  });

  test("files from a run that may not read them", () => {
    const d = asking({ context_files: ["a.md", "b.md"] }, { grantedTools: ["shell"] });
    expect(errorOf(d)).toEqual({
      type: "permission",
      message: "context_files: you cannot read files, so you cannot pass a.md, b.md on",
    });
  });

  test("runs that an earlier call of the turn has reserved", () => {
    const d = drive({ limits: { maxChildren: 1 } });
    d.feed(
      reply(1, "", [aToolCall("delegate", { agent: "missing", task: "x" }), aBatch([{}]), aBatch([{ task: "more" }])]),
    );
    expect(d.context().calls.map(({ phase }) => phase)).toEqual(["settled", "running", "settled"]);
  });

  test("too many children over several turns, with retries not counted", () => {
    const d = asking({}, { limits: { maxChildren: 2 } });
    d.feed(childSettled(1, 0, { error: anError() }));
    d.feed(timerFired("retry/1/0/0/1"));
    d.feed(childSettled(1, 0, {}, 2));
    d.feed(reply(2, "", [aBatch([{}]), aBatch([{ task: "more" }])]));
    expect(d.context().calls.map(({ phase }) => phase)).toEqual(["running", "settled"]);
  });
});

describe("the request of a child", () => {
  test("has the tighter limits of the call, and no other limits", () => {
    const d = asking({ limits: { max_iterations: 3, max_tokens: 500 } }, { limits: { maxDepth: 2 } });
    expect(d.effect("runChild").request.limits).toEqual({ maxIterations: 3, maxTokens: 500, maxDepth: 2 });
  });

  test("has the schema for its answer, and the criteria", () => {
    const d = asking({ output_schema: { type: "object" }, success_criteria: "valid" });
    expect(d.effect("runChild").request).toMatchObject({ outputSchema: { type: "object" }, successCriteria: "valid" });
  });

  test("adds this run to its ancestors", () => {
    const above = ["00000000-0000-7000-8000-00000000eeee"];
    const d = asking({}, {}, { ancestors: above, chain: ["boss"], depth: 1 });
    const { run } = d.context().request;
    expect(d.effect("runChild").request).toMatchObject({
      ancestors: [...above, run],
      chain: ["boss", "main"],
      depth: 2,
    });
  });

  test("adds this run's own definition to the layers of its grant", () => {
    const layer = {
      from: "session",
      kind: "session" as const,
      tools: ["read"],
      denyTools: [],
      agents: null,
      denyAgents: [],
      writes: null,
    };
    const d = asking({}, { definition: { disallowedTools: ["shell"] } }, { layers: [layer] });
    expect(d.effect("runChild").request.layers).toEqual([
      layer,
      expect.objectContaining({ from: "main", denyTools: ["shell"] }),
    ]);
  });
});

describe("the context from the conversation", () => {
  test("task_only: is empty", () => {
    expect(asking({ context: "task_only" }).effect("runChild").request).toMatchObject({
      context: null,
      contextMode: "task_only",
    });
  });

  test("selective: is the named files, which its host reads", () => {
    expect(asking({ context_files: ["a.md"] }).effect("runChild").request).toMatchObject({
      context: null,
      contextMode: "selective",
      contextFiles: ["a.md"],
    });
  });

  test("full: is all messages before the reply with the call", () => {
    const d = drive();
    d.feed(reply(1, "let me look", [aToolCall("read", { path: "a" })]));
    d.feed(toolFinished(1, 0, "hello"));
    d.feed(reply(2, "I ask for help", [aToolCall("delegate", { agent: "helper", task: "x", context: "full" })]));
    expect(d.effect("runChild").request.context).toBe(
      'User: count the files\n\nAssistant: let me look\n[calls read {"path":"a"}]\n\nResult of read: hello',
    );
  });

  test("the agent's own mode applies if the call has none", () => {
    const targets = [{ id: "helper", contextMode: "full" as const }];
    expect(asking({}, { targets }).effect("runChild").request).toMatchObject({
      contextMode: "full",
      context: "User: count the files",
    });
    expect(asking({ context: "task_only" }, { targets }).effect("runChild").request.context).toBeNull();
  });

  describe("summary", () => {
    function summarising(): MachineDriver {
      const d = drive();
      d.look();
      d.feed(
        reply(1, "", [
          aBatch([{ context: "summary" }, { context: "task_only" }]),
          aBatch([{ context: "summary" }]),
          aToolCall("read"),
        ]),
      );
      return d;
    }

    test("is requested once for all children of a turn, before any of them starts", () => {
      const d = summarising();
      expect([d.state(), d.look().started]).toEqual(["execute.act.summarising", ["plan/1", "summary/1"]]);
      expect(d.effect("summarise")).toMatchObject({ step: 1, maxOutputTokens: 1_024 });
      const { started } = d.on(summarised(1, "in short"));
      expect(started).toEqual(["tool/1/2", "child/1/0/0/1", "child/1/0/1/1", "child/1/1/0/1"]);
      const contexts = d.pending().flatMap((effect) => (effect.kind === "runChild" ? [effect.request.context] : []));
      expect(contexts).toEqual(["in short", null, "in short"]);
    });

    test("is charged to the parent", () => {
      const d = summarising();
      d.feed(summarised(1, "in short"));
      expect(d.context().usage).toMatchObject({ own: { inputTokens: 150, outputTokens: 15, costUsd: 0.26 } });
    });

    test("is repeated after the loss of its host, and charged as lost", () => {
      const d = summarising();
      const reserve = d.context().callReserve?.tokens;
      d.look();
      expect(d.on(claimed()).started).toEqual(expect.arrayContaining(["summary/1"]));
      expect(d.context().usage.lost.tokens).toBe(reserve);
    });

    test("is truncated text if no budget is left for a model", () => {
      const d = drive({ budget: { tokens: 3_000 } });
      d.feed(reply(1, "", [aBatch([{ context: "summary" }])], { usage: { inputTokens: 2_000 } }));
      expect(d.effect("summarise").maxOutputTokens).toBe(0);
      expect(d.context().callReserve).toBeNull();
    });

    test("of another step is ignored", () => {
      const d = summarising();
      expect(d.on(summarised(2, "late")).state).toBe("execute.act.summarising");
    });

    test("is requested again for a later turn", () => {
      const d = drive();
      d.feed(reply(1, "", [aBatch([{ context: "summary" }])]));
      d.feed(summarised(1, "one"));
      d.feed(childSettled(1, 0));
      d.feed(reply(2, "", [aBatch([{ context: "summary", task: "more" }])]));
      d.feed(summarised(2, "two"));
      expect(d.effect("runChild").request.context).toBe("two");
    });
  });
});

describe("an expert of one domain", () => {
  const targets = [{ id: "email", domain: "email", contextMode: "full" as const }, "helper"];

  test("gets its task alone, with any requested context", () => {
    for (const context of ["full", "summary", "selective"]) {
      const d = asking({ agent: "email", context, context_files: ["a.md"] }, { targets });
      expect(d.effect("runChild").request).toMatchObject({ contextMode: "task_only", context: null, contextFiles: [] });
    }
  });

  test("never replaces an agent that has more than its task", () => {
    const d = asking({ context: "full", retry: { alternative: "email" } }, { targets });
    expect(errorOf(d)).toEqual({
      type: "params",
      message: "retry.alternative: email gets its task and nothing else: use context task_only",
    });
  });

  test("can replace an agent that has its task alone", () => {
    const d = asking({ retry: { alternative: "email", max_attempts: 1 } }, { targets });
    d.feed(childSettled(1, 0, { error: anError() }));
    d.feed(timerFired("retry/1/0/0/1"));
    expect(d.effect("runChild").request).toMatchObject({ agent: "email", context: null });
  });

  test("is skipped as an alternative even if a definition names it", () => {
    const retry = { maxAttempts: 1, backoffMs: 0, on: ["network" as const], alternative: "email" };
    const d = asking(
      { context: "full" },
      {
        targets: [
          { id: "email", domain: "email" },
          { id: "helper", retry },
        ],
      },
    );
    expect(d.on(childSettled(1, 0, { error: anError() })).state).toBe("execute.think");
  });
});

describe("an agent that works with its parent's prompt", () => {
  const general = { id: "helper", promptFrom: "parent" as const };

  test("is given it", () => {
    const d = asking({}, { targets: [general], definition: { prompt: "You are the boss." } });
    expect(d.effect("runChild").request.parentPrompt).toBe("You are the boss.");
  });

  test("is given the inherited prompt of its parent", () => {
    const definition = { prompt: "unused", promptFrom: "parent" as const };
    const d = asking({}, { targets: [general], definition }, { parentPrompt: "You are the boss of the boss." });
    expect(d.effect("runChild").request.parentPrompt).toBe("You are the boss of the boss.");
  });

  test("is given it as an alternative, too", () => {
    const d = asking({ agent: "writer", retry: { alternative: "helper" } }, { targets: ["writer", general] });
    expect(d.effect("runChild").request.parentPrompt).toBe("You do everything.");
  });

  test("is the only kind that gets it", () => {
    expect(asking({}).effect("runChild").request.parentPrompt).toBeNull();
  });
});

describe("the retry policy", () => {
  test("merges the definition and the call", () => {
    const d = asking({ retry: { max_attempts: 3 } }, { retry: { backoffMs: 70 } });
    for (const attempt of [1, 2]) {
      d.feed(childSettled(1, 0, { error: anError() }, attempt));
      const timer = d.pending().find((effect) => effect.kind === "startTimer" && effect.timer.startsWith("retry/"));
      expect(timer).toMatchObject({ timer: `retry/1/0/0/${attempt}`, delayMs: 70 * 2 ** (attempt - 1) });
      d.feed(timerFired(`retry/1/0/0/${attempt}`));
    }
    expect(d.on(childSettled(1, 0, { error: anError() }, 3)).state).toBe("execute.think");
  });

  test("uses another agent at the end, with a run of its own", () => {
    const d = asking({ retry: { alternative: "writer", max_attempts: 1 } });
    const { run } = d.effect("runChild").request;
    d.feed(childSettled(1, 0, { error: anError() }));
    d.feed(timerFired("retry/1/0/0/1"));
    expect(d.effect("runChild").request).toMatchObject({ agent: "writer", attempt: 2, task: "help" });
    expect(d.effect("runChild").request.run).not.toBe(run);
    expect(d.on(childSettled(1, 0, { error: anError() }, 2)).state).toBe("execute.think");
  });

  test("does not wait longer than its parent's time", () => {
    const d = asking({ retry: { backoff_ms: 60_000 } }, { limits: { maxDurationMs: 60_000 } });
    expect(d.on(childSettled(1, 0, { error: anError() })).state).toBe("execute.think");
  });

  test("gives a retry the time that is left, and does not retry without time", () => {
    const limits = { maxDurationMs: 60_000 };
    const d = asking({ retry: { max_attempts: 3 } }, { limits });
    d.feed(childSettled(1, 0, { error: anError() }), openedAt + 10_000);
    d.feed(timerFired("retry/1/0/0/1"), openedAt + 20_000);
    expect(d.effect("runChild").request.remainingMs).toBe(39_000);
    d.feed(childSettled(1, 0, { error: anError() }, 2), openedAt + 30_000);
    expect(d.on(timerFired("retry/1/0/0/2"), openedAt + 59_500).state).toBe("execute.think");
    expect(d.context().children.size).toBe(0);
  });

  test("does not retry if no further run is allowed", () => {
    const d = asking({}, { budget: { spawns: 1 } });
    d.feed(childSettled(1, 0, { error: anError() }));
    expect(d.on(timerFired("retry/1/0/0/1")).state).toBe("execute.think");
    expect(d.context().usage.charged.spawns).toBe(1);
  });
});

describe("the workspace of a child", () => {
  const session = { id: "w1", path: "/project", place: "box" };
  const isolated = { id: "w1", path: "/project", mode: "isolated" };
  const below = (workspace: object, target: object = {}) => {
    const targets = [
      { id: "helper", ...target },
      { id: "writer", workspace: "isolated" as const },
    ];
    const d = asking({}, { targets }, { workspace: { ...session, ...workspace } } as Parameters<typeof drive>[1]);
    d.feed({ kind: "calls.planned", step: 1, children: [], refused: [] });
    return d.effect("runChild").request.workspace;
  };

  test.each<[string, object, object, object]>([
    ["is its parent's workspace", {}, {}, session],
    ["is an isolated folder, without a locality", {}, { workspace: "isolated" }, isolated],
    [
      "is a worktree, at the locality of its parent's files",
      {},
      { workspace: "worktree" },
      { ...session, mode: "worktree" },
    ],
    ["is in its parent's worktree", { mode: "worktree" }, {}, session],
    ["keeps the folder of its agents and tools", { project: "/p" }, {}, { ...session, project: "/p" }],
    ["below an isolated run is isolated", isolated, {}, isolated],
    ["below an isolated run is isolated, against its definition", isolated, { workspace: "worktree" }, isolated],
  ])("%s", (_, workspace, target, expected) => {
    const given = "mode" in workspace && workspace.mode === "isolated" ? { ...workspace, place: undefined } : workspace;
    expect(JSON.parse(JSON.stringify(below(given, target)))).toEqual(expected);
  });

  test("is that of the alternative's file if the alternative runs", () => {
    const targets = [
      { id: "helper", retry: { maxAttempts: 1, backoffMs: 1, on: ["network" as const], alternative: "writer" } },
      { id: "writer", workspace: "isolated" as const },
    ];
    const d = asking({}, { targets }, { workspace: session });
    d.feed({ kind: "calls.planned", step: 1, children: [], refused: [] });
    d.feed(childSettled(1, 0, { status: "failed", success: false, error: anError({ type: "network" }) }));
    d.feed(timerFired("retry/1/0/0/1"));
    expect(d.effect("runChild").request).toMatchObject({ agent: "writer", workspace: isolated });
  });

  test.each([
    ["in the parent's folder, its changed files are its parent's", {}, ["made.txt"]],
    ["in its own folder, they are not", { workspace: "isolated" as const }, []],
  ])("%s", (_, target, filesCreated) => {
    const d = asking({}, { targets: [{ id: "helper", ...target }] });
    d.feed({ kind: "calls.planned", step: 1, children: [], refused: [] });
    d.feed(
      childSettled(1, 0, { agent: "helper", filesCreated: ["made.txt"], artifacts: [{ name: "made.txt", ref: "r" }] }),
    );
    d.feed(reply(2, "done"));
    expect(d.response()).toMatchObject({ filesCreated, artifacts: [{ name: "made.txt" }] });
  });
});
