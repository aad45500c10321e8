import type { Message } from "../protocol/model.ts";
import type { PlanExecution, PlanStep, StepOutcome } from "../protocol/plan.ts";
import { stepKeysOf } from "./step-keys.ts";

/**
 * The phase of a step. `worked`: its review is due. `returned`: the review had findings, and the agent gets them.
 */
export type StepPhase = "waiting" | "working" | "worked" | "reviewing" | "returned" | "done" | "failed" | "skipped";

export interface StepState {
  step: PlanStep;
  phase: StepPhase;
  /** Tasks that worked on it. */
  tries: number;
  /** Whether the newest result came after the runner's newest reply. */
  isNew: boolean;
  /** Steps of the same call that its newest task waits for. */
  behind: readonly string[];
  /** Handle of its running task, if the runner knows it. */
  handle: string | null;
  /** Files of the newest result, for the reviewer. */
  files: readonly string[];
  outcome: StepOutcome;
}

export type PlanState = ReadonlyMap<string, StepState>;

/** The most often that an agent works on a step: once, and once more after a review with findings. */
export const triesMax = 2;

/** The name of a task in its batch. */
export function taskName(id: string, kind: "work" | "review", tries: number): string {
  return kind === "work" ? `${id}:${tries}` : `${id}:review-${tries}`;
}

/**
 * The state of a plan's steps, from the conversation of its runner: the tasks that it gave, and their results. The same
 * conversation always gives the same state.
 */
export function readPlanState({ plan, done, only }: PlanExecution, messages: readonly Message[]): PlanState {
  const keys = stepKeysOf(plan);
  const states = new Map(
    plan.steps.map((step): [string, StepState] => {
      const key = keys.get(step.id) ?? "";
      const earlier = done.find((each) => each.id === step.id && each.key === key && step.id !== only);
      const fresh: StepOutcome = { ...emptyOutcome, id: step.id, key };
      const phase = earlier ? "done" : "waiting";
      return [
        step.id,
        { step, phase, tries: 0, isNew: false, behind: [], handle: null, files: [], outcome: earlier ?? fresh },
      ];
    }),
  );
  for (const message of messages) readMessage(states, message, messages);
  return states;
}

const emptyOutcome = {
  ...{ status: "pending" as const, summary: "", error: null, approved: null },
  ...{ findings: [], runs: [], reviews: [] },
};

type States = Map<string, StepState>;

function readMessage(states: States, message: Message, all: readonly Message[]): void {
  switch (message.role) {
    case "assistant":
      for (const state of states.values()) change(states, state.step.id, { isNew: false });
      for (const call of message.calls) readCall(states, call.args);
      return;
    case "tool":
      readToolResult(states, message, all);
      return;
    case "user":
      readNotice(states, message.text);
  }
}

/** The tasks of a call begin, or the stopped ones end. */
function readCall(states: States, args: unknown): void {
  const stopped = isObject(args) ? listOf(args.cancel) : [];
  for (const { step, handle } of states.values()) {
    // No result of a stopped task arrives.
    if (handle !== null && stopped.includes(handle)) change(states, step.id, { phase: "skipped", handle: null });
  }
  for (const name of namesIn(args)) {
    const { id, kind, tries } = parseName(name);
    const behind = afterIn(args, name).map((other) => parseName(other).id);
    change(states, id, kind === "work" ? { phase: "working", tries, behind, handle: null } : { phase: "reviewing" });
  }
}

function readToolResult(states: States, message: Message & { role: "tool" }, all: readonly Message[]): void {
  const value = parseObject(message.text);
  if (!value) return;
  if (isObject(value.error)) {
    const args = all
      .flatMap((each) => (each.role === "assistant" ? each.calls : []))
      .find(({ id }) => id === message.callId);
    const error = typeof value.error.message === "string" ? value.error.message : "the call was refused";
    for (const name of namesIn(args?.args))
      readResult(states, name, { status: "rejected", summary: error, error: { message: error } });
    return;
  }
  const results = Array.isArray(value.results) ? value.results : [value.first];
  for (const result of results) {
    if (isObject(result) && typeof result.name === "string") readResult(states, result.name, result);
  }
  for (const task of Array.isArray(value.running) ? value.running.filter(isObject) : []) {
    const { id, kind } = parseName(textOf(task.name));
    if (kind === "work") change(states, id, { handle: textOf(task.handle) });
  }
}

/** A later result of a stream, or failed checks of results. */
function readNotice(states: States, text: string): void {
  const ended = /^The task (\S+) \(\S+\) has ended\.[^\n]*\n/.exec(text);
  const result = ended && parseObject(text.slice(ended[0].length));
  if (ended?.[1] !== undefined && result) {
    readResult(states, ended[1], result);
    return;
  }
  if (!text.startsWith("COMPLIANCE ERROR")) return;
  for (const line of text.split("\n").filter((each) => each.startsWith("- "))) {
    for (const state of states.values()) {
      const prefix = `- ${state.step.agent}: `;
      if (state.isNew && line.startsWith(prefix)) returnStep(states, state, [line.slice(prefix.length)]);
    }
  }
}

type Fields = Record<string, unknown>;

function readResult(states: States, name: string, given: Fields): void {
  // The result of a domain agent has its summary one level deeper.
  const result = isObject(given.result) ? { summary: given.result.summary, ...given } : given;
  const { id, kind } = parseName(name);
  const state = states.get(id);
  if (!state) return;
  if (kind === "work") readWork(states, state, result);
  else readReview(states, state, result);
}

function readWork(states: States, state: StepState, result: Fields): void {
  const { outcome, step } = state;
  const summary = textOf(result.summary);
  const runs = withRun(outcome.runs, result);
  if (result.status === "completed") {
    const changed = { ...outcome, summary, result: textOf(result.details) || summary, runs, error: null };
    const files = [...listOf(result.files_created), ...listOf(result.files_modified)];
    const phase = step.review ? "worked" : "done";
    change(states, step.id, { phase, isNew: true, files, outcome: { ...changed, findings: outcome.findings } });
    return;
  }
  if (isNotStarted(result)) {
    // A second try that did not begin leaves the findings open.
    const phase = state.tries > 1 ? "returned" : "skipped";
    change(states, step.id, { phase, tries: state.tries - 1, outcome: { ...outcome, error: summary } });
    return;
  }
  change(states, step.id, { phase: "failed", outcome: { ...outcome, summary, runs, error: errorOf(result) } });
}

function readReview(states: States, state: StepState, result: Fields): void {
  const { outcome, step } = state;
  const reviews = withRun(outcome.reviews, result);
  const withReview = { ...state, outcome: { ...outcome, reviews } };
  if (isNotStarted(result)) {
    change(states, step.id, { phase: "worked" });
    return;
  }
  const answer = result.status === "completed" ? parseObject(textOf(result.details) || textOf(result.summary)) : null;
  if (!answer || typeof answer.approved !== "boolean") {
    const why = result.status === "completed" ? "its answer has no verdict" : errorOf(result);
    const error = `the review of the step failed: ${why}`;
    change(states, step.id, { phase: "failed", outcome: { ...withReview.outcome, error } });
    return;
  }
  if (!answer.approved) {
    returnStep(states, withReview, listOf(answer.findings));
    return;
  }
  const approved = { ...withReview.outcome, approved: true, findings: listOf(answer.findings) };
  change(states, step.id, { phase: "done", outcome: approved });
}

/** Gives a step back to its agent, or fails it if that happened before. */
function returnStep(states: States, state: StepState, findings: readonly string[]): void {
  const isOpen = state.phase === "returned";
  const all = [...(isOpen ? state.outcome.findings : []), ...findings];
  const listed = all.length > 0 ? all : ["the result was not approved, without a reason"];
  const outcome = { ...state.outcome, findings: listed, approved: false };
  if (state.tries < triesMax) {
    change(states, state.step.id, { phase: "returned", outcome });
    return;
  }
  const error = `not approved after ${state.tries} tries: ${listed.join("; ")}`;
  change(states, state.step.id, { phase: "failed", outcome: { ...outcome, error } });
}

function change(states: States, id: string, changes: Partial<StepState>): void {
  const state = states.get(id);
  if (state) states.set(id, { ...state, ...changes });
}

function parseName(name: string): { id: string; kind: "work" | "review"; tries: number } {
  const [id = "", rest = ""] = name.split(":");
  const kind = rest.startsWith("review-") ? "review" : "work";
  return { id, kind, tries: Number(rest.replace("review-", "")) || 1 };
}

function tasksIn(args: unknown): Fields[] {
  return isObject(args) && Array.isArray(args.tasks) ? args.tasks.filter(isObject) : [];
}

function namesIn(args: unknown): string[] {
  return tasksIn(args).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
}

function afterIn(args: unknown, name: string): string[] {
  return listOf(tasksIn(args).find((task) => task.name === name)?.after);
}

/** A task that was dropped or refused before it started has run nothing. */
function isNotStarted({ status, summary }: Fields): boolean {
  return (status === "cancelled" || status === "rejected") && textOf(summary).startsWith("not run:");
}

function errorOf({ error, summary, status }: Fields): string {
  const message = isObject(error) ? textOf(error.message) : "";
  return message || textOf(summary) || `it ended as ${textOf(status)}`;
}

function withRun(runs: readonly string[], { run_id: run }: Fields): string[] {
  return typeof run === "string" && !runs.includes(run) ? [...runs, run] : [...runs];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
