import { canonicalToolName, delegateNames, Token } from "@troupe/core/internal";
import { formatValue, type ProblemReport } from "./problem-report.ts";
import type { Field } from "./yaml-fields.ts";

/** A named agent and its location. */
export interface Target {
  id: string;
  offset: number;
}

export interface ToolList {
  tools: string[];
  /** From `Agent(x)` and `Task(x)`. */
  targets: Target[];
  /** The list has `*`: every tool. */
  all: boolean;
  /** Offset of a delegation tool without a named agent. */
  delegationOffset: number | null;
}

const delegation: ReadonlySet<string> = new Set<string>(delegateNames);

/**
 * Reads `tools` (grants) or `disallowedTools` (denials): a list, or names separated by commas. A restriction such as
 * `Bash(git *)` is not supported: a restricted grant is left out, and a restricted denial denies the whole tool.
 */
export function readToolList(
  field: Field,
  mode: "grant" | "deny",
  text: string,
  report: ProblemReport,
): ToolList | null {
  const items = itemsOf(field, text, report);
  if (items === null) return null;
  const list: ToolList = { tools: [], targets: [], all: false, delegationOffset: null };
  for (const item of items) addItem(item, mode, list, field.key, report);
  list.tools = [...new Set(list.tools)];
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
  const inner = value.trim().replace(/^\[|\]$/g, "");
  let from = field.valueOffset;
  return (inner.match(/(?:\([^()]*\)|[^,\n])+/g) ?? [])
    .map((part) => part.trim().replace(/^- |^["']|["']$/g, ""))
    .filter((part) => part !== "")
    .map((part) => {
      const at = text.indexOf(part, from);
      if (at !== -1) from = at;
      return { text: part, offset: from };
    });
}

function addItem(item: Item, mode: "grant" | "deny", list: ToolList, key: string, report: ProblemReport): void {
  const [, name = "", restriction] = /^([A-Za-z0-9_*.:/-]+)(?:\(([^()]*)\))?$/.exec(item.text) ?? [];
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
  } else if (restriction === undefined) {
    list.tools.push(canonicalToolName(name));
  } else {
    addRestricted(item, canonicalToolName(name), mode, list, report);
  }
}

function addTargets(item: Item, named: string | undefined, list: ToolList, report: ProblemReport): void {
  if (named === undefined || named.trim() === "" || named.trim() === "*") {
    list.delegationOffset ??= item.offset;
    return;
  }
  for (const id of named.split(",").map((part) => part.trim())) {
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

function addRestricted(item: Item, tool: string, mode: "grant" | "deny", list: ToolList, report: ProblemReport): void {
  if (mode === "deny") list.tools.push(tool);
  report.warn(item.offset, {
    code: "restricted-tool",
    message: `${item.text}: restrictions in parentheses are not supported, so ${tool} is ${mode === "deny" ? "denied entirely" : "not granted"}`,
    fix: `write ${tool} to ${mode} it without the restriction, or remove the entry`,
  });
}
