import {
  type AgentDefinition,
  type AgentRegistry,
  AgentDefinition as AgentSchema,
  Budget,
  grantOf,
  Limits,
  type RunRequest,
  tighten,
} from "@troupe/core";
import type { ResolveModel } from "@troupe/core/internal";
import {
  canonicalJson,
  type DelegationTarget,
  delegateSpec,
  hashText,
  projectOf,
  protocolVersion,
  type RunSpec,
  tightenBudget,
  workspaceModeOf,
} from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { toolFolderOf } from "../tool-folder.ts";

/** Pins what a run will be resumed with: definition, prompt, tools, grant, limits, budget, model and its price. */
export async function resolveRunSpec(
  deps: Pick<HostDeps, "tools" | "models" | "clock" | "resolveModel" | "policyLayer" | "hostId">,
  request: RunRequest,
  registry: AgentRegistry,
): Promise<RunSpec> {
  const { tools: host, models, clock, resolveModel = asWritten } = deps;
  const definition = registry.find(request.agent) ?? missingDefinition(request.agent);
  const workspace = projectOf(request);
  await host.prepare?.(toolFolderOf(request));
  const specs = host.specs(toolFolderOf(request));
  const machine = machineLayer(deps, request);
  const grant = grantOf([...request.layers, ...machine], definition, { tools: specs, agents: registry.agents });
  const limits = limitsOf(request, definition);
  const budget = tightenBudget(request.budget, definition.budget);
  const targets = reachable(request, grant.agents, limits).flatMap((id) => targetOf(registry.find(id)));
  const tools = specs.filter(({ name }) => grant.tools.includes(name));
  const command = { wanted: definition.model, inherited: request.model, agent: request.agent };
  const model = await resolveModel({ ...command, workspace });
  const facts = { limits, budget, targets: targets.map(({ id }) => id), now: clock.now() };
  return {
    protocol: protocolVersion,
    definition,
    definitionHash: definitionHashOf(definition),
    prompt: registry.renderPrompt(definition, request, facts),
    tools: targets.length > 0 ? [...tools, delegateSpec(targets)] : tools,
    targets,
    model,
    temperature: definition.temperature ?? request.temperature,
    price: await models.priceOf(model),
    contextTokens: (await models.contextOf?.(model)) ?? null,
    history: [],
    grant,
    ...(machine[0] && { machine: machine[0] }),
    limits,
    budget,
    makesRoom: true,
  };
}

/** What the owner of this machine says to a session that another one took in: he has the last word on what runs here. */
function machineLayer({ policyLayer, hostId }: Pick<HostDeps, "policyLayer" | "hostId">, { layers }: RunRequest) {
  if (!policyLayer || layers.some((layer) => canonicalJson(layer) === canonicalJson(policyLayer))) return [];
  return [{ ...policyLayer, from: hostId }];
}

/** A tree of runs pins the same definitions over and over. */
const hashes = new WeakMap<AgentDefinition, string>();

/** What makes two definitions the same agent, wherever their files are. */
export function definitionHashOf(definition: AgentDefinition): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const { source: _, ...own } = definition;
  const hash = hashText(canonicalJson(own));
  hashes.set(definition, hash);
  return hash;
}

/** Without a configuration an id is what it says. */
const asWritten: ResolveModel = async ({ wanted, inherited }) => (wanted === "inherit" ? inherited : wanted);

/** The definition's caps over the defaults, tightened from above. */
function limitsOf(request: RunRequest, definition: AgentDefinition): Limits {
  const { execution, max_concurrent } = definition.subagents;
  const own = Limits.parse({ ...definition.limits });
  return tighten(tighten(own, { maxConcurrent: execution === "sequential" ? 1 : max_concurrent }), request.limits);
}

/** Whom the model is told of: nobody whom it would be refused, for a cycle or for the depth of the tree. */
function reachable({ chain, depth }: RunRequest, agents: readonly string[], { maxDepth }: Limits): string[] {
  return depth < maxDepth ? agents.filter((id) => !chain.includes(id)) : [];
}

/** What a run has to know of an agent before it asks it for anything. */
function targetOf(definition: AgentDefinition | undefined): DelegationTarget[] {
  if (!definition) return [];
  const { id, description, retry, promptFrom, domain } = definition;
  // An expert of one domain gets one message, whatever its file says.
  const contextMode = domain === null ? definition.contextMode : "task_only";
  const mode = workspaceModeOf(definition);
  const workspace = mode === "shared" ? {} : { workspace: mode };
  return [{ id, description, retry, contextMode, promptFrom, domain, ...workspace, budget: mostUsedBy(definition) }];
}

/**
 * The most that a child of this agent can use, as far as its own file tells. One that may delegate uses what its
 * children use too, so that only a budget of its own, which is for all of them, says anything.
 */
export function mostUsedBy(definition: AgentDefinition): Budget {
  const { budget, limits, subagents, domain } = definition;
  const isLeaf = domain !== null || subagents.allow.length === 0;
  if (!isLeaf) return tightenBudget(Budget.parse({}), budget);
  const { maxTokens, maxCostUsd, maxToolCalls } = Limits.parse({ ...limits });
  return tightenBudget({ tokens: maxTokens, costUsd: maxCostUsd, toolCalls: maxToolCalls, spawns: 0 }, budget);
}

/** Stands in the journal for an agent that has gone since it was asked for: its run is rejected, and says so. */
function missingDefinition(id: string): AgentDefinition {
  return AgentSchema.parse({
    id,
    name: id,
    description: "(no definition)",
    prompt: "(no definition)",
    tools: [],
    retry: { maxAttempts: 1, backoffMs: 0, on: [] },
    source: { origin: "builtin", path: "" },
  });
}
