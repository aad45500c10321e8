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
import {
  type AgentListing,
  canonicalJson,
  type DelegationTarget,
  delegationSpecs,
  hashText,
  listAgents,
  planModel,
  planPrice,
  planRunnerOf,
  projectOf,
  protocolVersion,
  type ResolveModel,
  type RunSpec,
  tightenBudget,
  workspaceModeOf,
} from "@troupe/core/internal";
import type { AgentHints, HostDeps } from "../host-deps.ts";

type SpecDeps = Pick<
  HostDeps,
  "tools" | "models" | "clock" | "resolveModel" | "policyLayer" | "hostId" | "agentListTokens" | "agentHints"
>;

/**
 * Resolves the spec of a new run: definition, prompt, tools, grant, limits, budget, model and price. The spec is stored
 * in the run's first entry, and every host resumes the run with it.
 */
export async function resolveRunSpec(deps: SpecDeps, request: RunRequest, registry: AgentRegistry): Promise<RunSpec> {
  const { tools: host, models, clock, resolveModel = useNameAsId } = deps;
  const found = registry.find(request.agent) ?? missingDefinition(request.agent);
  const definition = request.plan ? planRunnerOf(found) : found;
  const workspace = projectOf(request);
  await host.prepare?.(toolFolderOf(request));
  const specs = host.specs(toolFolderOf(request));
  const machine = machineLayer(deps, request);
  const grant = grantOf([...request.layers, ...machine], definition, { tools: specs, agents: registry.agents });
  const limits = limitsOf(request, definition);
  const budget = tightenBudget(request.budget, definition.budget);
  const targets = reachableAgents(request, grant.agents, limits)
    .flatMap((id) => targetsOf(registry.find(id)))
    .map((target) => withHint(target, deps.agentHints, request.agent));
  const tools = specs.filter(({ name }) => grant.tools.includes(name));
  const preference = { wanted: definition.model, inherited: request.model, agent: request.agent };
  const model = request.plan ? planModel : await resolveModel({ ...preference, workspace });
  const agentList = listAgents(targets, deps.agentListTokens);
  const facts = { limits, budget, targets: targets.map(({ id }) => id), agentList, tools, now: clock.now() };
  const prompt = request.plan ? definition.prompt : registry.renderPrompt(definition, request, facts);
  return {
    protocol: protocolVersion,
    definition,
    definitionHash: definitionHashOf(found),
    prompt,
    tools: targets.length > 0 ? [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))] : tools,
    targets,
    model,
    temperature: definition.temperature ?? request.temperature,
    price: request.plan ? planPrice : await models.priceOf(model),
    contextTokens: request.plan ? null : ((await models.contextOf?.(model)) ?? null),
    history: [],
    grant,
    ...(machine[0] && { machine: machine[0] }),
    limits,
    budget,
    booksLostCalls: true,
    marksLastTurn: true,
    makesRoom: true,
    readsTextOnce: true,
    answersByDomain: definition.domain !== null,
  };
}

/** A model reads the list of agents once. A program's prompts may not have it: then the tool says it. */
function listingInTool({ text }: AgentListing, prompt: string): "list" | "ids" {
  return prompt.includes(text) ? "ids" : "list";
}

/** This machine's policy, for a session that another machine accepted: it limits every run on this machine. */
function machineLayer({ policyLayer, hostId }: Pick<HostDeps, "policyLayer" | "hostId">, { layers }: RunRequest) {
  if (!policyLayer || layers.some((layer) => canonicalJson(layer) === canonicalJson(policyLayer))) return [];
  return [{ ...policyLayer, from: hostId }];
}

/** Cached, because a tree of runs uses the same definitions again and again. */
const hashes = new WeakMap<AgentDefinition, string>();

/** Two definitions with the same hash are the same agent, wherever their files are. */
export function definitionHashOf(definition: AgentDefinition): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const { source: _, ...content } = definition;
  const hash = hashText(canonicalJson(content));
  hashes.set(definition, hash);
  return hash;
}

/** The default: a model name is a model id. */
const useNameAsId: ResolveModel = async ({ wanted, inherited }) => (wanted === "inherit" ? inherited : wanted);

/** A domain agent works on one request with few calls. Its file can name another limit. */
const domainIterationsMax = 3;

/** The limits of the definition over the defaults, tightened by those of the request. */
function limitsOf(request: RunRequest, definition: AgentDefinition): Limits {
  const { execution, max_concurrent } = definition.subagents;
  const ofDomain = definition.domain === null ? {} : { maxIterations: domainIterationsMax };
  const own = Limits.parse({ ...ofDomain, ...definition.limits });
  return tighten(tighten(own, { maxConcurrent: execution === "sequential" ? 1 : max_concurrent }), request.limits);
}

/** The agents that the model may delegate to. A cycle or the depth of the tree rules agents out. */
function reachableAgents({ chain, depth }: RunRequest, agents: readonly string[], { maxDepth }: Limits): string[] {
  return depth < maxDepth ? agents.filter((id) => !chain.includes(id)) : [];
}

/** Describes an agent as a delegation target; empty for an agent without a definition. */
function targetsOf(definition: AgentDefinition | undefined): DelegationTarget[] {
  if (!definition) return [];
  const { id, description, retry, promptFrom, domain } = definition;
  // A domain expert always gets the task only, whatever its file says.
  const contextMode = domain === null ? definition.contextMode : "task_only";
  const mode = workspaceModeOf(definition);
  const workspace = mode === "shared" ? {} : { workspace: mode };
  return [{ id, description, retry, contextMode, promptFrom, domain, ...workspace, budget: maxBudgetOf(definition) }];
}

/** Pins the hint of now, so that the run reads the same one after a takeover and in a replay. */
function withHint(target: DelegationTarget, hints: AgentHints | undefined, parent: string): DelegationTarget {
  const hint = hints?.hintFor({ parent, agent: target.id });
  return hint === undefined ? target : { ...target, hint };
}

/**
 * The most that a child of this agent can use, according to its file. An agent that may delegate also uses the budget of
 * its children, so its limits say nothing: only its own budget counts, which covers all of them.
 */
export function maxBudgetOf(definition: AgentDefinition): Budget {
  const { budget, limits, subagents, domain } = definition;
  const isLeaf = domain !== null || subagents.allow.length === 0;
  if (!isLeaf) return tightenBudget(Budget.parse({}), budget);
  const { maxTokens, maxCostUsd, maxToolCalls } = Limits.parse({ ...limits });
  return tightenBudget({ tokens: maxTokens, costUsd: maxCostUsd, toolCalls: maxToolCalls, spawns: 0 }, budget);
}

/** A placeholder for an agent without a definition. The run is rejected, and its first entry still needs a spec. */
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

/**
 * The folder whose own tools and rules apply to a run: the project of the session. Null for an isolated run, because it
 * may resume on a host without that folder.
 */
export function toolFolderOf(request: Pick<RunRequest, "workspace">): string | null {
  return request.workspace.mode === "isolated" ? null : projectOf(request);
}
