/** Tests batches of children: order, time, budget, and the handling of failures and of sufficient results. */
import type { ToolCall } from "@troupe/core";
import { estimateTokens } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { casesOf } from "../harness/long.ts";
import { askedOf, openedIn, plannedIn, responseIn, settledIn, wordsIn } from "./journal-queries.ts";
import {
  type Answer,
  call,
  calling,
  delegate,
  failure,
  type ScenarioAgents,
  toolResultsIn,
} from "./scripted-agents.ts";
import { createSteppingClock } from "./stepping-clock.ts";
import { type Team, teamSizes, withTeam } from "./team.ts";

const agents = [{ id: "main", subagents: { allow: ["helper", "other"] } }, { id: "helper" }, { id: "other" }];

/** Says its task after the seconds that stand in it: `fetch 3`. */
const slow = [1, 2, 3, 5, 8, 60].map((seconds) => ({
  when: { task: `/ ${seconds}$/` },
  steps: [{ latencyMs: seconds * 1_000, text: "did {{task}}" }],
}));

/** main makes one delegate call, and then says that it is done. */
function delegating(args: ToolCall["args"]): ScenarioAgents {
  return { main: [{ steps: [{ calls: [{ tool: "delegate", args }] }, { text: "done" }] }], helper: slow };
}

const tasksOf = (...tasks: string[]) => tasks.map((task) => ({ agent: "helper", task, name: task }));

const toldIn = (team: Team): Record<string, unknown>[] =>
  askedOf(team, "main")
    .flatMap(toolResultsIn)
    .map(({ text }) => JSON.parse(text));

describe.each(casesOf(teamSizes, ({ hosts }) => hosts === 1))("with $what", (size) => {
  it.each([
    { mode: "parallel", tasks: ["a 3", "b 5", "c 8"], durationMs: 8_000 },
    { mode: "sequential", tasks: ["a 3", "b 5", "c 8"], durationMs: 16_000 },
    { mode: "parallel", tasks: ["a 3"], durationMs: 3_000 },
    { mode: "parallel", tasks: ["a 1", "b 1", "c 1", "d 1", "e 1", "f 5"], durationMs: 6_000 },
  ])("a $mode batch of $tasks takes $durationMs ms", async ({ mode, tasks, durationMs }) => {
    const clock = createSteppingClock();
    // Five at once are the default: the sixth begins when the first has ended.
    await withTeam(
      { ...size, capacity: 8, agents, scenario: delegating({ tasks: tasksOf(...tasks), mode }), clock },
      async (team) => {
        const response = await team.ask("go");
        expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 1 + tasks.length } } });
        expect(response.metrics.durationMs).toBe(durationMs);
        const results = toldIn(team)[0]?.results as { name: string; summary: string }[];
        expect(results.map(({ summary }) => summary)).toEqual(tasks.map((task) => `did ${task}`));
      },
    );
  });

  it("single calls of one turn also run in parallel", async () => {
    const clock = createSteppingClock();
    const calls = ["a 3", "b 5", "c 8"].map((task) => ({ tool: "delegate", args: { agent: "helper", task } }));
    const scenario = { main: [{ steps: [{ calls }, { text: "done" }] }], helper: slow };
    await withTeam({ ...size, agents, scenario, clock }, async (team) => {
      expect((await team.ask("go")).metrics.durationMs).toBe(8_000);
    });
  });

  it("a task that depends on two others starts when both have ended, and gets their results", async () => {
    const clock = createSteppingClock();
    const tasks = [
      { agent: "helper", task: "c 2", name: "c 2", after: ["a 3", "b 5"] },
      ...tasksOf("a 3", "b 5", "d 1"),
    ];
    await withTeam({ ...size, agents, scenario: delegating({ tasks }), clock }, async (team) => {
      const session = await team.begin("go");
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { durationMs: 7_000 } });
      const waiting = askedOf(team, "helper").find(({ origin }) => origin.task === "c 2");
      expect(wordsIn(waiting as NonNullable<typeof waiting>)).toMatch(/did a 3[\s\S]*did b 5/);
      for (const other of askedOf(team, "helper").filter(({ origin }) => origin.task !== "c 2")) {
        expect(wordsIn(other)).not.toContain("did ");
      }
      const planned = plannedIn(await team.entries(session));
      expect(planned.map(({ name, after }) => [name, after])).toContainEqual(["c 2", ["a 3", "b 5"]]);
    });
  });

  it("a task with a failed dependency does not start, and the others do", async () => {
    const clock = createSteppingClock();
    const scenario = delegating({
      tasks: [
        ...tasksOf("a 3", "b 5"),
        { agent: "other", task: "x", name: "x" },
        { agent: "helper", task: "after x 1", after: ["x"] },
      ],
    });
    const other = [{ steps: [{ error: { type: "model" as const, message: "no idea" } }] }];
    await withTeam({ ...size, agents, scenario: { ...scenario, other }, clock }, async (team) => {
      const session = await team.begin("go");
      expect(await clock.until(session.response)).toMatchObject({ status: "completed" });
      const settled = settledIn(await team.entries(session));
      const of = (task: string) => settled.find(({ request }) => request === task);
      expect(of("after x 1")).toMatchObject({
        status: "rejected",
        error: { message: expect.stringContaining("x that it waits for failed") },
      });
      expect([of("a 3")?.status, of("b 5")?.status]).toEqual(["completed", "completed"]);
      expect(
        askedOf(team, "helper")
          .map(({ origin }) => origin.task)
          .sort(),
      ).toEqual(["a 3", "b 5"]);
    });
  });

  it("the parent of a streaming batch reads the first result at once, and stops the tasks that it no longer needs", async () => {
    const clock = createSteppingClock();
    const answer: Answer = async (question) => {
      const { agent, step, task } = question.origin;
      if (agent === "helper") {
        const seconds = Number(task.split(" ")[1]);
        await new Promise<void>((resolve) => clock.after(seconds * 1_000, resolve));
        return `did ${task}`;
      }
      if (step === 1)
        return calling(call("delegate", { tasks: tasksOf("a 2", "b 60", "c 60"), mode: "parallel_streaming" }));
      if (step > 2) return "one was enough";
      const { running } = JSON.parse(toolResultsIn(question)[0]?.text ?? "");
      return calling(call("delegate", { cancel: running.map(({ handle }: { handle: string }) => handle) }));
    };
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("go");
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", details: "one was enough" });
      expect(response.metrics.durationMs).toBe(2_000);
      const [first, stopped] = toldIn(team);
      expect(first).toMatchObject({ first: { name: "a 2", status: "completed", summary: "did a 2" } });
      expect(stopped).toEqual({ cancelled: ["1.0.1", "1.0.2"] });
      const [, ...children] = await team.tree(session);
      expect(children.map((entries) => responseIn(entries).status)).toEqual(["completed", "cancelled", "cancelled"]);
      expect(await team.journal.openRuns()).toEqual([]);
    });
  });

  it("each later result of a streaming batch arrives as soon as it is ready", async () => {
    const clock = createSteppingClock();
    const scenario = {
      main: [
        {
          steps: [
            {
              calls: [{ tool: "delegate", args: { tasks: tasksOf("a 1", "b 3", "c 8"), mode: "parallel_streaming" } }],
            },
            { text: "the first is here" },
            { text: "the second is here" },
            { text: "all are here" },
          ],
        },
      ],
      helper: slow,
    };
    await withTeam({ ...size, agents, scenario, clock }, async (team) => {
      const response = await team.ask("go");
      expect(response).toMatchObject({ status: "completed", details: "all are here", metrics: { durationMs: 8_000 } });
      const news = askedOf(team, "main").map(({ messages }) => messages.at(-1)?.text ?? "");
      expect(news[2]).toMatch(/^The task b 3 \(1\.0\.1\) has ended[\s\S]*did b 3/);
      expect(news[3]).toMatch(/^The task c 8 \(1\.0\.2\) has ended\. None is left[\s\S]*did c 8/);
    });
  });

  it.each([
    { policy: "any", succeed: 1, statuses: ["completed", "cancelled", "cancelled"], durationMs: 1_000 },
    { policy: "quorum", quorum: 2, succeed: 2, statuses: ["completed", "completed", "cancelled"], durationMs: 3_000 },
    { policy: "continue", succeed: 3, statuses: ["completed", "completed", "completed"], durationMs: 8_000 },
  ])(
    "under the policy $policy a batch ends after $durationMs ms",
    async ({ policy, quorum, succeed, statuses, durationMs }) => {
      const clock = createSteppingClock();
      const scenario = delegating({ tasks: tasksOf("a 1", "b 3", "c 8"), policy, quorum: quorum ?? 1 });
      await withTeam({ ...size, agents, scenario, clock }, async (team) => {
        expect(await team.ask("go")).toMatchObject({ status: "completed", metrics: { durationMs } });
        expect(toldIn(team)).toMatchObject([
          { outcome: "completed", succeeded: succeed, results: statuses.map((status) => ({ status })) },
        ]);
      });
    },
  );

  it("a failing agent is retried as often as its policy allows, and then an alternative runs", async () => {
    const clock = createSteppingClock();
    const retry = { max_attempts: 2, backoff_ms: 10_000, on: ["network"], alternative: "other" };
    const answer: Answer = ({ origin }) => {
      if (origin.agent === "helper") throw failure("network");
      if (origin.agent === "other") return "I could";
      return origin.step === 1 ? calling(delegate("helper", "reach it", { retry })) : "done";
    };
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("go");
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { durationMs: 30_000 } });
      const settled = settledIn(await team.entries(session));
      expect(settled.map(({ agent, status }) => [agent, status])).toEqual([
        ["helper", "failed"],
        ["helper", "failed"],
        ["other", "completed"],
      ]);
      expect(toldIn(team)).toMatchObject([{ agent: "other", status: "completed", summary: "I could" }]);
      const { runs } = await team.rows(session.session);
      expect(runs.filter(({ depth }) => depth === 1).map(({ agent, attempt }) => [agent, attempt])).toEqual([
        ["helper", 1],
        ["helper", 2],
        ["other", 3],
      ]);
    });
  });

  describe.each([
    { tokens: 5_000, typical: [12] },
    { tokens: 20_000, typical: [5] },
    { tokens: 100_000, typical: [1, 30] },
  ])("a tree with $tokens tokens", ({ tokens, typical }) => {
    it.each(casesOf([1, 2, 5, 12, 30], (children) => typical.includes(children)))(
      "never uses more, with %i parallel children that want children of their own",
      async (children) => {
        /** Delegates as long as it can; then it says as much as it may. */
        const answer: Answer = ({ origin, tools, system, messages, maxOutputTokens }) => {
          const inputTokens = estimateTokens(system + JSON.stringify(messages.map(({ text }) => text)));
          const usage = { inputTokens, outputTokens: maxOutputTokens, cachedTokens: 0, costUsd: 0 };
          if (tools.length === 0 || origin.agent === "other")
            return { text: `${origin.agent} has done its part`, usage };
          const [to, count] = origin.agent === "main" ? ["helper", children] : ["other", 2];
          const tasks = Array.from({ length: count }, (_, i) => ({ agent: to, task: `part ${origin.step}.${i}` }));
          return {
            ...calling(call("delegate", { tasks })),
            usage: { ...usage, outputTokens: Math.min(maxOutputTokens, 300) },
          };
        };
        const registry = [
          { id: "main", tools: [], subagents: { allow: ["helper"] } },
          { id: "helper", tools: [], subagents: { allow: ["other"] } },
          { id: "other", tools: [] },
        ];
        await withTeam({ ...size, agents: registry, answer }, async (team) => {
          const session = await team.begin("go", { budget: { tokens } });
          const { metrics, status, details } = await session.response;
          expect(["completed", "bailed_out"]).toContain(status);
          expect(details).not.toBe("");
          expect(metrics.charged.tokens).toBeLessThanOrEqual(tokens);
          const tree = await team.tree(session);
          const begun = tree.map(openedIn);
          if (tokens === 100_000) expect(begun.some(({ request }) => request.depth === 2)).toBe(true);
          const replies = tree.flat().flatMap((entry) => (entry.kind === "model.replied" ? [entry.reply.usage] : []));
          const used = replies.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
          expect(used).toBeLessThanOrEqual(metrics.charged.tokens);
          for (const entries of tree) {
            const share = openedIn(entries).pin.budget.tokens ?? 0;
            expect(responseIn(entries).metrics.charged.tokens).toBeLessThanOrEqual(share);
          }
        });
      },
    );
  });
});
