import {
  type AgentDefinition,
  type Company,
  canonicalJson,
  delegateSpec,
  hashText,
  Limits,
  narrowGrant,
  type Pin,
  protocolVersion,
  type RunRequest,
  type ToolSpec,
  tighten,
} from "@troupe/core";

/** Pins what a run will be resumed with: definition, prompt, tools, grant, limits, model. */
export function pinRun(request: RunRequest, company: Company, specs: readonly ToolSpec[], now: number): Pin {
  const definition = company.find(request.agent) ?? missingDefinition(request.agent);
  const grant = narrowGrant(request.grant, definition, specs);
  const limits = limitsOf(request, definition);
  const targets = grant.agents
    .map((id) => company.find(id))
    .filter((agent) => agent !== undefined)
    .map(({ id, description, retry }) => ({ id, description, retry }));
  const tools = specs.filter(({ name }) => grant.tools.includes(name));
  return {
    protocol: protocolVersion,
    definition,
    definitionHash: hashText(canonicalJson(definition)),
    prompt: company.renderPrompt(definition, request, { limits, targets: targets.map(({ id }) => id), now }),
    tools: targets.length > 0 ? [...tools, delegateSpec(targets)] : tools,
    targets,
    model: definition.model === "inherit" ? request.model : definition.model,
    grant,
    limits,
  };
}

/** The definition's caps over the defaults, tightened from above. */
function limitsOf(request: RunRequest, definition: AgentDefinition): Limits {
  const { execution, max_concurrent } = definition.subagents;
  const own = Limits.parse({ ...definition.limits });
  return tighten(tighten(own, { maxConcurrent: execution === "sequential" ? 1 : max_concurrent }), request.limits);
}

/** Stands in the journal for an agent that has gone since it was asked for: its run is rejected, and says so. */
function missingDefinition(id: string): AgentDefinition {
  return {
    id,
    name: id,
    description: "(no definition)",
    prompt: "(no definition)",
    tools: [],
    disallowedTools: [],
    model: "inherit",
    subagents: { allow: [], deny: [], execution: "parallel", max_concurrent: 1 },
    intent: "direct",
    limits: {},
    retry: { maxAttempts: 1, backoffMs: 0, on: [] },
    contextMode: "task_only",
    workspace: "shared",
    verifiers: [],
    source: { origin: "builtin", path: "" },
  };
}
