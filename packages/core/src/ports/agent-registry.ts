import type { AgentDefinition } from "../protocol/agent.ts";
import type { AgentProblem } from "../protocol/api.ts";
import type { Budget } from "../protocol/budget.ts";
import type { Limits } from "../protocol/limits.ts";
import type { RunRequest } from "../protocol/request.ts";

/** Who can be asked, as seen from one workspace. Loaded anew for each session, so that edited files count. */
export interface AgentRegistry {
  /** All sound agents, by id, sorted; those that are switched off are among them, though nobody can ask them. */
  readonly agents: readonly AgentDefinition[];
  /** What is wrong with the files that were read, usable or not. */
  readonly problems: readonly AgentProblem[];
  find(id: string): AgentDefinition | undefined;
  /** The system prompt of a run: the definition's own, and what a sub-agent has to know of its place and its limits. */
  renderPrompt(definition: AgentDefinition, request: RunRequest, facts: PromptFacts): string;
}

export interface PromptFacts {
  limits: Limits;
  budget: Budget;
  /** Ids that it may delegate to, already narrowed by its grant. */
  targets: readonly string[];
  /** Wall clock, for the date in the prompt. */
  now: number;
}

export interface AgentSource {
  /** `null`: only what does not depend on a workspace (shipped agents and the user's own). */
  load(workspace: string | null): Promise<AgentRegistry>;
}
