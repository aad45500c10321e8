import type { AgentListing } from "../delegation/agent-list.ts";
import type { AgentDefinition } from "../protocol/agent.ts";
import type { AgentProblem } from "../protocol/api.ts";
import type { Budget } from "../protocol/budget.ts";
import type { Limits } from "../protocol/limits.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { TeamSummary } from "../protocol/team.ts";
import type { ToolSpec } from "../protocol/tool.ts";

/** The agents of a workspace. Loaded anew for each session, so that edited files take effect. */
export interface AgentRegistry {
  /** All valid agents, sorted by id, including disabled ones. */
  readonly agents: readonly AgentDefinition[];
  /** All usable teams, sorted by name. Absent: none. */
  readonly teams?: readonly TeamSummary[];
  /** Problems in all files that were read. */
  readonly problems: readonly AgentProblem[];
  find(id: string): AgentDefinition | undefined;
  /** Problems with names of tools, given the tools of this machine. @default absent: no problems */
  toolProblems?(specs: readonly ToolSpec[]): readonly AgentProblem[];
  /** Renders the system prompt of a run: the definition's prompt and, for a sub-agent, its role and its limits. */
  renderPrompt(definition: AgentDefinition, request: RunRequest, facts: PromptFacts): string;
}

export interface PromptFacts {
  limits: Limits;
  budget: Budget;
  /** Ids that it may delegate to under its grant. */
  targets: readonly string[];
  /** The list of these agents. A prompt that contains it unchanged spares the delegation tool the list. @default made from their descriptions */
  agentList?: AgentListing;
  /** The tools that it has. @default all tools that its definition names work */
  tools?: readonly Pick<ToolSpec, "name" | "unready">[];
  /** Wall clock, for the date in the prompt. */
  now: number;
}

/** Loads agent registries. */
export interface AgentSource {
  /** `null`: only the agents outside of workspaces (built-in agents and the user's own). */
  load(workspace: string | null): Promise<AgentRegistry>;
}
