import type { ToolSpec } from "../protocol/tool.ts";
import { delegateNames, namesTool } from "./grant.ts";

/** Names of a list that fit no tool of this machine. Servers come and go, so that all of one may always be named. */
export function unknownToolNames(names: readonly string[], specs: readonly ToolSpec[]): string[] {
  const known = [...specs, ...delegateNames.map((name) => ({ name, groups: [] }))];
  return names.filter((name) => !isWholeServer(name) && !known.some((tool) => namesTool([name], tool)));
}

/** What can stand in a list of tools: their names, and those of their groups. */
export function toolNames(specs: readonly ToolSpec[]): { tools: string[]; groups: string[] } {
  return { tools: specs.map(({ name }) => name), groups: [...new Set(specs.flatMap(({ groups }) => groups))].sort() };
}

function isWholeServer(name: string): boolean {
  return name.startsWith("mcp__") && name.endsWith("*");
}
