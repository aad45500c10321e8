import { type AgentDefinition, Budget, Limits } from "@troupe/core";
import { didYouMean, nearestNames, RetryPolicy, Subagents } from "@troupe/core/internal";

/** Keys that have an effect. */
const supportedKeys = [
  "id",
  "name",
  "description",
  "tools",
  "disallowedTools",
  "model",
  "effort",
  "permissionMode",
  "isolation",
  "maxTurns",
  "subagents",
  "troupe",
];

/** Keys of Claude Code's agent files that have no effect yet. `imported-keys.ts` warns of them. */
const unsupportedKeys = ["skills", "mcpServers", "hooks", "memory"];

/** Keys of Claude Code's agent files and SDK that have no effect in troupe. They cause no warning. */
const ignoredKeys = [
  "background",
  "color",
  "initialPrompt",
  "autoCompactWindow",
  "omitClaudeMd",
  "observer",
  "observerMessage",
  "criticalSystemReminder_EXPERIMENTAL",
];

export const topKeys: ReadonlySet<string> = new Set([...supportedKeys, ...unsupportedKeys, ...ignoredKeys]);

/** The keys below `troupe:`. */
export const troupeKeys = [
  "limits",
  "budget",
  "writes",
  "intent",
  "patterns",
  "retry",
  "contextMode",
  "promptFrom",
  "temperature",
  "outputSchema",
  "domain",
  "disabled",
  "workspace",
  "verifiers",
  "childVerifiers",
  "triggers",
  "observers",
] as const satisfies readonly (keyof AgentDefinition)[];

/** Names of other tools for a key, too different from it for a spelling suggestion. */
const keySynonyms: Readonly<Record<string, string>> = {
  "allowed-tools": "tools",
  allowed_tools: "tools",
  allowedTools: "tools",
  max_iterations: "maxTurns",
  agents: "subagents",
};

/** Keys of `troupe` with nested keys. */
const troupeGroups = { limits: Limits.shape, budget: Budget.shape, retry: RetryPolicy.shape };

/** The fix for an unknown key at the top of the front matter. */
export function fixForTopKey(key: string): string {
  if (Object.hasOwn(Subagents.shape, key)) return "move it below subagents:, indented by two spaces";
  const group = groupOf(key);
  if (group !== undefined) return `move it below ${group}:, below troupe:`;
  const meant = keySynonyms[key] ?? nearestNames(key, [...topKeys, ...troupeKeys], 1)[0] ?? null;
  if (meant === null) return "remove it, or move it below troupe: if it is a key of troupe";
  if ((troupeKeys as readonly string[]).includes(meant)) return `move it below troupe: as ${meant}`;
  return `did you mean ${meant}?`;
}

/** The fix for an unknown key below `subagents` or `troupe`. */
export function fixForNestedKey(key: string, path: readonly PropertyKey[]): string {
  const parent = path.join(".");
  const group = parent === "troupe" ? groupOf(key) : undefined;
  if (group !== undefined) return `move it below ${group}:, indented by two spaces`;
  const candidates = nestedKeys[parent] ?? [];
  if (candidates.length === 0) return "remove it";
  return didYouMean(key, candidates) ?? `use one of: ${candidates.join(", ")}`;
}

function groupOf(key: string): string | undefined {
  return Object.entries(troupeGroups).find(([, shape]) => Object.hasOwn(shape, key))?.[0];
}

const nestedKeys: Readonly<Record<string, readonly string[]>> = {
  subagents: Object.keys(Subagents.shape),
  troupe: troupeKeys,
  ...Object.fromEntries(Object.entries(troupeGroups).map(([key, shape]) => [`troupe.${key}`, Object.keys(shape)])),
};
