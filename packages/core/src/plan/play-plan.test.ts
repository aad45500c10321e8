/** The runner of a plan: which steps it starts when, by the conversation alone. */
import { describe, expect, test } from "vitest";
import type { Message } from "../protocol/model.ts";
import { ExecutionPlan, PlanExecution, PlanOutcome } from "../protocol/plan.ts";
import { playPlan } from "./play-plan.ts";

type StepInput = { id: string; after?: string[]; review?: boolean; agent?: string };

function planOf(steps: StepInput[]): ExecutionPlan {
  return ExecutionPlan.parse({
    id: "0198a000-0000-7000-8000-000000000001",
    goal: "the goal",
    steps: steps.map((step) => ({ title: `Do ${step.id}`, task: `do ${step.id}`, agent: "coder", ...step })),
  });
}

/** Plays a plan: gives the results of tasks, and reads the calls that follow. */
function start(steps: StepInput[], more: Partial<PlanExecution> = {}) {
  const execution = PlanExecution.parse({ plan: planOf(steps), ...more });
  const messages: Message[] = [{ role: "user", text: "the goal" }];
  let reply = playPlan(execution, messages);
  const open = new Map<string, string>();
  const handles = new Map<string, string>();
  const accept = () => {
    messages.push({ role: "assistant", text: reply.text, calls: reply.calls });
    const turn = messages.filter(({ role }) => role === "assistant").length;
    for (const [at, call] of reply.calls.entries()) {
      for (const [item, { name }] of tasksOf(call.args).entries()) {
        open.set(name, call.id);
        handles.set(name, `${turn}.${at}.${item}`);
      }
      if (call.name === "delegate_cancel")
        messages.push({ role: "tool", callId: call.id, name: call.name, text: "{}", isError: false });
    }
  };
  accept();
  const answered = new Set<string>();
  return {
    tasks: () => reply.calls.flatMap(({ args }) => tasksOf(args)),
    names: () => reply.calls.flatMap(({ args }) => tasksOf(args).map(({ name }) => name)),
    calls: () => reply.calls,
    outcome: () => PlanOutcome.parse(JSON.parse(reply.text)),
    /** The result of a task. The first of a call is the call's result, the others are messages. */
    settle(name: string, result: object = {}, next = true) {
      const callId = open.get(name) ?? "";
      open.delete(name);
      const full = {
        name,
        agent: "coder",
        run_id: runId(name),
        status: "completed",
        summary: `${name} is done`,
        details: "",
        ...result,
      };
      const running = [...open]
        .filter(([, id]) => id === callId)
        .map(([other]) => ({ handle: handles.get(other), name: other }));
      const isFirst = !answered.has(callId);
      answered.add(callId);
      messages.push(
        isFirst
          ? {
              role: "tool",
              callId,
              name: "delegate_batch",
              text: JSON.stringify({ first: full, running }),
              isError: false,
            }
          : { role: "user", text: `The task ${name} (1.0.0) has ended. None is left.\n${JSON.stringify(full)}` },
      );
      if (next) this.turn();
    },
    say(text: string) {
      messages.push({ role: "user", text });
    },
    turn(isLast = false) {
      reply = playPlan(execution, messages, isLast);
      accept();
    },
  };
}

const outcomeOfReview = (approved: boolean, findings: string[] = []) => ({
  details: JSON.stringify({ approved, findings }),
});
const dropped = { status: "cancelled", summary: "not run: a sibling failed, and all had to succeed" };

function runId(name: string): string {
  const number = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_000, 7);
  return `0198a000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

function tasksOf(args: unknown): { name: string; after?: string[]; task: string; agent: string }[] {
  return (args as { tasks?: [] }).tasks ?? [];
}

describe("the first turn", () => {
  test("starts the graph of all steps at once, if none is reviewed", () => {
    const d = start([{ id: "a" }, { id: "b" }, { id: "c", after: ["a", "b"] }]);
    expect(d.tasks().map(({ name, after }) => [name, after])).toEqual([
      ["a:1", []],
      ["b:1", []],
      ["c:1", ["a:1", "b:1"]],
    ]);
    expect(d.calls()[0]?.args).toMatchObject({ policy: "all", mode: "parallel_streaming" });
    expect(d.outcome().status).toBe("running");
  });

  test("leaves steps out that wait for a reviewed one, whatever their place in the list", () => {
    const d = start([{ id: "late", after: ["a"] }, { id: "a", review: true }, { id: "b" }]);
    expect(d.names()).toEqual(["a:1", "b:1"]);
  });

  test("does not repeat completed steps of an earlier session, and passes their results on", () => {
    const steps = [{ id: "a" }, { id: "b", after: ["a"] }];
    const first = start(steps);
    first.settle("a:1", { details: "a found this" }, false);
    first.settle("b:1", { status: "failed", error: { message: "no" } });
    const [a] = first.outcome().steps;
    expect(first.outcome()).toMatchObject({
      status: "failed",
      steps: [{ status: "completed" }, { status: "failed", error: "no" }],
    });
    const second = start(steps, { done: a ? [a] : [] });
    expect(second.names()).toEqual(["b:1"]);
    expect(second.tasks()[0]?.task).toContain("a found this");
    const edited = start(
      [
        { id: "a", agent: "tester" },
        { id: "b", after: ["a"] },
      ],
      { done: a ? [a] : [] },
    );
    expect(edited.names()).toEqual(["a:1", "b:1"]);
  });
});

describe("a review", () => {
  const steps = [
    { id: "a", review: true },
    { id: "b", after: ["a"] },
  ];

  test("follows its step, and the next step follows the review", () => {
    const d = start(steps);
    d.settle("a:1");
    expect(d.tasks()).toMatchObject([{ name: "a:review-1", agent: "reviewer" }]);
    d.settle("a:review-1", outcomeOfReview(true));
    expect(d.names()).toEqual(["b:1"]);
    d.settle("b:1");
    expect(d.outcome()).toMatchObject({ status: "completed", steps: [{ approved: true }, { approved: null }] });
    expect(d.calls()).toEqual([]);
  });

  test("with findings gives the step back once, with them, and then fails it", () => {
    const d = start(steps);
    d.settle("a:1");
    d.settle("a:review-1", outcomeOfReview(false, ["tokens never expire"]));
    expect(d.names()).toEqual(["a:2"]);
    expect(d.tasks()[0]?.task).toContain("tokens never expire");
    d.settle("a:2");
    expect(d.names()).toEqual(["a:review-2"]);
    d.settle("a:review-2", outcomeOfReview(false, ["they still do not"]));
    expect(d.outcome()).toMatchObject({
      status: "failed",
      steps: [
        { status: "failed", approved: false, error: "not approved after 2 tries: they still do not" },
        { status: "skipped", error: "not started: the plan had failed" },
      ],
    });
  });

  test("without a verdict fails the step: a review that cannot be read approves nothing", () => {
    const d = start(steps);
    d.settle("a:1");
    d.settle("a:review-1", { details: "looks fine" });
    expect(d.outcome().steps[0]).toMatchObject({
      status: "failed",
      error: "the review of the step failed: its answer has no verdict",
    });
  });

  test("of a check that the agent's team declares works the same way", () => {
    const d = start([{ id: "a" }, { id: "b", after: ["a"] }]);
    d.settle("a:1", {}, false);
    d.say(
      "COMPLIANCE ERROR: results of your agents were checked, and do not hold:\n- coder: the file x is missing\nAsk.",
    );
    d.turn();
    expect(d.names()).toEqual(["a:2"]);
    expect(d.tasks()[0]?.task).toContain("the file x is missing");
  });
});

describe("a failed step", () => {
  test("lets running steps end, reviews them, and starts no other", () => {
    const d = start([{ id: "a" }, { id: "b", review: true }, { id: "c", after: ["b"] }]);
    d.settle("a:1", { status: "failed", summary: "broken" });
    expect(d.calls()).toEqual([]);
    expect(d.outcome()).toMatchObject({
      status: "running",
      steps: [{ status: "failed" }, { status: "running" }, { status: "pending" }],
    });
    d.settle("b:1");
    expect(d.names()).toEqual(["b:review-1"]);
    d.settle("b:review-1", outcomeOfReview(true));
    expect(d.outcome()).toMatchObject({
      status: "failed",
      steps: [{ status: "failed" }, { status: "completed" }, { status: "skipped" }],
    });
  });

  test("stops the tasks of other batches that wait for a running one", () => {
    const d = start([{ id: "r", review: true }, { id: "x" }, { id: "y", after: ["x"] }, { id: "f", after: ["r"] }]);
    d.settle("r:1");
    d.settle("r:review-1", outcomeOfReview(true));
    expect(d.names()).toEqual(["f:1"]);
    d.settle("f:1", { status: "failed", summary: "broken" });
    expect(d.calls()).toMatchObject([{ name: "delegate_cancel", args: { cancel: ["1.0.2"] } }]);
    d.turn();
    d.settle("x:1");
    expect(d.outcome().steps.map(({ status }) => status)).toEqual(["completed", "completed", "skipped", "failed"]);
  });

  test("skips the dropped tasks of its batch", () => {
    const d = start([{ id: "a" }, { id: "b", after: ["a"] }]);
    d.settle("a:1", { status: "failed", summary: "broken" }, false);
    d.settle("b:1", dropped);
    expect(d.outcome()).toMatchObject({ status: "failed", steps: [{ error: "broken" }, { status: "skipped" }] });
  });
});

test("one step alone runs nothing else, and the plan is completed with it", () => {
  const d = start([{ id: "a" }, { id: "b" }], { only: "b" });
  expect(d.names()).toEqual(["b:1"]);
  d.settle("b:1");
  expect(d.outcome()).toMatchObject({ status: "completed", steps: [{ status: "pending" }, { status: "completed" }] });
});

test("the last turn names the steps that a limit left", () => {
  const d = start([
    { id: "a", review: true },
    { id: "b", after: ["a"] },
  ]);
  d.settle("a:1", {}, false);
  d.turn(true);
  expect(d.calls()).toEqual([]);
  const error = "not finished: the run of the plan reached a limit";
  expect(d.outcome()).toMatchObject({
    status: "failed",
    steps: [
      { status: "failed", error },
      { status: "skipped", error },
    ],
  });
});

test("a refused call fails its steps with the reason", () => {
  const d = start([{ id: "a" }]);
  const callId = d.calls()[0]?.id ?? "";
  expect(callId).toBe("plan-1-0");
  const execution = PlanExecution.parse({ plan: planOf([{ id: "a" }]) });
  const first = playPlan(execution, [{ role: "user", text: "x" }]);
  const refused = JSON.stringify({ error: { type: "budget", message: "no budget" } });
  const next = playPlan(execution, [
    { role: "user", text: "x" },
    { role: "assistant", text: first.text, calls: first.calls },
    { role: "tool", callId, name: "delegate_batch", text: refused, isError: true },
  ]);
  expect(PlanOutcome.parse(JSON.parse(next.text))).toMatchObject({ status: "failed", steps: [{ error: "no budget" }] });
});
