import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import {
  derivedId,
  didYouMean,
  type ExecutionPlan,
  findPlanProblems,
  Id,
  type PlanAgents,
  ExecutionPlan as PlanSchema,
  planShape,
  planStepShape,
  planStepsMax,
  stepLimitsShape,
} from "@troupe/core/internal";
import { parseStrictYaml, writeYaml } from "@troupe/core/yaml";
import { z } from "zod";

/** A plan as a person edits it. Unknown keys are errors, because a misspelt one would be ignored. */
const PlanFile = z.strictObject({
  id: Id.exactOptional(),
  ...planShape,
  budget: z.strictObject(planShape.budget.unwrap().shape).default({}),
  steps: z
    .array(z.strictObject({ ...planStepShape, limits: z.strictObject(stepLimitsShape).default({}) }))
    .min(1, "a plan needs at least one step")
    .max(planStepsMax),
});

/** The agents that a plan can name, by its team. */
type AgentsOf = (team: string | undefined) => Promise<PlanAgents>;

const fixes: Record<string, string> = {
  id: "write a name such as write-tests",
  task: "write task: and all that the agent has to know",
  title: "write title: and a few words",
  agent: "write agent: and the name of an agent: troupe agents ls",
  goal: "write goal: and a sentence",
  steps: "write steps: and a list of them, each with id, title, agent and task",
};

/**
 * Reads and checks a plan. Throws `INVALID_PLAN` with the line of each problem, or `USAGE` for a file that cannot be read.
 * Nothing is started.
 */
export async function readPlanFile(file: string, cwd: string, agentsOf: AgentsOf): Promise<ExecutionPlan> {
  const path = resolve(cwd, file);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new TroupeError("USAGE", `the plan ${file} cannot be read`, { cause, fix: 'troupe plan "what to reach"' });
  });
  const { value, lineOf } = parseStrictYaml(text, file, {
    schema: PlanFile,
    code: "INVALID_PLAN",
    what: "a plan",
    fixFor: (keys) => fixes[String(keys.findLast((key) => typeof key === "string"))] ?? "correct the value",
    // A step's keys are not below an object's path of the schema, so that the nearest name is chosen here.
    fixForKey: (keys) => (keys[0] === "steps" ? keyOfStep(keys) : null),
  });
  const plan = PlanSchema.parse({ ...value, id: value.id ?? derivedId(`plan-file/${path}`) });
  const problems = findPlanProblems(plan, await agentsOf(plan.team));
  if (problems.length === 0) return plan;
  const at = problems.map(({ path: keys, message, fix }) => ({ line: lineOf(keys), message, fix }));
  at.sort((a, b) => a.line - b.line);
  const listed = at.map(({ line, message }) => `line ${line}: ${message}`).join("; ");
  throw new TroupeError("INVALID_PLAN", `${file} cannot be executed: ${listed}`, {
    fix: `line ${at[0]?.line} of ${basename(file)}: ${at[0]?.fix}`,
  });
}

function keyOfStep(keys: readonly PropertyKey[]): string {
  const known = keys.includes("limits") ? Object.keys(stepLimitsShape) : [...Object.keys(planStepShape), "limits"];
  const near = didYouMean(String(keys.at(-1)), known);
  return near ?? `use one of: ${known.join(", ")}`;
}

/**
 * A plan as YAML with comments that say what can be edited.
 *
 * @example
 * await writeFile("plan.yaml", planYaml(plan), { flag: "wx" });
 */
export function planYaml(plan: ExecutionPlan): string {
  const steps = plan.steps.map(({ id, title, agent, after, task, successCriteria, review, limits }) => ({
    ...{ id, title, agent, after, task },
    ...(successCriteria === null ? {} : { successCriteria }),
    ...(review ? { review } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  }));
  const head = {
    ...{ id: plan.id, goal: plan.goal },
    ...(plan.team === undefined ? {} : { team: plan.team }),
    ...(plan.reviewer === null ? {} : { reviewer: plan.reviewer }),
    ...(Object.keys(plan.budget).length > 0 ? { budget: plan.budget } : {}),
  };
  return `${introduction}\n${writeYaml(head)}\n${stepsComment}\n${writeYaml({ steps })}`;
}

const introduction = `# A plan. Edit it, then execute it: troupe plan run plan.yaml
# The id connects the runs of this plan: completed steps are not repeated. Write a new id to begin again.
# Optional keys: team, reviewer (an agent), budget: {tokens, costUsd, toolCalls, spawns}`;

const stepsComment = `# Each step: one task of one agent (troupe agents ls). It starts when the steps in after have been completed, and gets
# their results. review: true lets the reviewer check it; with findings it goes back to its agent once.
# Optional keys of a step: successCriteria, review, limits: {maxIterations, maxToolCalls, maxDurationMs, maxTokens, maxCostUsd}`;
