import type { Json } from "../protocol/json.ts";
import type { ToolCall } from "../protocol/tool.ts";

type Arguments = Readonly<Record<string, Json>>;

/** Conversion of one argument of an alias. Arguments without a rule stay unchanged. */
interface ArgumentRule {
  /** Our name of the argument; null to drop it. */
  to: string | null;
  /** Converts the value; undefined drops it. */
  as?: (value: Json) => Json | undefined;
  /** Why a call with this argument is invalid. */
  refused?: string;
  /** If several arguments map to one, the largest value counts. */
  largest?: true;
}

interface Alias {
  tool: string;
  args?: Readonly<Record<string, ArgumentRule>>;
  /** Default values for our arguments. */
  defaults?: Arguments;
}

const dropped: ArgumentRule = { to: null };
const as = (to: string, change?: ArgumentRule["as"]): ArgumentRule => (change ? { to, as: change } : { to });
const refused = (reason: string): ArgumentRule => ({ to: null, refused: reason });

const atMost = (most: number) => (value: Json) => (typeof value === "number" ? Math.min(value, most) : value);
/** Models pass 0 for "no limit" and for the beginning. */
const orNothing = (most: number) => (value: Json) => (value === 0 ? undefined : atMost(most)(value));
const around: ArgumentRule = { to: "context", as: atMost(10), largest: true };

const filePath = { file_path: as("path") };
const editArgs = { old_string: as("old"), new_string: as("new"), replace_all: as("all") };

const searching: Alias = {
  tool: "search",
  args: {
    output_mode: as("mode", (mode) => (mode === "files_with_matches" ? "files" : mode)),
    "-i": as("ignoreCase"),
    "-n": dropped,
    "-A": around,
    "-B": around,
    "-C": around,
    context: around,
    head_limit: as("limit", orNothing(1_000)),
    offset: refused("results are not shown in parts; narrow the pattern, or raise head_limit"),
  },
};

/** Converts a todo list to the items of a plan. */
function planItems(todos: Json): Json {
  if (!Array.isArray(todos)) return todos;
  return todos.map((todo) => {
    if (!isObject(todo)) return todo;
    const { content, status, activeForm: _shown, id: _id, priority: _priority, ...rest } = todo;
    return {
      ...rest,
      ...(content === undefined ? {} : { text: content }),
      ...(status === undefined ? {} : { status }),
    };
  });
}

function edits(list: Json): Json {
  if (!Array.isArray(list)) return list;
  return list.map((edit) => (isObject(edit) ? (renameArgs(edit, editArgs).args ?? edit) : edit));
}

/** Tools of well-known MCP servers that are built in here. */
const servers: Readonly<Record<string, readonly string[]>> = {
  local_toolkit: ["crawl_parallel", "save_corpus", "write_local_file", "workbench_download", "workbench_upload"],
  web_reader: ["webReader"],
};

const aliases: ReadonlyMap<string, Alias> = new Map<string, Alias>([
  ["Read", { tool: "read", args: { ...filePath, offset: as("offset", orNothing(Number.MAX_SAFE_INTEGER)) } }],
  ["Write", { tool: "write", args: filePath }],
  ["Edit", { tool: "edit", args: { ...filePath, ...editArgs } }],
  ["MultiEdit", { tool: "edit", args: { ...filePath, edits: as("edits", edits) } }],
  [
    "Bash",
    {
      tool: "shell",
      args: {
        timeout: as("timeoutMs"),
        description: dropped,
        run_in_background: refused(
          "nothing runs on after a call: run it to its end, with a timeout that is long enough",
        ),
        dangerouslyDisableSandbox: refused("the sandbox is this machine's to say"),
      },
    },
  ],
  ["Glob", { tool: "glob" }],
  ["Grep", { ...searching, defaults: { mode: "files" } }],
  ["grep", searching],
  ["LS", { tool: "ls", args: { ignore: dropped } }],
  ["WebFetch", { tool: "web_fetch", args: { prompt: dropped } }],
  ["WebSearch", { tool: "web_search" }],
  ["TodoWrite", { tool: "notes", args: { todos: as("items", planItems) }, defaults: { action: "plan" } }],
  ...Object.entries(servers).flatMap(([server, tools]) =>
    tools.map((tool): [string, Alias] => [`mcp__${server}__${tool}`, { tool }]),
  ),
]);

/**
 * Our name of a tool; unknown names stay unchanged.
 *
 * @example
 * canonicalToolName("Bash"); // "shell"
 * canonicalToolName("mcp__local_toolkit__workbench_upload"); // "workbench_upload"
 */
export function canonicalToolName(name: string): string {
  return aliases.get(name)?.tool ?? name;
}

/**
 * Whether an item of a list is an alias of a tool, or a prefix of one (`Web*`). A prefix has to contain the whole name of
 * an MCP server: `mcp__*` means real servers and no built-in tool.
 */
export function isAliasOf(item: string, tool: string): boolean {
  if (!item.endsWith("*")) return aliases.get(item)?.tool === tool;
  const prefix = item.slice(0, -1);
  if (prefix === "") return false;
  return [...aliases].some(
    ([name, alias]) => alias.tool === tool && name.startsWith(prefix) && prefix.length >= serverOf(name).length,
  );
}

/** The server part of an MCP tool's name. */
function serverOf(name: string): string {
  return /^mcp__[a-z_]+?__/.exec(name)?.[0] ?? "";
}

/**
 * Converts a call of an alias to our tool and arguments, so that grants, policy, approvals and the record see one name for
 * one tool. A name of an existing tool is not converted. Arguments without an equivalent become the call's `problem`.
 *
 * @param isReal whether a tool with exactly that name exists
 * @example
 * canonicalCall({ id: "1", name: "Read", args: { file_path: "a.ts" }, problem: null }, () => false);
 * // { id: "1", name: "read", args: { path: "a.ts" }, problem: null }
 */
export function canonicalCall(call: ToolCall, isReal: (name: string) => boolean): ToolCall {
  const alias = aliases.get(call.name);
  if (!alias || isReal(call.name)) return call;
  const named = { ...call, name: alias.tool };
  if (call.problem !== null || !isObject(call.args)) return named;
  const { args, problem } = renameArgs(call.args, alias.args ?? {});
  if (args === null) return { ...named, args: null, problem: `${call.name} stands for ${alias.tool} here: ${problem}` };
  return { ...named, args: { ...alias.defaults, ...args } };
}

type RenamedArgs = { args: Record<string, Json>; problem: null } | { args: null; problem: string };

function renameArgs(given: Arguments, rules: Readonly<Record<string, ArgumentRule>>): RenamedArgs {
  const args = new Map<string, Json>();
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : { to: name };
    if (rule?.refused !== undefined && isSet(value)) return { args: null, problem: `${name}: ${rule.refused}` };
    const converted = rule?.as ? rule.as(value) : value;
    if (rule === undefined || rule.to === null || converted === undefined) continue;
    const existing = args.get(rule.to);
    if (existing !== undefined && !rule.largest) {
      return { args: null, problem: `${name} and another argument both mean ${rule.to}: give one of them` };
    }
    args.set(rule.to, existing === undefined ? converted : larger(existing, converted));
  }
  return { args: Object.fromEntries(args), problem: null };
}

function larger(a: Json, b: Json): Json {
  return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : b;
}

/** `null`, `false`, 0 and an empty text mean that the argument is not set. */
function isSet(value: Json): boolean {
  return value !== null && value !== false && value !== 0 && value !== "";
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
