/** Tests what the record of a session shows of its delegations: who asked whom for what, with which result. */
import { openEntry } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { openedIn, responseIn } from "./journal-queries.ts";
import { type Answer, calling, delegate, failure } from "./scripted-agents.ts";
import { createSteppingClock } from "./stepping-clock.ts";
import { teamSizes, withTeam } from "./team.ts";

const agents = [
  { id: "main", subagents: { allow: ["lead", "helper"] } },
  { id: "lead", subagents: { allow: ["helper"] } },
  { id: "helper", retry: { maxAttempts: 1 } },
];

describe.each(teamSizes)("with $what", (size) => {
  it("the trace of a delegation has parent, child, task, passed context, result and duration, in every branch", async () => {
    const clock = createSteppingClock();
    const answer: Answer = async ({ origin }) => {
      const { agent, task, step } = origin;
      if (agent === "main" && step === 1) {
        const plan = delegate("lead", "plan", { context: "full" });
        return { text: "I ask two at once.", ...calling(plan, delegate("helper", "fail")) };
      }
      if (agent === "main") return "all done";
      if (agent === "lead" && step === 1) return calling(delegate("helper", "look"));
      await new Promise<void>((resolve) => clock.after(task === "look" ? 4_000 : 1_000, resolve));
      if (task === "fail") throw failure("network");
      return `did ${task}`;
    };
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("the treasure is under the oak");
      await clock.until(session.response);
      const { runs } = await team.rows(session.session);
      const runOf = (task: string) => runs.find((row) => row.task === task)?.run ?? null;
      const trace = runs.map((row) => {
        const { parentRun, depth, agent, task, contextMode, exactStatus, summary, error, durationMs } = row;
        return { parentRun, depth, agent, task, contextMode, exactStatus, summary, error, durationMs };
      });
      const completed = { exactStatus: "completed", error: null };
      const lost = "the vendor says: network (asked 5 times)";
      const root = runOf("the treasure is under the oak");
      expect(trace).toHaveLength(4);
      expect(trace).toEqual(
        expect.arrayContaining([
          {
            ...{ parentRun: null, depth: 0, agent: "main", task: "the treasure is under the oak" },
            ...{ contextMode: "task_only", ...completed, summary: "all done", durationMs: 5_000 },
          },
          {
            ...{ parentRun: root, depth: 1, agent: "lead", task: "plan" },
            ...{ contextMode: "full", ...completed, summary: "did plan", durationMs: 5_000 },
          },
          {
            ...{ parentRun: root, depth: 1, agent: "helper", task: "fail" },
            ...{
              contextMode: "task_only",
              exactStatus: "failed",
              summary: lost,
              error: lost,
              durationMs: 1_000,
            },
          },
          {
            ...{ parentRun: runOf("plan"), depth: 2, agent: "helper", task: "look" },
            ...{ contextMode: "task_only", ...completed, summary: "did look", durationMs: 4_000 },
          },
        ]),
      );
      const entriesOf = async (task: string) =>
        (await team.service.record.entries(runOf(task) ?? "", { from: 0, limit: 100 })).map(openEntry);
      const passed = async (task: string) => openedIn(await entriesOf(task)).request.context;
      expect(await passed("plan")).toBe("User: the treasure is under the oak");
      expect(await passed("look")).toBeNull();
      expect(responseIn(await entriesOf("look")).details).toBe("did look");
      expect(responseIn(await entriesOf("fail")).error).toMatchObject({ type: "network" });
    });
  });
});
