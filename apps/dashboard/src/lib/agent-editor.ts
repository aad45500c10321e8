import type { AgentAbility, AgentFileRow, AgentForm, AgentProblem, ToolChoice } from "@troupe/core/internal";

/** The limits that agent files know, with their meaning. */
export const limitTexts = {
  maxIterations: "model calls",
  maxToolCalls: "tool calls",
  maxDurationMs: "time, such as 10m",
  maxTokens: "tokens",
  maxContextTokens: "tokens of its conversation",
  maxOutputTokens: "tokens of one reply",
  maxCostUsd: "cost in USD",
  maxParallelTools: "tools at once",
  maxConcurrent: "agents at once",
  maxChildren: "agents in total",
  maxDepth: "depth of delegation",
} as const satisfies Record<keyof AgentForm["limits"], string>;

export const limitNames = Object.keys(limitTexts) as (keyof typeof limitTexts)[];

/** Signs of the abilities: a short text for lists, and a sentence. */
export const abilityTexts: Readonly<Record<AgentAbility, { short: string; long: string }>> = {
  changes_files: { short: "changes files", long: "Can change files in the workspace." },
  runs_commands: {
    short: "runs commands",
    long: "Can run commands, which can change files and use the sandbox's network.",
  },
  talks_outward: { short: "talks outward", long: "Can reach web pages or other services." },
  delegates: {
    short: "delegates",
    long: "Can hand tasks to other agents, which use their own tools within its grant.",
  },
  acts_otherwise: { short: "other effects", long: "Has a tool with another effect, such as notes or a tool of yours." },
};

/** The sign of an agent without any ability. */
export const readsOnly = {
  short: "reads only",
  long: "Only reads: no tool of it can change anything or reach outside.",
};

/** The names of origins for people. */
export const originTexts: Readonly<Record<string, string>> = {
  builtin: "shipped",
  user: "yours",
  project: "project",
  claude: "project, .claude",
  remote: "another host",
};

/**
 * The name that an unknown name was probably meant to be, from the problem that names it; null if there is none.
 *
 * @example
 * suggestionFor("Raed", [problem]); // { message: "…", name: "read" } for the fix "did you mean read?"
 */
export function suggestionFor(
  name: string,
  problems: readonly AgentProblem[],
): { message: string; name: string | null } | null {
  const quoted = JSON.stringify(name);
  const found = problems.find(({ code, message }) => /-(tool|target)$/.test(code) && message.includes(quoted));
  if (!found) return null;
  const [, nearest = null] = /^did you mean (\S+)\?$/.exec(found.fix ?? "") ?? [];
  return { message: found.message, name: nearest };
}

/** Agents whose id, name or description has all words of a text. */
export function findAgents(rows: readonly AgentFileRow[], text: string, origin: string): AgentFileRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const all = `${row.id} ${row.name} ${row.description}`.toLowerCase();
    return words.every((word) => all.includes(word)) && (origin === "" || groupOf(row) === origin);
  });
}

/** The group of an agent in the list: its team, or its origin. */
export function groupOf({ team, origin }: Pick<AgentFileRow, "team" | "origin">): string {
  if (team !== undefined) return "team";
  return origin === "claude" ? "project" : origin;
}

/** The granted tools of each ability, for the sign of an agent. */
export function toolsByAbility(
  granted: readonly string[],
  tools: readonly ToolChoice[],
): ReadonlyMap<AgentAbility | null, string[]> {
  const abilities = new Map(tools.map(({ name, ability }) => [name, ability]));
  const grouped = new Map<AgentAbility | null, string[]>();
  for (const name of granted) {
    const ability = abilities.get(name) ?? null;
    grouped.set(ability, [...(grouped.get(ability) ?? []), name]);
  }
  return grouped;
}

/** Whether two forms have the same values. */
export function isSameForm(a: AgentForm | null, b: AgentForm | null): boolean {
  return JSON.stringify(a, sortedKeys(a)) === JSON.stringify(b, sortedKeys(b));
}

/** The keys of both levels: the order of the limits does not matter. */
function sortedKeys(form: AgentForm | null): string[] {
  return form === null ? [] : [...Object.keys(form), ...Object.keys(form.limits)].sort();
}

/** Folders of sessions that can be projects: not those that the daemon made for a session without a folder. */
export function projectFolders(workspaces: readonly string[], home: string): string[] {
  const outside = workspaces.filter((path) => path !== "" && path !== home && !path.startsWith(`${home}/`));
  return [...new Set(outside)].sort();
}
