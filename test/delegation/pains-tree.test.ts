/**
 * Known pains of other agent runtimes that must not occur here: trees of runs, failures, cancels, results and the
 * record. The numbers are those of the project's list of pains.
 */
import type { LiveEvent } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { defineTool } from "@troupe/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createGate } from "./gate.ts";
import { askedOf, endsWith, plannedBy, responseIn, rowsOf, settledIn, wordsIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, toolResultsIn } from "./scripted-agents.ts";
import { teamSizes, withTeam } from "./team.ts";
import { teamTools } from "./team-tools.ts";

const agents = [
  { id: "main", subagents: { allow: ["lead", "helper"] } },
  { id: "lead", subagents: { allow: ["helper"] } },
  { id: "helper", retry: { maxAttempts: 1 } },
];

/** main asks an agent for each task in one turn, then says that it is done. */
function asking(tasks: readonly (readonly [agent: string, task: string])[], others: Answer): Answer {
  return (question, signal) => {
    const { agent, step } = question.origin;
    if (agent !== "main") return others(question, signal);
    return step === 1 ? calling(...tasks.map(([to, task]) => delegate(to, task))) : "done";
  };
}

/** A tool that works until it is stopped, and says when it begins and when it has ended. */
function endlessTool() {
  const gate = createGate();
  const ended: string[] = [];
  const tool = defineTool({
    name: "serve",
    description: "Serves until it is stopped.",
    input: z.strictObject({}),
    risk: "low",
    effect: "unsafe",
    async run(_, { run, signal }) {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      void gate.pass();
      await stopped;
      ended.push(run);
      return { output: "stopped" };
    },
  });
  return { tool, gate, ended };
}

describe.each(teamSizes)("with $what", (size) => {
  it("pain 4: one child's failure does not discard its siblings", async () => {
    const tasks = ["a", "b", "c", "d"].map((task) => ["helper", task] as const);
    const answer = asking(tasks, ({ origin }) => {
      if (origin.task === "b") throw new Error("the vendor has lost its head");
      return `did ${origin.task}`;
    });
    await withTeam({ ...size, agents, answer }, async (team) => {
      expect(await team.ask("go")).toMatchObject({ status: "completed", details: "done" });
      const told = askedOf(team, "main").flatMap(toolResultsIn);
      expect(told.map(({ text, isError }) => [JSON.parse(text).summary, isError])).toEqual([
        ["did a", false],
        ["the vendor has lost its head", true],
        ["did c", false],
        ["did d", false],
      ]);
    });
  });

  it("pain 4: nor the tasks of its batch, unless the batch requests it", async () => {
    const tasks = ["a", "b", "c", "d"].map((task) => ({ agent: "helper", task }));
    const others: Answer = ({ origin }) => {
      if (origin.task === "a") throw new Error("the vendor has lost its head");
      return `did ${origin.task}`;
    };
    const batches: Record<string, unknown> = {
      continue: { outcome: "completed", succeeded: 3, failed: 1 },
      all: { outcome: "failed", succeeded: 0, failed: 4 },
    };
    for (const [policy, expected] of Object.entries(batches)) {
      const answer: Answer = (question, signal) => {
        const { agent, step } = question.origin;
        if (agent !== "main") return others(question, signal);
        return step === 1 ? calling(call("delegate", { tasks, policy, mode: "sequential" })) : "done";
      };
      await withTeam({ ...size, agents, answer }, async (team) => {
        expect(await team.ask("go")).toMatchObject({ status: "completed" });
        const [told] = askedOf(team, "main").flatMap(toolResultsIn);
        expect(JSON.parse(told?.text ?? "")).toMatchObject({ policy, ...(expected as object) });
      });
    }
  });

  it("pain 5: a cancel reaches every run below, and their running tools", async () => {
    const { tool, gate, ended } = endlessTool();
    const answer = asking(
      [
        ["lead", "1"],
        ["lead", "2"],
      ],
      ({ origin }) =>
        origin.agent === "lead" ? calling(delegate("helper", `for ${origin.task}`)) : calling(call("serve")),
    );
    await withTeam({ ...size, agents, answer, tools: [tool] }, async (team) => {
      const session = await team.begin("go");
      await gate.reachedBy(2);
      expect(await team.service.cancel(session.session, "never mind")).toMatchObject({ outcome: "requested" });
      expect(await session.response).toMatchObject({ status: "cancelled", error: { message: "never mind" } });
      const tree = await team.tree(session);
      expect(tree.map((entries) => responseIn(entries).status)).toEqual(Array.from({ length: 5 }, () => "cancelled"));
      const servants = askedOf(team, "helper").map(({ origin }) => origin.run);
      expect(ended.sort()).toEqual(servants.sort());
      expect(await team.journal.openRuns()).toEqual([]);
    });
  });

  it("pain 5: one child can be cancelled alone, with its descendants", async () => {
    const { tool, gate, ended } = endlessTool();
    const sibling = createGate();
    const answer = asking(
      [
        ["lead", "serve"],
        ["helper", "work"],
      ],
      async ({ origin }) => {
        if (origin.agent === "lead") return calling(delegate("helper", "serve"));
        if (origin.task === "serve") return calling(call("serve"));
        await sibling.pass();
        return "worked";
      },
    );
    await withTeam({ ...size, agents, answer, tools: [tool] }, async (team) => {
      const session = await team.begin("go");
      const [lead] = await plannedBy(team, session, 2);
      await gate.reachedBy(1);
      await team.service.cancelRun(lead?.run ?? "", "wrong way");
      await team.entriesOnce(session, (entries) => settledIn(entries).length === 1);
      expect(ended).toHaveLength(1);
      sibling.open();
      expect(await session.response).toMatchObject({ status: "completed", details: "done" });
      const [cancelled, worked] = askedOf(team, "main")
        .flatMap(toolResultsIn)
        .map(({ text }) => JSON.parse(text));
      expect(cancelled).toMatchObject({ status: "cancelled", error: { message: "wrong way" } });
      expect(worked).toMatchObject({ status: "completed", summary: "worked" });
    });
  });

  it("pain 6: a cancel never reverts a finished run", async () => {
    const gate = createGate();
    const answer = asking(
      [
        ["helper", "quick"],
        ["helper", "slow"],
      ],
      async ({ origin }) => {
        if (origin.task === "slow") await gate.pass();
        return `did ${origin.task}`;
      },
    );
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go");
      const [quick, slow] = await plannedBy(team, session, 2);
      await team.entriesOnce(session, (entries) => settledIn(entries).length === 1);
      const before = await team.entries(quick as NonNullable<typeof quick>);
      await team.rows(session.session);
      expect(await team.service.cancelRun(quick?.run ?? "", "too late")).toMatchObject({
        outcome: "settled",
        status: "completed",
      });
      await team.service.cancel(session.session, "enough");
      expect(await session.response).toMatchObject({ status: "cancelled" });
      expect(await team.service.cancel(session.session, "again")).toMatchObject({ outcome: "settled" });
      expect(await team.entries(quick as NonNullable<typeof quick>)).toEqual(before);
      expect(responseIn(await team.entries(slow as NonNullable<typeof slow>)).status).toBe("cancelled");
      const { runs } = await team.rows(session.session);
      expect(rowsOf(runs, "helper").map(({ task, status }) => [task, status])).toEqual([
        ["quick", "completed"],
        ["slow", "cancelled"],
      ]);
    });
  });

  it("pain 10: a long result is not lost: its parent reads the beginning and a reference to the rest", async () => {
    const long = Array.from({ length: 20_000 }, (_, i) => `finding ${i}`).join("\n");
    const answer = asking([["helper", "find all"]], () => long);
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go");
      expect(await session.response).toMatchObject({ status: "completed" });
      const [told] = askedOf(team, "main").flatMap(toolResultsIn);
      const result = JSON.parse(told?.text ?? "");
      expect(result).toMatchObject({ status: "completed", details_truncated: true });
      expect(long.startsWith(result.details.slice(0, -1))).toBe(true);
      expect(result.summary.length).toBeLessThanOrEqual(500);
      const child = { session: session.session, run: result.run_id };
      expect(responseIn(await team.entries(child)).details).toBe(long);
    });
  });

  it("pain 10: a root's long answer is its whole answer", async () => {
    const long = `${"word ".repeat(300_000)}end`;
    await withTeam({ ...size, agents, answer: () => long }, async (team) => {
      const session = await team.begin("go");
      expect((await session.response).details).toBe(long);
      await team.rows(session.session);
      expect((await team.service.record.response(session.session))?.details).toBe(long);
    });
  });

  it("pain 19: every event names its run, and the record has each run's own history", async () => {
    const answer = asking(
      [
        ["lead", "1"],
        ["helper", "2"],
      ],
      ({ origin }) =>
        origin.agent === "lead" && origin.step === 1 ? calling(delegate("helper", "3")) : `did ${origin.task}`,
    );
    await withTeam({ ...size, agents, answer }, async (team) => {
      const live: LiveEvent[] = [];
      const stop = team.onLive((event) => live.push(event));
      const session = await team.begin("go");
      await session.response;
      stop();
      const { runs } = await team.rows(session.session);
      const of = (task: string) => runs.find((row) => row.task === task);
      expect(runs).toHaveLength(4);
      expect(runs.map(({ task, parentRun }) => [task, parentRun])).toEqual(
        expect.arrayContaining([
          ["go", null],
          ["1", of("go")?.run],
          ["2", of("go")?.run],
          ["3", of("1")?.run],
        ]),
      );
      for (const { run, agent, task } of runs) {
        expect(live.filter((event) => event.run === run).every((event) => event.agent === agent)).toBe(true);
        expect(live.some((event) => event.run === run)).toBe(true);
        const entries = (await team.service.record.entries(run, { from: 0, limit: 100 })).map(openEntry);
        expect(entries.every((entry) => entry.run === run && entry.session === session.session)).toBe(true);
        expect(responseIn(entries).request).toBe(task);
      }
    });
  });

  it("pain 20: a second run of an agent knows nothing of the first", async () => {
    const secret = "the word is xyzzy";
    const answer: Answer = ({ origin, messages }) => {
      if (origin.agent !== "main") return `heard: ${messages.length} message`;
      const told = ["remember", "recall"][origin.step - 1];
      return told ? calling(delegate("helper", told === "remember" ? secret : told)) : "done";
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const [mine, another] = await Promise.all([team.begin("go"), team.begin("go too")]);
      await Promise.all([mine.response, another.response]);
      const recalling = askedOf(team, "helper").filter(({ origin }) => origin.task === "recall");
      expect(recalling).toHaveLength(2);
      for (const question of recalling) {
        expect(wordsIn(question)).not.toContain("xyzzy");
        expect(question.messages).toHaveLength(1);
      }
    });
  });

  it("pain 20: concurrent sessions with one agent know nothing of each other", async () => {
    const gate = createGate();
    const answer: Answer = async ({ origin }) => {
      if (origin.agent === "main") {
        const word = origin.task;
        return origin.step === 1 ? calling(delegate("helper", `keep ${word}`)) : `${word} is kept`;
      }
      await gate.pass();
      return origin.step === 1 ? calling(call("echo", { kept: origin.task })) : "kept";
    };
    await withTeam({ ...size, agents, answer, tools: teamTools }, async (team) => {
      const words = ["alpha", "beta", "gamma"];
      const sessions = await Promise.all(words.map((word) => team.begin(word)));
      await gate.reachedBy(3);
      gate.open();
      const responses = await Promise.all(sessions.map(({ response }) => response));
      expect(responses.map(({ details }) => details)).toEqual(words.map((word) => `${word} is kept`));
      for (const question of askedOf(team, "helper")) {
        const received = words.filter((word) => wordsIn(question).includes(word));
        expect(received).toEqual([question.origin.task.replace("keep ", "")]);
      }
      await Promise.all(sessions.map((session) => team.entriesOnce(session, endsWith("run.settled"))));
    });
  });
});
