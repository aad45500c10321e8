import { delegateNames, listedToolName, parseCommandPattern, Token } from "@troupe/core/internal";
import { folderOfPattern } from "./path-pattern.ts";
import { formatValue, type ProblemReport } from "./problem-report.ts";
import type { Field } from "./yaml-fields.ts";

/** A named agent and its location. */
export interface Target {
  id: string;
  offset: number;
}

/** An item of the list: as the definition has it, as the file has it, and its location. */
export interface ListedTool {
  item: string;
  written: string;
  offset: number;
}

/** A tool that may write in one folder only: `Edit(docs/**)`. */
export interface FolderRule extends ListedTool {
  folder: string;
}

export interface ToolList {
  tools: ListedTool[];
  /** From `Agent(x)` and `Task(x)`. */
  targets: Target[];
  /** Restrictions to folders. They hold only if the whole definition can be restricted to them. */
  folders: FolderRule[];
  /** The list has `*`: every tool. */
  all: boolean;
  /** Offset of a delegation tool without a named agent. */
  delegationOffset: number | null;
  /** Whether the list has entries, usable or not. */
  hasEntries: boolean;
}

const delegation: ReadonlySet<string> = new Set([
  ...delegateNames,
  // Copilot's names.
  ...["agent", "runSubagent", "agent/runSubagent"],
]);

/** Tools whose calls consist of commands, so that a pattern of commands can restrict them. */
const commandTools: ReadonlySet<string> = new Set(["shell", "git"]);
const fileWriters: ReadonlySet<string> = new Set(["apply_patch", "edit", "write", "write_local_file"]);

/**
 * Reads `tools` (grants) or `disallowedTools` (denials): a list, or names separated by commas. A restriction in parentheses
 * is kept if the run time can enforce it. If not, a grant is left out, and a denial denies the whole tool.
 */
export function readToolList(
  field: Field,
  mode: "grant" | "deny",
  text: string,
  report: ProblemReport,
): ToolList | null {
  const items = itemsOf(field, text, report);
  if (items === null) return null;
  const list: ToolList = {
    tools: [],
    targets: [],
    folders: [],
    all: false,
    delegationOffset: null,
    hasEntries: items.length > 0,
  };
  for (const item of items) addItem(item, mode, list, field.key, report);
  return list;
}

interface Item {
  text: string;
  offset: number;
}

function itemsOf(field: Field, text: string, report: ProblemReport): Item[] | null {
  const { value } = field;
  if (value === null) return [];
  if (typeof value === "string") return splitAtCommas(field, value, text);
  if (!Array.isArray(value)) {
    report.error(field.valueOffset, wrongList(field.key, value));
    return null;
  }
  const items: Item[] = [];
  for (const [i, entry] of value.entries()) {
    const offset = field.offsetOf([i]);
    if (typeof entry === "string" && entry.trim() !== "") items.push({ text: entry.trim(), offset });
    else report.error(offset, wrongList(`${field.key}[${i}]`, entry));
  }
  return items;
}

function wrongList(name: string, value: unknown): { code: string; message: string; fix: string } {
  return {
    code: "wrong-type",
    message: `${name} is ${formatValue(value)}; expected names of tools`,
    fix: "write a list, such as tools: [read, write], or tools: read, write",
  };
}

function splitAtCommas(field: Field, value: string, text: string): Item[] {
  let from = field.valueOffset;
  return splitToolNames(value).map((part) => {
    const at = text.indexOf(part, from);
    if (at !== -1) from = at;
    return { text: part, offset: from };
  });
}

/** The items of a list of tools that is written as one text: `Read, Agent(a, b)` has two. */
export function splitToolNames(value: string): string[] {
  const inner = value.trim().replace(/^\[|\]$/g, "");
  return (inner.match(/(?:\([^()]*\)|[^,\n])+/g) ?? [])
    .map((part) => part.trim().replace(/^- |^["']|["']$/g, ""))
    .filter((part) => part !== "");
}

function addItem(item: Item, mode: "grant" | "deny", list: ToolList, key: string, report: ProblemReport): void {
  // A name can have spaces, such as that of an MCP server in Copilot: "Microsoft Docs".
  const [, name = "", restriction] =
    /^([A-Za-z0-9_*.:/-]+(?: [A-Za-z0-9_*.:/-]+)*)(?:\(([^()]*)\))?$/.exec(item.text) ?? [];
  const tool = listedToolName(name);
  if (name === "") {
    report.warn(item.offset, {
      code: "invalid-tool",
      message: `${key} has ${formatValue(item.text)}, which is not a name of a tool; it is left out`,
      fix: "separate the names of tools with commas",
    });
  } else if (name === "*") {
    list.all = true;
  } else if (delegation.has(name)) {
    addTargets(item, restriction, list, report);
  } else if (restriction === undefined || ["", "*", "**"].includes(restriction.trim())) {
    list.tools.push({ item: tool, written: item.text, offset: item.offset });
  } else {
    addRestricted(item, { tool, restriction: restriction.trim() }, mode, list, report);
  }
}

function addTargets(item: Item, named: string | undefined, list: ToolList, report: ProblemReport): void {
  if (named === undefined || named.trim() === "" || named.trim() === "*") {
    list.delegationOffset ??= item.offset;
    return;
  }
  for (const written of named.split(",").map((part) => part.trim())) {
    // An agent of a plugin (`plugin:name`) or of a team (`team/name`) has the id `team_name`.
    const id = written.replace(/^([A-Za-z0-9-]+)[:/]([A-Za-z0-9_-]+)$/, "$1_$2");
    if (Token.safeParse(id).success) list.targets.push({ id, offset: item.offset });
    else {
      report.error(item.offset, {
        code: "invalid-id",
        message: `${item.text} names ${formatValue(id)}, which is not a valid agent id`,
        fix: "use the id of an agent: letters, digits, - and _ only",
      });
    }
  }
}

interface Restricted {
  tool: string;
  restriction: string;
}

function addRestricted(
  item: Item,
  { tool, restriction }: Restricted,
  mode: "grant" | "deny",
  list: ToolList,
  report: ProblemReport,
): void {
  const rule = `${tool}(${restriction})`;
  if (isCommandPattern(rule)) {
    list.tools.push({ item: rule, written: item.text, offset: item.offset });
    return;
  }
  const folder = fileWriters.has(tool) ? folderOfPattern(restriction) : null;
  if (mode === "grant" && folder !== null) {
    list.folders.push({ item: tool, written: item.text, offset: item.offset, folder });
    return;
  }
  if (mode === "deny") list.tools.push({ item: tool, written: item.text, offset: item.offset });
  report.warn(item.offset, {
    code: "restricted-tool",
    message: `${item.text}: troupe cannot enforce this restriction, so ${tool} is ${mode === "deny" ? "denied entirely" : "not granted"}`,
    fix: `write ${tool} to ${mode} it without the restriction, or remove the entry`,
  });
}

/** Whether the text is a pattern of commands, such as `shell(git diff:*)`, of a tool that runs commands. */
function isCommandPattern(rule: string): boolean {
  // Several patterns in one: commands have no commas between them.
  if (/,\s/.test(rule)) return false;
  try {
    return commandTools.has(parseCommandPattern(rule)?.tool ?? "");
  } catch {
    return false;
  }
}
