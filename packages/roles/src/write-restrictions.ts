import type { AgentDefinition } from "@troupe/core";
import { canonicalToolName } from "@troupe/core/internal";
import type { ProblemReport } from "./problem-report.ts";
import type { FolderRule, ToolList } from "./tool-list.ts";

type Writes = AgentDefinition["writes"];

/** Items that can mean a tool that writes files. */
const writers: ReadonlySet<string> = new Set(["apply_patch", "edit", "filesystem", "write", "write_local_file"]);

/**
 * Turns `Edit(docs/**)` into a write scope of the whole agent, and adds the tool to the list. A scope holds for all writers of
 * the agent, so this works only if all of them have the same restriction. If not, the restricted tools are not granted.
 * Returns the scope of the agent.
 */
export function restrictWriters(list: ToolList, own: Writes, report: ProblemReport): Writes {
  const { folders } = list;
  if (folders.length === 0) return own;
  const reason = reasonAgainst(list, own);
  if (reason !== null) {
    for (const { item, written, offset } of folders) {
      report.warn(offset, {
        code: "restricted-tool",
        message: `${written}: ${reason}, so ${item} is not granted`,
        fix: `write ${item} without the restriction, and the folders below troupe: as writes: [docs]`,
      });
    }
    return own;
  }
  list.tools.push(...folders.map(({ item, written, offset }) => ({ item, written, offset })));
  return [...new Set(folders.map(({ folder }) => folder))];
}

function reasonAgainst({ folders, tools, all }: ToolList, own: Writes): string | null {
  if (own !== null) return "the file has writes: below troupe:, which holds for all tools";
  const free = tools.find(({ item }) => writers.has(canonicalToolName(item)) || item.endsWith("*"));
  if (all || free) return `${free?.written ?? "*"} may write anywhere, and a restriction holds for all tools`;
  const scopes = new Set([...byTool(folders).values()].map((scope) => scope.sort().join("\n")));
  return scopes.size > 1 ? "the tools of the list have different folders" : null;
}

function byTool(folders: readonly FolderRule[]): Map<string, string[]> {
  const scopes = new Map<string, string[]>();
  for (const { item, folder } of folders) scopes.set(item, [...(scopes.get(item) ?? []), folder]);
  return scopes;
}
