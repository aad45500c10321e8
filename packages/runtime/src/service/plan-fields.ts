import {
  type AgentDefinition,
  type AgentRegistry,
  type RunRequest,
  type SubmitSession,
  TroupeError,
} from "@troupe/core";
import {
  findPlanProblems,
  listAgents,
  type PlanAgents,
  PlanOutcome,
  planDraftSchema,
  plannerContext,
  resolvePlanAgents,
  teamAgentId,
} from "@troupe/core/internal";
import { z } from "zod";
import { type AgentScope, chooseAgent, delegatesOf, findTeam } from "./choose-agent.ts";

type PlanSubmission = Pick<SubmitSession, "agent" | "team" | "plan" | "makesPlan" | "context">;

/** The agent of the first run. A request for a plan goes to the planner: the team's own, if it has one. */
export function chooseAgentOf(registry: AgentRegistry, submission: PlanSubmission): AgentDefinition {
  const { agent, team, makesPlan } = submission;
  if (!makesPlan || agent !== undefined) return chooseAgent(registry, submission, "main");
  const own = team === undefined ? undefined : registry.find(teamAgentId(findTeam(registry, team).name, "planner"));
  return own ?? chooseAgent(registry, { agent: "planner" }, "planner");
}

/**
 * The fields of a request that makes or executes a plan; none for another one. Throws `INVALID_PLAN` for a plan that cannot
 * be executed, with all of its problems.
 */
export function planFields(submission: PlanSubmission, scope: AgentScope): Partial<RunRequest> {
  if (submission.plan) {
    const { plan, ...rest } = submission.plan;
    const known = planAgents({ ...submission, makesPlan: undefined }, scope);
    checkPlan(plan, known);
    return { plan: { ...rest, plan: resolvePlanAgents(plan, known) }, outputSchema: outcomeSchema };
  }
  if (!submission.makesPlan) return {};
  const known = planAgents({ team: submission.team }, scope);
  const described = known.agents.flatMap((id) => scope.registry.find(id) ?? []);
  const context = [plannerContext(listAgents(described).text), submission.context].filter((part) => part !== undefined);
  return { planOf: known, outputSchema: planDraftSchema, context: context.join("\n\n") };
}

const outcomeSchema = z.toJSONSchema(PlanOutcome, { io: "output" }) as NonNullable<RunRequest["outputSchema"]>;

/**
 * The agents that the steps of a plan can name: the agents that the entry agent of the team, or `main`, may ask.
 *
 * @example
 * planAgents({ team: "coding" }, { registry, layers: [policy.layer], specs }).agents; // ["coding_coder", …]
 */
export function planAgents(submission: PlanSubmission, scope: AgentScope): PlanAgents {
  const root = chooseAgent(scope.registry, submission, "main");
  return { agents: delegatesOf(root, scope), ...(root.team === undefined ? {} : { team: root.team }) };
}

function checkPlan(plan: NonNullable<SubmitSession["plan"]>["plan"], known: PlanAgents): void {
  const problems = findPlanProblems(plan, known);
  const [first] = problems;
  if (!first) return;
  const message = `the plan cannot be executed: ${problems.map((problem) => problem.message).join("; ")}`;
  throw new TroupeError("INVALID_PLAN", message, { fix: first.fix });
}
