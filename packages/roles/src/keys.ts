import { type AgentDefinition, Limits, RetryPolicy, Subagents } from "@troupe/core";
import { nearest } from "./nearest.ts";

/** Keys that this loader acts on. */
const actedOn = ["id", "name", "description", "tools", "disallowedTools", "model", "maxTurns", "subagents", "troupe"];

/** Keys of Claude Code's agent files and of its SDK's agent type that mean nothing here: read over without a word. */
const readOver = [
  "permissionMode",
  "skills",
  "mcpServers",
  "hooks",
  "memory",
  "background",
  "effort",
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
  "intent",
  "retry",
  "contextMode",
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

/** The one step that mends an unknown key at the top of the front matter. */
export function fixForTopKey(key: string): string {
  if (Object.hasOwn(Subagents.shape, key)) return `put it under subagents:, indented by two spaces`;
  if (Object.hasOwn(Limits.shape, key)) return `put it under limits:, under troupe:`;
  const meant = otherWords[key] ?? nearest(key, [...topKeys, ...troupeKeys]);
  if (meant === null) return "remove it; keys of troupe alone go under troupe:";
  if ((troupeKeys as readonly string[]).includes(meant)) return `put it under troupe: as ${meant}`;
  return `did you mean ${meant}?`;
}

/** The same for a key below `subagents` or `troupe`. */
export function fixForNestedKey(key: string, path: readonly PropertyKey[]): string {
  const candidates = nestedKeys[path.join(".")] ?? [];
  const meant = nearest(key, candidates);
  if (meant !== null) return `did you mean ${meant}?`;
  return candidates.length > 0 ? `use one of: ${candidates.join(", ")}` : "remove it";
}

const nestedKeys: Readonly<Record<string, readonly string[]>> = {
  subagents: Object.keys(Subagents.shape),
  troupe: troupeKeys,
  "troupe.limits": Object.keys(Limits.shape),
  "troupe.retry": Object.keys(RetryPolicy.shape),
};
