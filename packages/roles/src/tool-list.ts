import { canonicalToolName, Token } from "@troupe/core/internal";
import { type Report, show } from "./report.ts";
import type { Field } from "./yaml-fields.ts";

/** An agent that a file names, and where. */
export interface Target {
  id: string;
  offset: number;
}

export interface ToolList {
  tools: string[];
  /** From `Agent(x)` and `Task(x)`. */
  targets: Target[];
  /** `*`: whatever there is. */
  all: boolean;
  /** Where delegation as such is named, without saying to whom. */
  delegation: number | null;
}

const delegation: ReadonlySet<string> = new Set(["Agent", "Task", "task", "delegate", "delegate_to_agent"]);

/**
 * Reads `tools` (grants) or `disallowedTools` (denials): a list, or names with commas between them. A restriction in
 * parentheses, such as `Bash(git *)`, cannot be kept yet: granted, such a tool is left out; denied, it is denied whole.
 */
export function readToolList(field: Field, sense: "grants" | "denies", text: string, report: Report): ToolList | null {
  const items = itemsOf(field, text, report);
  if (items === null) return null;
  const list: ToolList = { tools: [], targets: [], all: false, delegation: null };
  for (const item of items) addItem(item, sense, list, field.key, report);
  list.tools = [...new Set(list.tools)];
  return list;
}

interface Item {
  text: string;
  offset: number;
}

function itemsOf(field: Field, text: string, report: Report): Item[] | null {
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

function wrongList(what: string, value: unknown): { code: string; message: string; fix: string } {
  return {
    code: "wrong-type",
    message: `${what} is ${show(value)}; names of tools are wanted`,
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

function addItem(item: Item, sense: "grants" | "denies", list: ToolList, key: string, report: Report): void {
  const [, name = "", restriction] = /^([A-Za-z0-9_*.:/-]+)(?:\(([^()]*)\))?$/.exec(item.text) ?? [];
  if (name === "") {
    report.warn(item.offset, {
      code: "invalid-tool",
      message: `${key} names ${show(item.text)}, which cannot be a tool; it is left out`,
      fix: "put a comma between two names of tools",
    });
  } else if (name === "*") {
    list.all = true;
  } else if (delegation.has(name)) {
    addTargets(item, restriction, list, report);
  } else if (restriction === undefined) {
    list.tools.push(canonicalToolName(name));
  } else {
    addRestricted(item, canonicalToolName(name), sense, list, report);
  }
}

function addTargets(item: Item, named: string | undefined, list: ToolList, report: Report): void {
  if (named === undefined || named.trim() === "" || named.trim() === "*") {
    list.delegation ??= item.offset;
    return;
  }
  for (const id of named.split(",").map((part) => part.trim())) {
    if (Token.safeParse(id).success) list.targets.push({ id, offset: item.offset });
    else {
      report.error(item.offset, {
        code: "invalid-id",
        message: `${item.text} names ${show(id)}, which cannot be an agent's id`,
        fix: "use the id of an agent: letters, digits, - and _ only",
      });
    }
  }
}

function addRestricted(item: Item, tool: string, sense: "grants" | "denies", list: ToolList, report: Report): void {
  if (sense === "denies") list.tools.push(tool);
  report.warn(item.offset, {
    code: "restricted-tool",
    message: `${item.text}: a tool cannot be restricted in this way, so ${tool} is ${sense === "denies" ? "denied whole" : "not granted"}`,
    fix: `write ${tool} to ${sense === "denies" ? "deny" : "grant"} it whole, or remove the entry`,
  });
}
