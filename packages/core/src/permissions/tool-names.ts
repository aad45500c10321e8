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
  /**
   * The other program's tool does less than ours. A call by this name works if our tool is granted, but a list with this
   * name does not grant our tool.
   */
  isNarrower?: true;
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

/** Names of Claude Code and of MCP servers. No other tool is called like this, so a prefix (`Web*`) means them too. */
const distinctAliases: ReadonlyMap<string, Alias> = new Map<string, Alias>([
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
  ["TodoRead", { tool: "notes", isNarrower: true, defaults: { action: "plan" } }],
  ["NotebookRead", { tool: "read", args: { notebook_path: as("path"), cell_id: dropped } }],
  ...Object.entries(servers).flatMap(([server, tools]) =>
    tools.map((tool): [string, Alias] => [`mcp__${server}__${tool}`, { tool }]),
  ),
]);

const running: Alias = {
  tool: "shell",
  args: { timeout: as("timeoutMs"), description: dropped, explanation: dropped, directory: as("folder") },
};
const fileOfGemini = { absolute_path: as("path"), ...filePath };

/**
 * Names of Copilot, Gemini and other programs. A user's own tool could have such a name too, so a list of tools keeps it as
 * it is: it means the tool with exactly this name, and ours only if no such tool exists. A prefix never means them.
 */
const commonAliases: ReadonlyMap<string, Alias> = new Map<string, Alias>([
  ["codebase", { tool: "search" }],
  ["textSearch", { tool: "search" }],
  ["fileSearch", { tool: "glob" }],
  ["readFile", { tool: "read", args: filePath }],
  ["listDirectory", { tool: "ls" }],
  ["usages", { tool: "code_search" }],
  ["changes", { tool: "git_diff" }],
  ["editFiles", { tool: "edit", args: { ...filePath, ...editArgs } }],
  ["createFile", { tool: "write", args: filePath }],
  ["runTests", { tool: "test" }],
  ["runCommands", running],
  ["runInTerminal", running],
  ["execute", running],
  ["fetch", { tool: "web_fetch" }],
  ["todo", { tool: "notes" }],
  ["todos", { tool: "notes" }],
  ["read_file", { tool: "read", args: fileOfGemini }],
  ["read_many_files", { tool: "read", args: fileOfGemini }],
  ["write_file", { tool: "write", args: filePath }],
  ["replace", { tool: "edit", args: { ...filePath, ...editArgs, instruction: dropped } }],
  ["run_shell_command", running],
  ["search_file_content", { tool: "search", args: { include: as("glob") } }],
  ["grep_search", { tool: "search", args: { include: as("glob") } }],
  ["list_directory", { tool: "ls", args: { ignore: dropped } }],
  ["google_web_search", { tool: "web_search" }],
  ["save_memory", { tool: "notes", args: { fact: as("text") }, defaults: { action: "add" } }],
  ["write_todos", { tool: "notes", args: { todos: as("items", planItems) }, defaults: { action: "plan" } }],
]);

/** Copilot's sets of tools: `search/codebase` means `codebase`. */
const copilotSets = ["agent", "edit", "execute", "read", "search", "todo", "vscode", "web"] as const;

function aliasOf(name: string): Alias | undefined {
  return distinctAliases.get(name) ?? commonAliases.get(withoutSet(name));
}

/**
 * The name of a tool of Copilot without the name of its set; other names stay unchanged.
 *
 * @example
 * withoutSet("search/codebase"); // "codebase"
 * withoutSet("github/search_code"); // "github/search_code": the tool of a server
 */
export function withoutSet(name: string): string {
  const at = name.indexOf("/");
  return copilotSets.some((set) => set === name.slice(0, Math.max(0, at))) ? name.slice(at + 1) : name;
}

/** All names that stand for a tool, for suggestions. */
export function aliasNames(): string[] {
  return [...distinctAliases, ...commonAliases].filter(([, { isNarrower }]) => !isNarrower).map(([name]) => name);
}

/**
 * The name of a tool as a definition stores it: our name for a name that only Claude Code or a built-in MCP server uses.
 * Other names stay as they are, because a user's own tool can have them.
 *
 * @example
 * listedToolName("Bash"); // "shell"
 * listedToolName("fetch"); // "fetch": web_fetch, unless a tool is called fetch
 */
export function listedToolName(name: string): string {
  const alias = distinctAliases.get(name);
  return alias && !alias.isNarrower ? alias.tool : name;
}

/**
 * Our name of a tool; unknown names stay unchanged.
 *
 * @example
 * canonicalToolName("Bash"); // "shell"
 * canonicalToolName("mcp__local_toolkit__workbench_upload"); // "workbench_upload"
 */
export function canonicalToolName(name: string): string {
  const alias = aliasOf(name);
  return alias && !alias.isNarrower ? alias.tool : name;
}

/**
 * Whether an item of a list is an alias of a tool, or a prefix of one (`Web*`). A prefix has to contain the whole name of
 * an MCP server: `mcp__*` means real servers and no built-in tool.
 */
export function isAliasOf(item: string, tool: string): boolean {
  if (!item.endsWith("*")) return item !== tool && canonicalToolName(item) === tool;
  const prefix = item.slice(0, -1);
  if (prefix === "") return false;
  return [...distinctAliases].some(
    ([name, alias]) =>
      alias.tool === tool && !alias.isNarrower && name.startsWith(prefix) && prefix.length >= serverOf(name).length,
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
  const alias = aliasOf(call.name);
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
