/**
 * Known pains of other agent runtimes that must not occur here: amounts, counts and durations. The numbers are those of
 * the project's list of pains.
 */
import { describe, expect, it } from "vitest";
import { casesOf } from "../harness/long.ts";
import { createGate } from "./gate.ts";
import { askedOf, openedIn, responseIn, rowsOf, settledIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, failure, toolResultsIn } from "./scripted-agents.ts";
import { createSteppingClock } from "./stepping-clock.ts";
import { teamSizes, withTeam } from "./team.ts";

const main = { id: "main", subagents: { allow: ["helper"] } };
const helped = [main, { id: "helper" }];

/** main asks helper for each task in one turn, then says that it is done. */
function asking(tasks: readonly string[], helper: Answer): Answer {
  return (question, signal) => {
    const { agent, step } = question.origin;
    if (agent !== "main") return helper(question, signal);
    return step === 1 ? calling(...tasks.map((task) => delegate("helper", task))) : "done";
  };
}

describe.each(casesOf(teamSizes, ({ hosts }) => hosts === 1))("with $what", (size) => {
  it("pain 1: three children are three runs, however many more they request", async () => {
    const answer = asking(["a", "b", "c"], ({ origin }) =>
      origin.step < 3
        ? calling(delegate("helper", `more ${origin.step}`), call("Task", { agent: "main", task: "x" }))
        : "alone",
    );
    await withTeam({ ...size, agents: helped, answer }, async (team) => {
      const session = await team.begin("go");
      expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 4 } } });
      expect((await team.rows(session.session)).runs).toHaveLength(4);
      const told = askedOf(team, "helper").flatMap(toolResultsIn);
      expect(told).toHaveLength(12);
      expect(told.every(({ isError }) => isError)).toBe(true);
    });
  });

  it("pain 1: a tree that wants to grow without end stays within its depth, its breadth and its number of runs", async () => {
    const all = ["boss", "lead", "chief", "head", "hand"];
    const agents = all.map((id) => ({
      id,
      subagents: { allow: all.filter((other) => other !== id) },
      limits: { maxChildren: 4, maxIterations: 4 },
    }));
    const answer: Answer = ({ origin, tools }) => {
      const spec = tools.find(({ name }) => name === "delegate");
      const list = (spec?.inputSchema as { properties?: { agent?: { enum?: string[] } } } | undefined)?.properties
        ?.agent?.enum;
      const targets = list ?? [];
      return targets.length === 0
        ? "enough"
        : calling(...targets.map((id) => delegate(id, `${origin.agent} wants more`)));
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go", { agent: "boss", budget: { spawns: 25 }, limits: { maxDepth: 2 } });
      const response = await session.response;
      expect(response.metrics.charged.spawns).toBeLessThanOrEqual(25);
      const tree = await team.tree(session);
      expect(tree.length).toBeGreaterThan(5);
      expect(tree.length).toBeLessThanOrEqual(26);
      const begun = tree.map((entries) => openedIn(entries).request);
      expect(Math.max(...begun.map(({ depth }) => depth))).toBe(2);
      for (const { run } of begun) {
        expect(begun.filter(({ parent }) => parent?.run === run).length).toBeLessThanOrEqual(4);
      }
    });
  });

  it("pain 2: children over the cap queue, with known positions, and none is denied", async () => {
    const gate = createGate();
    const agents = [{ id: "main", subagents: { allow: ["helper"], max_concurrent: 2 } }, { id: "helper" }];
    const tasks = ["a", "b", "c", "d", "e", "f"];
    const answer = asking(tasks, ({ origin }) =>
      gate.within(async () => {
        await gate.pass();
        return `did ${origin.task}`;
      }),
    );
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go");
      await gate.reachedBy(2);
      const { runs } = await team.rowsOnce(session.session, ({ runs: rows }) => rows.length === 7);
      const children = rowsOf(runs, "helper");
      expect(children.map(({ task, exactStatus, queuePosition }) => [task, exactStatus, queuePosition])).toEqual([
        ["a", "running", null],
        ["b", "running", null],
        ["c", "queued", 1],
        ["d", "queued", 2],
        ["e", "queued", 3],
        ["f", "queued", 4],
      ]);
      gate.open();
      expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 7 } } });
      expect(gate.mostAtOnce).toBe(2);
      const results = askedOf(team, "main")
        .flatMap(toolResultsIn)
        .map(({ text }) => JSON.parse(text).summary);
      expect(results).toEqual(tasks.map((task) => `did ${task}`));
    });
  });

  it("pain 3: a child that never answers ends at its own deadline, and its parent gets the response and continues", async () => {
    const clock = createSteppingClock();
    const agents = [main, { id: "helper", limits: { maxDurationMs: 60_000 } }];
    const answer = asking(["hang", "work"], ({ origin }) =>
      origin.task === "hang" ? new Promise<string>(() => {}) : "worked",
    );
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const response = await team.ask("go");
      expect(response).toMatchObject({ status: "completed", details: "done" });
      expect(response.metrics.durationMs).toBe(60_000);
      const [hung, worked] = askedOf(team, "main")
        .flatMap(toolResultsIn)
        .map(({ text }) => JSON.parse(text));
      expect(hung).toMatchObject({ status: "timeout", bailout_reason: "timeout" });
      expect(worked).toMatchObject({ status: "completed", summary: "worked" });
    });
  });

  it("pain 3: the parent finds the end of nine children, although every message is lost", async () => {
    const clock = createSteppingClock();
    const tasks = Array.from({ length: 9 }, (_, i) => `part ${i}`);
    const loses = (subject: string, text: string): boolean =>
      subject.includes(".settled.") && text.includes('"agent":"helper"');
    await withTeam({ ...size, agents: helped, answer: asking(tasks, () => "did it"), clock, loses }, async (team) => {
      const response = await team.ask("go");
      expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 10 } } });
      expect(response.metrics.durationMs).toBeLessThan(60_000);
    });
  });

  it("pain 7: the machine enforces a child's cap on turns against its model", async () => {
    const agents = [main, { id: "helper", limits: { maxIterations: 3 } }];
    const answer = asking(["go on"], ({ origin }) => ({
      text: `step ${origin.step}`,
      calls: [call("echo", { at: origin.step })],
    }));
    await withTeam({ ...size, agents, answer }, async (team) => {
      expect(await team.ask("go")).toMatchObject({ status: "completed" });
      expect(askedOf(team, "helper")).toHaveLength(3);
      const [told] = askedOf(team, "main").flatMap(toolResultsIn);
      expect(JSON.parse(told?.text ?? "")).toMatchObject({
        status: "bailed_out",
        bailout_reason: "max_iterations",
        iteration_count: 3,
      });
    });
  });

  it("pain 7: a child gets at most its parent's remaining time and budget", async () => {
    const clock = createSteppingClock();
    const agents = [
      { id: "main", subagents: { allow: ["helper"] }, limits: { maxDurationMs: 100_000 } },
      { id: "helper", limits: { maxDurationMs: 300_000 }, budget: { tokens: 1_000_000 } },
    ];
    const answer: Answer = async ({ origin }) => {
      if (origin.agent === "helper") return await new Promise<string>(() => {});
      if (origin.step === 2) return "done";
      await new Promise<void>((resolve) => clock.after(40_000, resolve));
      return calling(delegate("helper", "hang"));
    };
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("go", { budget: { tokens: 50_000 } });
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", details: "done" });
      expect(response.metrics.durationMs).toBeLessThan(100_000);
      const [, child = []] = await team.tree(session);
      const { request, pin: spec } = openedIn(child);
      expect(request.remainingMs).toBe(59_000);
      expect(spec.budget.tokens).toBeGreaterThan(0);
      expect(spec.budget.tokens).toBeLessThan(50_000);
      expect(responseIn(child).status).toBe("timeout");
    });
  });

  it("pain 8: a run that reaches its cap reports it, with the cap and its partial result", async () => {
    const agents = [
      { id: "main", subagents: { allow: ["helper"] } },
      { id: "helper", limits: { maxIterations: 2 } },
    ];
    const answer = asking(["count the files"], ({ origin }) => ({
      text: origin.step === 1 ? "Found 3 files so far." : "Found 7 files; two folders are left.",
      calls: [call("echo", { at: origin.step })],
    }));
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go");
      await session.response;
      const [, child = []] = await team.tree(session);
      expect(responseIn(child)).toMatchObject({
        status: "bailed_out",
        success: false,
        bailoutReason: "max_iterations",
        details: "Found 7 files; two folders are left.",
        toolsUsed: ["echo"],
      });
      const [told] = askedOf(team, "main").flatMap(toolResultsIn);
      expect(JSON.parse(told?.text ?? "")).toMatchObject({
        bailout_reason: "max_iterations",
        details: "Found 7 files; two folders are left.",
      });
    });
  });

  it("pain 8: the last turn is announced, and has no tools, so that it ends with an answer", async () => {
    const agents = [{ id: "main", limits: { maxIterations: 2 } }];
    const answer: Answer = ({ tools }) => (tools.length > 0 ? calling(call("echo", { x: 1 })) : "that is all I have");
    await withTeam({ ...size, agents, answer }, async (team) => {
      expect(await team.ask("go")).toMatchObject({ details: "that is all I have" });
      const [first, last] = team.questions;
      expect(first?.messages.at(-1)?.text).not.toContain("last turn");
      expect(last?.messages.at(-1)?.text).toContain("last turn");
    });
  });

  it("pain 9: a model can tighten the limits of its children, and loosen none", async () => {
    const own = { maxIterations: 3, maxToolCalls: 5, maxTokens: 9_000, maxDurationMs: 60_000 };
    const agents = [
      { id: "main", subagents: { allow: ["helper"] } },
      { id: "helper", limits: own, budget: { tokens: 8_000 } },
    ];
    const more = { max_iterations: 1_000, max_tool_calls: 1_000, max_tokens: 1_000_000, max_duration_ms: 86_400_000 };
    const less = { max_iterations: 2, max_tool_calls: 1, max_tokens: 5_000, max_duration_ms: 1_000 };
    const answer: Answer = ({ origin }) => {
      if (origin.agent === "helper") return "helped";
      if (origin.step > 1) return "done";
      const greedy = {
        maxSteps: 99,
        maxIterations: 99,
        max_depth: 99,
        budget: { tokens: 1e9 },
        limits: { ...more, max_depth: 99, maxIterations: 99 },
      };
      return calling(delegate("helper", "more", greedy), delegate("helper", "less", { limits: less }));
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go", { limits: { maxDepth: 2 } });
      expect(await session.response).toMatchObject({ status: "completed" });
      const [, ...children] = await team.tree(session);
      const specs = children
        .map((entries) => openedIn(entries))
        .map(({ request, pin: spec }) => ({ task: request.task, ...spec }));
      const specOf = (task: string) => specs.find((spec) => spec.task === task);
      expect(specOf("more")?.limits).toMatchObject({ ...own, maxDepth: 2 });
      expect(specOf("more")?.budget.tokens).toBe(8_000);
      expect(specOf("less")?.limits).toMatchObject({
        maxIterations: 2,
        maxToolCalls: 1,
        maxTokens: 5_000,
        maxDurationMs: 1_000,
      });
    });
  });

  it("pain 17: a rate-limited model call waits, and loses no work", async () => {
    const clock = createSteppingClock();
    let refusedCalls = 0;
    const answer = asking(["work"], ({ origin }) => {
      if (origin.step < 3) return calling(call("echo", { at: origin.step }));
      refusedCalls += 1;
      if (refusedCalls <= 4) throw failure("rate_limit", 20_000);
      return "worked";
    });
    await withTeam({ ...size, agents: helped, answer, clock }, async (team) => {
      const session = await team.begin("go");
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 2, toolCalls: 3 } } });
      expect(response.metrics.durationMs).toBe(80_000);
      const asked = askedOf(team, "helper").map(({ origin }) => [origin.attempt, origin.step]);
      expect(asked).toEqual([
        [1, 1],
        [1, 2],
        [1, 3],
        [1, 3],
        [1, 3],
        [1, 3],
        [1, 3],
      ]);
    });
  });

  it("pain 17: a child that loses the network is retried, and its siblings are not", async () => {
    const clock = createSteppingClock();
    const agents = [main, { id: "helper", retry: { maxAttempts: 3, backoffMs: 1_000 } }];
    const answer = asking(["shaky", "steady"], ({ origin }) => {
      if (origin.task === "shaky" && origin.attempt < 3) throw failure("network");
      return `${origin.task} at attempt ${origin.attempt}`;
    });
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("go");
      expect(await clock.until(session.response)).toMatchObject({
        status: "completed",
        metrics: { subtree: { runs: 5 } },
      });
      const results = askedOf(team, "main")
        .flatMap(toolResultsIn)
        .map(({ text }) => JSON.parse(text).summary);
      expect(results).toEqual(["shaky at attempt 3", "steady at attempt 1"]);
      const attempts = settledIn(await team.entries(session)).filter(({ request }) => request === "shaky");
      expect(attempts.map(({ status }) => status)).toEqual(["failed", "failed", "completed"]);
      expect(new Set(attempts.map(({ runId }) => runId)).size).toBe(3);
    });
  });

  it("pain 18: the usage of a run is its own and that of its descendants, to the token and the cent", async () => {
    const agents = [
      { id: "main", subagents: { allow: ["lead"] } },
      { id: "lead", subagents: { allow: ["helper"] } },
      { id: "helper" },
    ];
    const costs = { main: 0.01, lead: 0.02, helper: 0.04 };
    const answer: Answer = ({ origin }) => {
      const agent = origin.agent as keyof typeof costs;
      const usage = { inputTokens: 100 * origin.step, outputTokens: 7, cachedTokens: 0, costUsd: costs[agent] };
      if (agent === "helper" || origin.step > 1) return { text: "done", usage };
      const target = agent === "main" ? "lead" : "helper";
      return { ...calling(delegate(target, "1"), delegate(target, "2")), usage };
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go");
      const { metrics } = await session.response;
      const tree = await team.tree(session);
      const replies = tree.flat().flatMap((entry) => (entry.kind === "model.replied" ? [entry.reply.usage] : []));
      const tokens = replies.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
      expect(metrics.totalTokens).toBe(100 + 7 + 200 + 7);
      expect(metrics.costUsd).toBeCloseTo(0.02);
      expect(metrics.subtree).toMatchObject({ runs: 7, iterations: 10, toolCalls: 6, totalTokens: tokens });
      expect(metrics.subtree.costUsd).toBeCloseTo(2 * 0.01 + 4 * 0.02 + 4 * 0.04);
      const { session: row, runs } = await team.rows(session.session);
      expect(row).toMatchObject({ runs: 7, totalTokens: tokens });
      expect(row.costUsd).toBeCloseTo(0.26);
      expect(runs.reduce((sum, { totalTokens }) => sum + totalTokens, 0)).toBe(tokens);
    });
  });

  it("pain 23: a response larger than any message arrives whole, and at once", async () => {
    const clock = createSteppingClock();
    const long = "a line of the report\n".repeat(100_000);
    const answer = asking(["report"], () => long);
    await withTeam({ ...size, agents: helped, answer, clock }, async (team) => {
      const session = await team.begin("go");
      expect(await clock.until(session.response)).toMatchObject({ status: "completed", metrics: { durationMs: 0 } });
      const [settled] = settledIn(await team.entries(session));
      expect(settled?.details).toBe(long);
    });
  });
});
