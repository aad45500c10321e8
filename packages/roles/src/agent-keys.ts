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
const unsupportedKeys = ["skills", "mcpServers", "mcp-servers", "hooks", "handoffs", "memory"];

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

/** Keys that describe an agent to people or to other programs. They cause one line together. */
export const metadataKeys: ReadonlySet<string> = new Set([
  ...["argument-hint", "author", "authors", "capabilities", "categories", "category", "complexity", "created"],
  ...["created_at", "createdAt", "date", "display_name", "displayName", "domains", "emoji", "examples", "expertise"],
  ...["frameworks", "icon", "infer", "keywords", "kind", "languages", "last_updated", "lastUpdated", "license"],
  ...["metadata", "mode", "model_tier", "namespace", "notes", "phase", "priority", "proficiency", "role", "scope"],
  ...["short_description", "skill_level", "source", "specialization", "specialties", "stack", "status", "tag", "tags"],
  ...["target", "technologies", "tier", "title", "triggers_on", "type", "updated", "updated_at", "updatedAt", "url"],
  ...["usage", "use_cases", "user-invocable", "user-invokable", "version", "vibe", "when_to_use", "whenToUse"],
]);

export const topKeys: ReadonlySet<string> = new Set([...supportedKeys, ...unsupportedKeys, ...ignoredKeys]);

/** The keys below `troupe:`. */
export const troupeKeys = [
  "limits",
  "budget",
  "writes",
  "intent",
  "patterns",
  "handler",
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

/** Names of other programs for a key, too different from it for a spelling suggestion. */
const keySynonyms: Readonly<Record<string, string>> = {
  "allowed-tools": "tools",
  allowed_tools: "tools",
  allowedTools: "tools",
  max_iterations: "maxTurns",
  agents: "subagents",
};

/**
 * Keys of the identity and the permissions of an agent. They are suggested for another spelling only (`permission_mode`), and
 * never for a key that means something else (`permissions`).
 */
const decisiveKeys: ReadonlySet<string> = new Set([
  ...["id", "name", "permissionMode", "isolation", "domain", "disabled", "promptFrom", "workspace", "observer"],
]);

/** The key that an unknown key was probably meant to be. */
function nearKey(key: string, known: readonly string[]): string | null {
  const isSpelling = (other: string): boolean => lettersOf(other) === lettersOf(key);
  const spelling = known.find(isSpelling);
  if (spelling !== undefined) return spelling;
  return nearestNames(key, known, 3).find((other) => !decisiveKeys.has(other)) ?? null;
}

function lettersOf(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Keys of `troupe` with nested keys. */
const troupeGroups = { limits: Limits.shape, budget: Budget.shape, retry: RetryPolicy.shape };

/** The fix for an unknown key at the top of the front matter. */
export function fixForTopKey(key: string): string {
  if (Object.hasOwn(Subagents.shape, key)) return "move it below subagents:, indented by two spaces";
  const group = groupOf(key);
  if (group !== undefined) return `move it below ${group}:, below troupe:`;
  const meant = keySynonyms[key] ?? nearKey(key, [...topKeys, ...troupeKeys]);
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

/**
 * The path of a key in an agent file: of `model` itself, and of `disabled` and `maxIterations` below `troupe`. Null for an
 * unknown key.
 *
 * @example
 * pathOfKey("maxDurationMs"); // "troupe.limits.maxDurationMs"
 */
export function pathOfKey(key: string): string | null {
  const [first = "", ...rest] = key.split(".");
  if (supportedKeys.includes(first)) return rest.includes("") ? null : key;
  if ((troupeKeys as readonly string[]).includes(first)) return `troupe.${key}`;
  const group = groupOf(key);
  if (group !== undefined) return `troupe.${group}.${key}`;
  return Object.hasOwn(Subagents.shape, key) ? `subagents.${key}` : null;
}

/** The fix for a key that `pathOfKey` does not know. */
export function fixForKey(key: string): string {
  const meant = nearKey(key, [...supportedKeys, ...troupeKeys]);
  return meant === null ? `use one of: ${[...supportedKeys, ...troupeKeys].join(", ")}` : `did you mean ${meant}?`;
}

function groupOf(key: string): string | undefined {
  return Object.entries(troupeGroups).find(([, shape]) => Object.hasOwn(shape, key))?.[0];
}

const nestedKeys: Readonly<Record<string, readonly string[]>> = {
  subagents: Object.keys(Subagents.shape),
  troupe: troupeKeys,
  ...Object.fromEntries(Object.entries(troupeGroups).map(([key, shape]) => [`troupe.${key}`, Object.keys(shape)])),
};
