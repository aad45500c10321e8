import {
  type AgentDefinition,
  type AgentRegistry,
  type Budget,
  type ErrorCode,
  type GrantLayer,
  RunFailure,
  type RunRequest,
  type RunResponse,
  TroupeError,
} from "@troupe/core";
import {
  notStartedResponse,
  type PartialLimits,
  permanentError,
  type RunErrorType,
  tightenBudget,
  toRunError,
} from "@troupe/core/internal";
import { maxBudgetOf } from "../host/claim/run-spec.ts";
import { checkWorkspace, rootWorkspace } from "../service/begin-session.ts";
import { findAgent } from "../service/lookup.ts";
import { sessionLayer } from "../service/session-layer.ts";
import type { BudgetClaim } from "./ledger.ts";
import {
  type CheckedSpawnOptions,
  checkSpawn,
  type SpawnOptions,
  type TeamDeps,
  type TeamSettings,
} from "./options.ts";

/** The parts of a team that its tasks need. */
export interface TeamScope {
  deps: TeamDeps;
  settings: TeamSettings;
}

/**
 * Completes a request with the options of the task and its team, and reserves its share of the budget. Throws if the
 * task cannot be started; `notStartedFor` turns the error into a response.
 */
export async function planRequest(
  team: TeamScope,
  draft: RunRequest,
  given: SpawnOptions,
  claim: BudgetClaim,
): Promise<RunRequest> {
  const { deps, settings } = team;
  const { task, options } = checkSpawn({ task: draft.task, options: given });
  const workspace = options.workspace ?? settings.workspace;
  await checkWorkspace(workspace, settings);
  const registry = await deps.agentSource.load(workspace);
  const agent = findAgent(registry, draft.agent);
  const layers = layersOf(team, registry, options);
  checkReachable(agent, layers.team);
  const limits = lowerLimits(settings, options);
  return {
    ...draft,
    task,
    // With a depth of 1 the agent is prompted like a child: the program takes the place of its parent.
    depth: Math.max(1, settings.chain.length),
    chain: settings.chain,
    layers: [...layers.team, ...layers.task],
    model: options.model ?? settings.model,
    temperature: options.temperature ?? settings.temperature,
    workspace: rootWorkspace(workspace, agent, deps),
    context: options.context ?? null,
    successCriteria: options.successCriteria ?? null,
    outputSchema: options.outputSchema ?? null,
    limits,
    budget: reserveShare(claim, capOf(agent, mostOf(draft.budget, settings, options), options, limits)),
  };
}

/** The default number of runs yields to one that the task or its team names, which may be higher. */
function mostOf(defaults: Budget, { budget: team }: TeamSettings, { budget: task }: CheckedSpawnOptions): Budget {
  return { ...defaults, spawns: task?.spawns ?? team.spawns ?? defaults.spawns };
}

function layersOf(
  { deps, settings }: TeamScope,
  registry: AgentRegistry,
  { tools, delegates = false }: CheckedSpawnOptions,
) {
  const specs = deps.tools.specs();
  const taskGrant = { ...(tools ? { tools } : {}), ...(delegates ? {} : { agents: [] }) };
  return {
    team: [...settings.layers, sessionLayer(settings.grant, specs, registry)],
    task: [sessionLayer(taskGrant, specs, registry)],
  };
}

const layerNames = { policy: "this machine's policy", session: "the team's grant", agent: "an agent above the team" };

/** The grant of the team also decides which agents the team itself can ask. */
function checkReachable({ id, disabled }: AgentDefinition, layers: readonly GrantLayer[]): void {
  const forbids = ({ agents, denyAgents }: GrantLayer): boolean =>
    denyAgents.includes(id) || (agents !== null && !agents.includes(id) && !agents.includes("*"));
  const layer = layers.find(forbids);
  const by = layer ? layerNames[layer.kind] : "its own definition";
  if (layer || disabled)
    throw new RunFailure(permanentError("permission", `the agent "${id}" cannot be asked: ${by} forbids it`));
}

/** Takes the lower limit of team and task. */
function lowerLimits({ limits }: TeamSettings, { maxToolCalls, maxContextTokens, timeoutMs }: CheckedSpawnOptions) {
  const tightened: PartialLimits = { ...limits };
  for (const [key, cap] of Object.entries({ maxToolCalls, maxContextTokens, maxDurationMs: timeoutMs })) {
    if (cap === undefined) continue;
    const name = key as "maxToolCalls" | "maxContextTokens" | "maxDurationMs";
    tightened[name] = Math.min(cap, tightened[name] ?? cap);
  }
  return tightened;
}

/** The most that the task can use. A larger reservation would only block other tasks. */
function capOf(
  agent: AgentDefinition,
  most: Budget,
  { budget = {}, delegates = false }: CheckedSpawnOptions,
  limits: PartialLimits,
): Budget {
  const subagents = delegates ? agent.subagents : { ...agent.subagents, allow: [] };
  const cap = tightenBudget(tightenBudget(most, budget), maxBudgetOf({ ...agent, subagents }));
  const { maxTokens = null, maxCostUsd = null, maxToolCalls = null } = limits;
  const isLeaf = cap.spawns === 0;
  return isLeaf
    ? tightenBudget(cap, { tokens: maxTokens, costUsd: maxCostUsd, toolCalls: maxToolCalls, spawns: 0 })
    : cap;
}

function reserveShare(claim: BudgetClaim, cap: Budget): Budget {
  const share = claim.reserve(cap);
  if (share) return share;
  const message = "the team's budget is used up or reserved; running tasks release their unused part when they settle";
  throw new RunFailure(permanentError("budget", message));
}

const runErrorTypes: Partial<Record<ErrorCode, RunErrorType>> = {
  USAGE: "params",
  UNKNOWN_AGENT: "unknown_agent",
  INVALID_AGENT: "unknown_agent",
};

/** The response of a task that could not be started, from the error. */
export function notStartedFor(request: RunRequest, thrown: unknown): RunResponse {
  if (thrown instanceof RunFailure) return notStartedResponse(request, "rejected", thrown.runError);
  const type = TroupeError.is(thrown) ? runErrorTypes[thrown.code] : undefined;
  if (!TroupeError.is(thrown) || !type) return notStartedResponse(request, "failed", toRunError(thrown, "crashed"));
  const message = thrown.fix ? `${thrown.message}; ${thrown.fix}` : thrown.message;
  return notStartedResponse(request, "rejected", permanentError(type, message));
}
