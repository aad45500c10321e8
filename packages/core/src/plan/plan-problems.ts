import { findCycle } from "../delegation/graph.ts";
import type { ExecutionPlan, PlanAgents } from "../protocol/plan.ts";
import { agentIdOf, teamAgentId } from "../protocol/team.ts";
import { didYouMean } from "../text/nearest-names.ts";
import { shortList } from "../text/unknown-agent.ts";

/** A reason why a plan cannot be executed, and the key that it is about. */
export interface PlanProblem {
  /** Such as `["steps", 2, "agent"]`. */
  path: readonly (string | number)[];
  message: string;
  fix: string;
}

/** The agent that reviews if the plan names none. */
const reviewerDefault = "reviewer";

type PlanBody = Pick<ExecutionPlan, "steps" | "reviewer">;

/**
 * The plan with the ids of its agents. A plain name means an agent of the team first. Names that mean no agent stay.
 *
 * @example
 * resolvePlanAgents(plan, { agents: ["coding_coder"], team: "coding" }).steps[0]?.agent; // "coding_coder" for "coder"
 */
export function resolvePlanAgents(plan: ExecutionPlan, known: PlanAgents): ExecutionPlan {
  const idOf = (name: string): string => findAgentId(name, known) ?? agentIdOf(name);
  return {
    ...plan,
    reviewer: reviewersOf(plan).length > 0 ? idOf(plan.reviewer ?? reviewerDefault) : plan.reviewer,
    steps: plan.steps.map((step) => ({ ...step, agent: idOf(step.agent) })),
  };
}

/**
 * All reasons why a plan cannot be executed: doubled ids, unknown agents and steps, cycles, and a missing reviewer. Empty
 * if it can.
 *
 * @example
 * findPlanProblems(plan, { agents: ["coder"] })[0]?.message; // 'steps.0.agent: there is no agent "codr"; …'
 */
export function findPlanProblems(plan: PlanBody, known: PlanAgents): PlanProblem[] {
  const { steps, reviewer } = plan;
  const ids = steps.map(({ id }) => id);
  const problems = steps.flatMap(({ id, agent, after }, index): PlanProblem[] => [
    ...(ids.indexOf(id) < index ? [doubled(id, index)] : []),
    ...(findAgentId(agent, known) === null ? [unknownAgentAt(["steps", index, "agent"], agent, known)] : []),
    ...after.flatMap((other, at) => (ids.includes(other) ? [] : [unknownStep([index, at], other, ids)])),
  ]);
  const [first] = reviewersOf(plan);
  if (first !== undefined && findAgentId(reviewer ?? reviewerDefault, known) === null) {
    const path = reviewer === null ? ["steps", first, "review"] : ["reviewer"];
    problems.push(unknownAgentAt(path, reviewer ?? reviewerDefault, known, "write reviewer: and an agent"));
  }
  const cycle = problems.some(({ path }) => path.at(-1) === "id") ? null : findCycle(withKnownEdges(steps, ids));
  if (cycle) {
    const path = ["steps", ids.indexOf(cycle[0] ?? ""), "after"];
    const message = `${path.join(".")}: ${cycle.join(" → ")} is a cycle, so none of these steps could start`;
    problems.push({ path, message, fix: `remove one of the names from after: ${cycle.slice(0, -1).join(", ")}` });
  }
  return problems;
}

/** Indexes of the steps that are reviewed. */
function reviewersOf({ steps }: PlanBody): number[] {
  return steps.flatMap(({ review }, index) => (review ? [index] : []));
}

function findAgentId(name: string, { agents, team }: PlanAgents): string | null {
  const id = agentIdOf(name);
  const candidates = team === undefined ? [id] : [teamAgentId(team, id), id];
  return candidates.find((candidate) => agents.includes(candidate)) ?? null;
}

function withKnownEdges(steps: PlanBody["steps"], ids: readonly string[]) {
  return steps.map(({ id, after }) => ({ name: id, after: after.filter((other) => ids.includes(other)) }));
}

function doubled(id: string, index: number): PlanProblem {
  const path = ["steps", index, "id"];
  return { path, message: `${path.join(".")}: two steps have the id ${id}`, fix: "give each step its own id" };
}

function unknownAgentAt(path: (string | number)[], name: string, { agents }: PlanAgents, fix?: string): PlanProblem {
  const message = `${path.join(".")}: there is no agent ${JSON.stringify(name)} that a plan can use; there are: ${shortList(agents)}`;
  return { path, message, fix: didYouMean(name, agents) ?? fix ?? "troupe agents ls" };
}

function unknownStep([step, at]: [number, number], name: string, ids: readonly string[]): PlanProblem {
  const path = ["steps", step, "after", at];
  const message = `${path.join(".")}: there is no step ${JSON.stringify(name)}; there are: ${shortList(ids)}`;
  return { path, message, fix: didYouMean(name, ids) ?? "use the id of another step" };
}
