import type { Json } from "../protocol/json.ts";
import type { ToolCall } from "../protocol/tool.ts";

type Arguments = Readonly<Record<string, Json>>;

/** What becomes of one argument of a tool by another name. One that is not mentioned keeps its name and value. */
interface ArgumentRule {
  /** Our name of it; null for one that means nothing here. */
  to: string | null;
  /** Its value in our words; undefined for one that says nothing. */
  as?: (value: Json) => Json | undefined;
  /** Why a call that sets it cannot be made. */
  refused?: string;
  /** Of several that mean the same, the largest counts. */
  largest?: true;
}

interface Alias {
  tool: string;
  args?: Readonly<Record<string, ArgumentRule>>;
  /** What is meant where our own argument is left out. */
  defaults?: Arguments;
}

const dropped: ArgumentRule = { to: null };
const as = (to: string, change?: ArgumentRule["as"]): ArgumentRule => (change ? { to, as: change } : { to });
const refused = (reason: string): ArgumentRule => ({ to: null, refused: reason });

const atMost = (most: number) => (value: Json) => (typeof value === "number" ? Math.min(value, most) : value);
/** Zero is said for "no limit", and for the beginning. */
const orNothing = (most: number) => (value: Json) => (value === 0 ? undefined : atMost(most)(value));
const around: ArgumentRule = { to: "context", as: atMost(10), largest: true };

const filePath = { file_path: as("path") };
const editWords = { old_string: as("old"), new_string: as("new"), replace_all: as("all") };

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

/** How a todo list is written elsewhere, in the words of a plan. */
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
  return list.map((edit) => (isObject(edit) ? (renamed(edit, editWords).args ?? edit) : edit));
}

/** Tools that other programs bring on servers, and that are built in here. */
const servers: Readonly<Record<string, readonly string[]>> = {
  local_toolkit: ["crawl_parallel", "save_corpus", "write_local_file", "workbench_download", "workbench_upload"],
  web_reader: ["webReader"],
};

const aliases: ReadonlyMap<string, Alias> = new Map<string, Alias>([
  ["Read", { tool: "read", args: { ...filePath, offset: as("offset", orNothing(Number.MAX_SAFE_INTEGER)) } }],
  ["Write", { tool: "write", args: filePath }],
  ["Edit", { tool: "edit", args: { ...filePath, ...editWords } }],
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
 * Our name of a tool that others call differently; any other name as it is.
 *
 * @example
 * canonicalToolName("Bash"); // "shell"
 * canonicalToolName("mcp__local_toolkit__workbench_upload"); // "workbench_upload"
 */
export function canonicalToolName(name: string): string {
  return aliases.get(name)?.tool ?? name;
}

/**
 * Whether a word of a list stands for a tool by another name of it, or by how such a name begins (`Web*`). All of a
 * server is named by its whole name and no less: `mcp__*` means servers, and nothing that is built in.
 */
export function isAliasOf(word: string, tool: string): boolean {
  if (!word.endsWith("*")) return aliases.get(word)?.tool === tool;
  const beginning = word.slice(0, -1);
  if (beginning === "") return false;
  return [...aliases].some(
    ([name, alias]) => alias.tool === tool && name.startsWith(beginning) && beginning.length >= serverOf(name).length,
  );
}

/** The part of a name that says of which server it is. */
function serverOf(name: string): string {
  return /^mcp__[a-z_]+?__/.exec(name)?.[0] ?? "";
}

/**
 * A model's call under our own name, with our own arguments: whoever looks at it afterwards (grant, policy, approval,
 * record) sees one name for one tool. A tool that really has the name keeps it. What cannot be honoured is the call's
 * problem, which its model reads.
 *
 * @param isReal whether there is a tool of exactly that name
 * @example
 * canonicalCall({ id: "1", name: "Read", args: { file_path: "a.ts" }, problem: null }, () => false);
 * // { id: "1", name: "read", args: { path: "a.ts" }, problem: null }
 */
export function canonicalCall(call: ToolCall, isReal: (name: string) => boolean): ToolCall {
  const alias = aliases.get(call.name);
  if (!alias || isReal(call.name)) return call;
  const named = { ...call, name: alias.tool };
  if (call.problem !== null || !isObject(call.args)) return named;
  const { args, problem } = renamed(call.args, alias.args ?? {});
  if (args === null) return { ...named, args: null, problem: `${call.name} stands for ${alias.tool} here: ${problem}` };
  return { ...named, args: { ...alias.defaults, ...args } };
}

type Renamed = { args: Record<string, Json>; problem: null } | { args: null; problem: string };

function renamed(given: Arguments, rules: Readonly<Record<string, ArgumentRule>>): Renamed {
  const args = new Map<string, Json>();
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : { to: name };
    if (rule?.refused !== undefined && isSet(value)) return { args: null, problem: `${name}: ${rule.refused}` };
    const put = rule?.as ? rule.as(value) : value;
    if (rule === undefined || rule.to === null || put === undefined) continue;
    const there = args.get(rule.to);
    if (there !== undefined && !rule.largest) {
      return { args: null, problem: `${name} and another argument both mean ${rule.to}: give one of them` };
    }
    args.set(rule.to, there === undefined ? put : larger(there, put));
  }
  return { args: Object.fromEntries(args), problem: null };
}

function larger(a: Json, b: Json): Json {
  return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : b;
}

/** What says "no" asks for nothing. */
function isSet(value: Json): boolean {
  return value !== null && value !== false && value !== 0 && value !== "";
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
