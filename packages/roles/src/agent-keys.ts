import { type AgentDefinition, Budget, Limits } from "@troupe/core";
import { RetryPolicy, Subagents } from "@troupe/core/internal";
import { nearest } from "./nearest.ts";

/** Keys that this loader acts on. */
const actedOn = [
  "id",
  "name",
  "description",
  "tools",
  "disallowedTools",
  "model",
  "effort",
  "maxTurns",
  "subagents",
  "troupe",
];

/** Keys of Claude Code's agent files and of its SDK's agent type that mean nothing here: read over without a word. */
const readOver = [
  "permissionMode",
  "skills",
  "mcpServers",
  "hooks",
  "memory",
  "background",
  "isolation",
  "color",
  "initialPrompt",
  "autoCompactWindow",
  "omitClaudeMd",
  "observer",
  "observerMessage",
  "criticalSystemReminder_EXPERIMENTAL",
];

export const topKeys: ReadonlySet<string> = new Set([...actedOn, ...readOver]);

/** What may stand under `troupe:`. */
export const troupeKeys = [
  "limits",
  "budget",
  "writes",
  "intent",
  "retry",
  "contextMode",
  "promptFrom",
  "temperature",
  "outputSchema",
  "domain",
  "disabled",
  "workspace",
  "verifiers",
] as const satisfies readonly (keyof AgentDefinition)[];

/** Other tools' words for one of ours, too far from it to be found by spelling. */
const otherWords: Readonly<Record<string, string>> = {
  "allowed-tools": "tools",
  allowed_tools: "tools",
  allowedTools: "tools",
  max_iterations: "maxTurns",
  agents: "subagents",
};

/** Keys of `troupe` that have keys of their own. */
const troupeGroups = { limits: Limits.shape, budget: Budget.shape, retry: RetryPolicy.shape };

/** The one step that mends an unknown key at the top of the front matter. */
export function fixForTopKey(key: string): string {
  if (Object.hasOwn(Subagents.shape, key)) return `put it under subagents:, indented by two spaces`;
  const group = groupOf(key);
  if (group !== undefined) return `put it under ${group}:, under troupe:`;
  const meant = otherWords[key] ?? nearest(key, [...topKeys, ...troupeKeys]);
  if (meant === null) return "remove it; keys of troupe alone go under troupe:";
  if ((troupeKeys as readonly string[]).includes(meant)) return `put it under troupe: as ${meant}`;
  return `did you mean ${meant}?`;
}

/** The same for a key below `subagents` or `troupe`. */
export function fixForNestedKey(key: string, path: readonly PropertyKey[]): string {
  const place = path.join(".");
  const group = place === "troupe" ? groupOf(key) : undefined;
  if (group !== undefined) return `put it under ${group}:, indented by two spaces`;
  const candidates = nestedKeys[place] ?? [];
  const meant = nearest(key, candidates);
  if (meant !== null) return `did you mean ${meant}?`;
  return candidates.length > 0 ? `use one of: ${candidates.join(", ")}` : "remove it";
}

function groupOf(key: string): string | undefined {
  return Object.entries(troupeGroups).find(([, shape]) => Object.hasOwn(shape, key))?.[0];
}

const nestedKeys: Readonly<Record<string, readonly string[]>> = {
  subagents: Object.keys(Subagents.shape),
  troupe: troupeKeys,
  ...Object.fromEntries(Object.entries(troupeGroups).map(([key, shape]) => [`troupe.${key}`, Object.keys(shape)])),
};
