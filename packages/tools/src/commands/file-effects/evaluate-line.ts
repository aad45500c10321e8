import {
  type CommandArgument,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from "unbash";
import {
  fieldsOf,
  forEachSubstitution,
  literal,
  type ShellField,
  type ShellFields,
  type ShellState,
} from "./shell-fields.ts";

/** A command that a line can start. */
export interface StartedCommand {
  /** The values of each word; the first one is the program. */
  words: readonly ShellFields[];
  /** The folders in which it can start; null: any. */
  folders: readonly string[] | null;
  /** The texts of its here-documents; null: one depends on variables. */
  input: string | null;
}

/** A file that a redirection of the line writes. */
export interface RedirectedFile {
  target: ShellFields;
  folders: readonly string[] | null;
  /** Whether the file keeps its old content. */
  appends: boolean;
}

export interface LineVisitor {
  command(command: StartedCommand, state: ShellState): void;
  write(file: RedirectedFile): void;
  /** A part of the line can mean anything. */
  unclear(): void;
  /** Whether a folder exists before the line starts. */
  isFolder(path: string): boolean;
}

/** A line with more commands than this can mean anything. */
const commandsMax = 2_000;
const depthMax = 40;

/**
 * Walks through all commands that a line can start, in their order, with the folder and the variables that each of them
 * can have. Branches count as taken and as not taken, so the visitor sees every command that could run.
 */
export function evaluateLine(line: string, start: ShellState, visitor: LineVisitor): void {
  try {
    new Evaluation(visitor).script(parse(line), start);
  } catch (error) {
    // Too deep for the parser, or for this walk.
    if (!(error instanceof UnclearError || error instanceof RangeError)) throw error;
    visitor.unclear();
  }
}

class UnclearError extends Error {}

/** Programs after which a shell does not go on. */
const ending: ReadonlySet<string> = new Set(["exit", "return", "exec", "break", "continue"]);

class Evaluation {
  readonly #visitor: LineVisitor;
  #commands = 0;
  #depth = 0;
  /** Whether the next command reads the output of another one. */
  #isPiped = false;

  constructor(visitor: LineVisitor) {
    this.#visitor = visitor;
  }

  script(script: ParsedScript | undefined, state: ShellState) {
    if (script === undefined || (script.errors?.length ?? 0) > 0) throw new UnclearError();
    this.#statements(script.commands, state);
  }

  #statements(statements: readonly Statement[], state: ShellState) {
    for (const { command, background } of statements) this.#node(command, background ? copyOf(state) : state);
  }

  #list(list: CompoundList | undefined, state: ShellState) {
    if (list) this.#statements(list.commands, state);
  }

  /** Evaluates a node, and changes the state as the shell would. */
  #node(node: SyntaxNode, state: ShellState) {
    this.#depth += 1;
    if (this.#depth > depthMax) throw new UnclearError();
    this.#evaluate(node, state);
    this.#depth -= 1;
  }

  #evaluate(node: SyntaxNode, state: ShellState) {
    switch (node.type) {
      case "Command":
        return this.#command(node, state);
      case "AndOr":
        return this.#chain(node.commands, state);
      case "Pipeline":
        // Some shells run the last one in themselves.
        for (const [index, command] of node.commands.entries()) {
          this.#isPiped = index > 0;
          merge(state, this.#after(command, state));
          this.#isPiped = false;
        }
        return;
      case "Subshell":
        return this.#list(node.body, copyOf(state));
      case "BraceGroup":
        return this.#list(node.body, state);
      case "Redirected":
        for (const redirect of node.redirects) this.#substitutions(redirect, state);
        this.#redirects(node.redirects, state);
        this.#isPiped ||= node.redirects.some(({ operator }) => operator.startsWith("<"));
        return this.#node(node.command, state);
      case "If": {
        this.#list(node.clause, state);
        const branches = [node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then]), node.else];
        return this.#branches(branches, state);
      }
      case "Case":
        this.#substitutions(node.word, state);
        return this.#branches(
          node.items.map(({ body }) => body),
          state,
        );
      case "For":
      case "Select":
        return this.#loop([node.body], state, { name: node.name.value, words: node.wordlist });
      case "While":
        return this.#loop([node.clause, node.body], state);
      case "ArithmeticFor":
        return this.#loop([node.body], state);
      case "Function":
        return this.#function(node.name.value, node.body, state);
      case "Coproc":
        return this.#isolated(node.body, state);
      case "CompoundList":
        return this.#list(node, state);
      default:
        this.#substitutions(node, state);
    }
  }

  #after(node: SyntaxNode, state: ShellState): ShellState {
    const own = copyOf(state);
    this.#node(node, own);
    return own;
  }

  /** Commands joined by `&&` and `||`: the shell goes on after any of them. */
  #chain(commands: readonly SyntaxNode[], state: ShellState) {
    const ends: ShellState[] = [];
    for (const command of commands) {
      this.#node(command, state);
      if (!isEnding(command)) ends.push(copyOf(state));
    }
    for (const end of ends) merge(state, end);
    // The state of an ended shell is merged as well, which can only add values.
  }

  #branches(branches: readonly (CompoundList | undefined)[], state: ShellState) {
    const before = copyOf(state);
    for (const branch of branches) {
      const own = copyOf(before);
      this.#list(branch, own);
      merge(state, own);
    }
  }

  #loop(
    lists: readonly CompoundList[],
    state: ShellState,
    each?: { name: string; words: readonly Word[] | undefined },
  ) {
    if (each) state.variables.set(each.name, this.#union(each.words, state));
    const changes = changesIn(lists);
    for (const name of changes.variables) if (name !== each?.name) state.variables.set(name, null);
    if (changes.folder) state.folders = null;
    const own = copyOf(state);
    for (const list of lists) this.#list(list, own);
    merge(state, own);
  }

  #union(words: readonly Word[] | undefined, state: ShellState): ShellFields {
    const found: ShellField[] = [];
    for (const word of words ?? []) {
      this.#substitutions(word, state);
      const fields = this.#fields(word, state);
      if (fields === null) return null;
      found.push(...fields);
    }
    return words === undefined ? null : found;
  }

  /** The body can run anywhere after this, with any arguments. */
  #function(name: string, body: SyntaxNode, state: ShellState) {
    if (!/^[A-Za-z_]\w*$/.test(name) || redefinable.has(name)) throw new UnclearError();
    const { variables, folder } = changesIn([body]);
    for (const variable of variables) state.variables.set(variable, null);
    if (folder) state.folders = null;
    const unknown = new Map([...state.variables.keys()].map((variable): [string, ShellFields] => [variable, null]));
    this.#node(body, { folders: null, variables: unknown });
  }

  #isolated(node: SyntaxNode, state: ShellState) {
    this.#node(node, copyOf(state));
  }

  #command(node: SyntaxNode & { type: "Command" }, state: ShellState) {
    this.#commands += 1;
    if (this.#commands > commandsMax) throw new UnclearError();
    this.#substitutions(node, state);
    const own = node.name === undefined ? state : copyOf(state);
    for (const item of node.prefix) {
      if (item.type !== "Assignment") continue;
      const value = item.value.type === "Word" && !item.append ? this.#fields(item.value, state) : null;
      own.variables.set(item.name, value);
    }
    this.#redirects(node.redirects, state);
    if (node.name === undefined) return;
    const args = node.args.map((arg) => this.#argument(arg, state));
    this.#start([this.#fields(node.name, state), ...args], this.#isPiped ? null : inputOf(node.redirects), state);
    this.#afterBackground(node, state);
  }

  /** Shells without `&>` read it as `&` and `>`: the words behind it are a command of their own. */
  #afterBackground({ suffix }: SyntaxNode & { type: "Command" }, state: ShellState) {
    const at = suffix.findIndex((item) => item.type === "Redirect" && item.operator.startsWith("&"));
    if (at < 0) return;
    const rest = suffix.slice(at).filter((item) => item.type === "Word");
    if (rest.length > 0) {
      this.#start(
        rest.map((word) => this.#fields(word, state)),
        "",
        state,
      );
    }
  }

  #argument(arg: CommandArgument, state: ShellState): ShellFields {
    if (arg.type === "Word") return this.#fields(arg, state);
    const value = arg.value.type === "Word" ? this.#fields(arg.value, state) : null;
    return value === null ? null : value.map(({ text, isPattern }) => ({ text: `${arg.name}=${text}`, isPattern }));
  }

  #start(words: readonly ShellFields[], input: string | null, state: ShellState) {
    const name = singleText(words[0] ?? null);
    if (name === "cd" || name === "pushd" || name === "popd") return this.#changeFolder(words.slice(1), state);
    if (name !== null && declaring.has(name)) return declare(words, state);
    this.#visitor.command({ words, folders: state.folders, input }, state);
  }

  #changeFolder(words: readonly ShellFields[], state: ShellState) {
    const [target, ...more] = words.filter(
      (word) => !/^-[LPe@]*$|^--$/.test(singleText(word) ?? "x") || singleText(word) === "-",
    );
    const text = target === undefined ? null : singleText(target);
    if (text === null || text === "-" || text === "" || more.length > 0 || state.variables.has("CDPATH")) {
      state.folders = target === undefined ? ["/run/home"] : null;
      return;
    }
    if (state.folders === null && !text.startsWith("/")) return;
    const before = state.folders ?? ["/"];
    const entered = before.map((folder) => joinFolder(folder, text));
    const isCertain = entered.every((folder) => this.#visitor.isFolder(folder));
    state.folders = isCertain ? entered : [...new Set([...entered, ...before])];
    if (state.folders.length > 16) state.folders = null;
  }

  #redirects(redirects: readonly Redirection[], state: ShellState) {
    for (const redirect of redirects) {
      if (redirect.type !== "Redirect" || !/^(>|>>|>\||>&|&>|&>>)$/.test(redirect.operator)) continue;
      const target = redirect.target ? this.#fields(redirect.target, state) : null;
      const text = singleText(target);
      if (redirect.operator === ">&" && text !== null && /^(\d+-?|-)$/.test(text)) continue;
      this.#visitor.write({ target, folders: state.folders, appends: redirect.operator.endsWith(">>") });
    }
  }

  #substitutions(node: SyntaxNode, state: ShellState) {
    forEachSubstitution(node, ({ script }) => this.script(script, copyOf(state)));
  }

  #fields(word: Word, state: ShellState): ShellFields {
    return fieldsOf(word, state, (part) => outputOf(part.script, state));
  }
}

/** Commands whose output the caller can tell: the folder of the shell, and a new file outside of the workspace. */
function outputOf(script: ParsedScript | undefined, state: ShellState): ShellFields {
  const [statement, ...more] = script?.commands ?? [];
  if (statement?.command.type !== "Command" || more.length > 0 || (script?.errors?.length ?? 0) > 0) return null;
  const { name, args, prefix, redirects } = statement.command;
  if (name?.parts !== undefined || prefix.length > 0 || redirects.some(({ operator }) => operator === "<")) return null;
  const words = args.map((arg) => (arg.type === "Word" && arg.parts === undefined ? arg.value : null));
  if (name?.value === "pwd" && words.length === 0) return state.folders === null ? null : state.folders.map(literal);
  const isOutside = words.every(
    (word) => word === "-d" || word === "-q" || word === "-t" || /^\/tmp\/[\w.-]+$/.test(word ?? ""),
  );
  return name?.value === "mktemp" && isOutside ? [literal("/tmp/new")] : null;
}

const redefinable: ReadonlySet<string> = new Set(["cd", "pwd", "mktemp", "echo", "test", "true", "export"]);
const declaring: ReadonlySet<string> = new Set([
  "export",
  "local",
  "readonly",
  "declare",
  "typeset",
  "unset",
  "read",
  "mapfile",
  "readarray",
  "getopts",
]);

/** Words of the shell that set variables: with a value, or from an input. */
function declare([program, ...words]: readonly ShellFields[], { variables }: ShellState): void {
  const isInput = !/^(export|local|readonly|declare|typeset)$/.test(singleText(program ?? null) ?? "");
  if (words.includes(null)) for (const name of variables.keys()) variables.set(name, null);
  for (const { text, isPattern } of words.flatMap((word) => word ?? [])) {
    const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined) continue;
    if (isInput || isPattern) variables.set(name, null);
    else if (value !== undefined) variables.set(name, [literal(value)]);
  }
}

function copyOf({ folders, variables }: ShellState): ShellState {
  return { folders, variables: new Map(variables) };
}

/** Adds the possibilities of another state. */
function merge(state: ShellState, other: ShellState): void {
  if (state.folders === null || other.folders === null) state.folders = null;
  else state.folders = [...new Set([...state.folders, ...other.folders])];
  for (const name of new Set([...state.variables.keys(), ...other.variables.keys()])) {
    const [one, two] = [state.variables.get(name), other.variables.get(name)];
    if (one === two) continue;
    const all = one && two ? [...one, ...two] : null;
    state.variables.set(name, all === null || all.length > 64 ? null : all);
  }
}

function isEnding(node: SyntaxNode): boolean {
  return node.type === "Command" && ending.has(node.name?.value ?? "");
}

/** The variables that a part of the line sets, and whether it can change the folder. */
function changesIn(nodes: readonly SyntaxNode[]): { variables: Set<string>; folder: boolean } {
  const variables = new Set<string>();
  let folder = false;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Assignment") variables.add(node.name);
    if (node.type === "For") variables.add(node.name.value);
    if (node.type === "Command") {
      const name = node.name?.value ?? "";
      folder ||= /^(cd|pushd|popd|eval|\.|source)$/.test(name);
      const words = declaring.has(name) ? node.args.filter((arg) => arg.type === "Word") : [];
      for (const { value } of words) variables.add(value);
    }
    if (node.type !== "Subshell" && node.type !== "CommandExpansion") forEachChild(node, visit);
  };
  nodes.forEach(visit);
  return { variables, folder };
}

/** The text of here-documents. Null if one has substitutions. Empty without one. */
function inputOf(redirects: readonly Redirection[]): string | null {
  let text = "";
  for (const redirect of redirects) {
    if (redirect.type !== "HereDoc") {
      if (redirect.operator.startsWith("<")) return null;
      continue;
    }
    const isPlain = redirect.delimiter?.quoted || redirect.body.parts === undefined;
    if (!isPlain) return null;
    text += redirect.body.text;
  }
  return text;
}

/** The only value of a word; null if it has several, or an unknown one. */
export function singleText(fields: ShellFields): string | null {
  const [field, ...more] = fields ?? [];
  return field === undefined || field.isPattern || more.length > 0 ? null : field.text;
}

/** A path below a folder, without `.` and `..`. */
export function joinFolder(folder: string, path: string): string {
  const names: string[] = [];
  for (const name of (path.startsWith("/") ? path : `${folder}/${path}`).split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}
