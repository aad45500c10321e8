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
import type { Place } from "./ledger.ts";
import { readSpawn, type SpawnOptions, type TeamDeps, type TeamSettings } from "./options.ts";

/** A team as its tasks see it. */
export interface TeamScope {
  deps: TeamDeps;
  settings: TeamSettings;
}

/**
 * Makes of a bare request all that the task's options and its team say, with its share of the budget set aside. Throws
 * for what cannot be asked: `unaskedFor` makes a response of that.
 */
export async function planRequest(
  team: TeamScope,
  bare: RunRequest,
  given: SpawnOptions,
  place: Place,
): Promise<RunRequest> {
  const { deps, settings } = team;
  const { task, options } = readSpawn({ task: bare.task, options: given });
  const workspace = options.workspace ?? settings.workspace;
  await checkWorkspace(workspace);
  const registry = await deps.agentSource.load(workspace);
  const agent = findAgent(registry, bare.agent);
  const layers = layersOf(team, registry, options);
  checkReachable(agent, layers.team);
  const limits = limitsOf(settings, options);
  return {
    ...bare,
    task,
    // A sub-agent is told how to answer and within which limits: the program stands where its parent would.
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
    budget: shareFor(place, capOf(agent, bare.budget, options, limits)),
  };
}

function layersOf({ deps, settings }: TeamScope, registry: AgentRegistry, { tools, delegates = false }: SpawnOptions) {
  const specs = deps.tools.specs();
  const own = { ...(tools ? { tools } : {}), ...(delegates ? {} : { agents: [] }) };
  return {
    team: [...settings.layers, sessionLayer(settings.grant, specs, registry)],
    task: [sessionLayer(own, specs, registry)],
  };
}

const speakers = { policy: "this machine's policy", session: "the team's grant", agent: "an agent above the team" };

/** A team asks under the same grant that its agents work under. */
function checkReachable({ id, disabled }: AgentDefinition, layers: readonly GrantLayer[]): void {
  const forbids = ({ agents, denyAgents }: GrantLayer): boolean =>
    denyAgents.includes(id) || (agents !== null && !agents.includes(id) && !agents.includes("*"));
  const layer = layers.find(forbids);
  const by = layer ? speakers[layer.kind] : "its own definition";
  if (layer || disabled)
    throw new RunFailure(permanentError("permission", `the agent "${id}" may not be asked: ${by} says so`));
}

/** Of the team's caps and the task's own, the tighter ones. */
function limitsOf({ limits }: TeamSettings, { maxToolCalls, maxContextTokens, timeoutMs }: SpawnOptions) {
  const tightened: PartialLimits = { ...limits };
  for (const [key, cap] of Object.entries({ maxToolCalls, maxContextTokens, maxDurationMs: timeoutMs })) {
    if (cap === undefined) continue;
    const name = key as "maxToolCalls" | "maxContextTokens" | "maxDurationMs";
    tightened[name] = Math.min(cap, tightened[name] ?? cap);
  }
  return tightened;
}

/** The most that a task can use: what more would be set aside for it, others could not use meanwhile. */
function capOf(
  agent: AgentDefinition,
  most: Budget,
  { budget = {}, delegates = false }: SpawnOptions,
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

function shareFor(place: Place, cap: Budget): Budget {
  const share = place.reserve(cap);
  if (share) return share;
  const message = "nothing is left of the team's budget; what others under way do not use comes back when they settle";
  throw new RunFailure(permanentError("budget", message));
}

const refusals: Partial<Record<ErrorCode, RunErrorType>> = {
  USAGE: "params",
  UNKNOWN_AGENT: "unknown_agent",
  INVALID_AGENT: "unknown_agent",
};

/** The response of a task that was never asked, from what was thrown on the way there. */
export function unaskedFor(request: RunRequest, thrown: unknown): RunResponse {
  if (thrown instanceof RunFailure) return notStartedResponse(request, "rejected", thrown.runError);
  const type = TroupeError.is(thrown) ? refusals[thrown.code] : undefined;
  if (!TroupeError.is(thrown) || !type) return notStartedResponse(request, "failed", toRunError(thrown, "crashed"));
  const message = thrown.fix ? `${thrown.message}; ${thrown.fix}` : thrown.message;
  return notStartedResponse(request, "rejected", permanentError(type, message));
}
