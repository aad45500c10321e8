import type { CommandText } from "@troupe/core/tool";
import { evaluateLine, type StartedCommand, singleText } from "./evaluate-line.ts";
import type { EffectScope, EffectTarget, LineEffects } from "./file-target.ts";
import { findEffects } from "./find-effects.ts";
import { gitEffects } from "./git-effects.ts";
import { programs } from "./program-effects.ts";
import { literal, type ShellFields, type ShellState } from "./shell-fields.ts";
import { type Wrapper, wrappedCommand, wrappers } from "./wrappers.ts";

const targetsMax = 2_000;
const nestingMax = 8;

/** The workspace folder where a command starts, and the folders that exist. */
interface CommandPlace {
  folder: string;
  isFolder(path: string): boolean;
}

/** The files that the command of a call can delete or overwrite. */
export function commandEffects(text: CommandText, place: CommandPlace): LineEffects {
  if ("line" in text) return lineEffects(text.line, place);
  if ("words" in text) return wordsEffects(text.words, place);
  return { targets: [], gitObjects: [], programs: [], isUnclear: true };
}

/**
 * The files that a command line can delete or overwrite. If that cannot be told, it is everything in the workspace. Programs that
 * the line starts (scripts, build tools) are not looked into.
 *
 * @example
 * lineEffects("cd src && rm -rf *.tmp", { folder: "/w", isFolder }).targets[0]?.field; // { text: "*.tmp", isPattern: true }
 */
export function lineEffects(line: string, { folder, isFolder }: CommandPlace): LineEffects {
  const found: LineEffects = { targets: [], gitObjects: [], programs: [], isUnclear: false };
  const collect = new Collection(found, isFolder);
  collect.line(line, { folders: [folder], variables: new Map() });
  return found.targets.length > targetsMax ? { ...found, targets: [everything] } : found;
}

/** The files that one command with known words can delete or overwrite. */
function wordsEffects(words: readonly string[], { folder, isFolder }: CommandPlace): LineEffects {
  const found: LineEffects = { targets: [], gitObjects: [], programs: [], isUnclear: false };
  const state: ShellState = { folders: [folder], variables: new Map() };
  const command = { words: words.map((word) => [literal(word)]), folders: [folder], input: "" };
  new Collection(found, isFolder).command(command, state);
  return found;
}

const everything: EffectTarget = { folders: null, field: null, reach: "tree" };

class Collection {
  readonly #found: LineEffects;
  readonly #isFolder: (path: string) => boolean;
  #nesting = 0;

  constructor(found: LineEffects, isFolder: (path: string) => boolean) {
    this.#found = found;
    this.#isFolder = isFolder;
  }

  line(text: string, state: ShellState) {
    if (this.#nesting >= nestingMax) return this.everything();
    this.#nesting += 1;
    evaluateLine(
      text,
      { ...state, variables: new Map(state.variables) },
      {
        command: (command, at) => this.command(command, at),
        write: ({ target, folders, appends }) =>
          this.#addAll(target, { folders, reach: "file", isWritten: true, ...(appends ? { isAppended: true } : {}) }),
        unclear: () => this.everything(),
        isFolder: this.#isFolder,
      },
    );
    this.#nesting -= 1;
  }

  everything() {
    this.#found.isUnclear = true;
    this.#found.targets.push(everything);
  }

  command(command: StartedCommand, state: ShellState) {
    const [first, ...args] = command.words;
    if (first === undefined) return;
    if (first === null) return this.everything();
    if (this.#nesting > nestingMax || this.#found.targets.length > targetsMax) return this.everything();
    // A variable can be several words: each of them can be the program.
    for (const [index, field] of first.entries()) {
      if (field.isPattern) return this.everything();
      const rest: ShellFields[] = [...first.slice(index + 1).map((each) => [each]), ...args];
      this.#found.programs.push({ program: field.text, args: rest, folders: command.folders });
      this.#program(baseName(field.text), { ...command, words: rest }, state);
    }
  }

  #program(name: string, { words: args, folders, input }: StartedCommand, state: ShellState) {
    const nested = (words: readonly ShellFields[]): void => {
      this.#nesting += 1;
      this.command({ words, folders, input }, state);
      this.#nesting -= 1;
    };
    const scope: EffectScope = {
      args,
      folders,
      add: (target) => this.#found.targets.push({ folders, ...target }),
      addGit: (object) => this.#found.gitObjects.push(object),
      isFolder: this.#isFolder,
    };
    if (name === "git") return gitEffects(scope);
    if (name === "find") {
      return findEffects(scope, (words) => {
        const before = this.#found.targets.length;
        nested(words);
        return this.#found.targets.splice(before);
      });
    }
    if (shells.has(name)) return this.#shell(args, input, state);
    if (texts.has(name)) return this.#text(name, args, state);
    const inner = innerCommand(name, args);
    if (inner !== null) return nested(inner);
    const wrapper = wrappers.get(name);
    if (wrapper) return this.#wrapped(name, wrapper, args, nested);
    if (name === "alias") return args.length > 0 ? this.everything() : undefined;
    programs.get(name)?.(scope);
  }

  /** The command that another program starts: behind the program's own options and arguments. */
  #wrapped(
    name: string,
    wrapper: Wrapper,
    args: readonly ShellFields[],
    nested: (words: readonly ShellFields[]) => void,
  ) {
    const command = wrappedCommand(name, wrapper, args);
    if (command === null) return this.everything();
    if (command.length > 0) nested(command);
  }

  /** `sh -c TEXT`, and a shell that reads its commands. A script is a program of its own. */
  #shell(args: readonly ShellFields[], input: string | null, state: ShellState) {
    const at = args.findIndex((arg) => /^[-+]\w*c\w*$/.test(singleText(arg) ?? ""));
    if (args.some((arg) => arg === null) && at < 0) return this.everything();
    if (at >= 0) {
      const texts = args.slice(at + 1).find((arg) => !/^[-+]/.test(singleText(arg) ?? ""));
      return this.#evaluateAll(texts ?? null, { ...state, variables: new Map(state.variables) });
    }
    const hasScript = args.some((arg) => arg?.some(({ text }) => !text.startsWith("-")));
    if (hasScript && !args.some((arg) => singleText(arg) === "-s")) return;
    if (input === null) return this.everything();
    this.line(input, state);
  }

  /** Words of the shell and programs whose arguments are a program text. */
  #text(name: string, args: readonly ShellFields[], state: ShellState) {
    const used =
      name === "trap" ? args.slice(0, 1) : args.filter((arg) => !(name !== "eval" && singleText(arg)?.startsWith("-")));
    if (used.some((arg) => arg === null)) return this.everything();
    const words = used.map((arg) => (arg?.length === 1 ? (arg[0]?.text ?? "") : null));
    if (words.some((word) => word === null)) return this.everything();
    this.line(words.join(" "), state);
  }

  #evaluateAll(texts: ShellFields, state: ShellState) {
    if (texts === null) return this.everything();
    for (const { text, isPattern } of texts) {
      if (isPattern) this.everything();
      else this.line(text, state);
    }
  }

  #addAll(fields: ShellFields, target: Omit<EffectTarget, "field">) {
    for (const field of fields ?? [null]) this.#found.targets.push({ ...target, field });
  }
}

/** The command in the arguments of a search or a package manager; null if there is none. */
function innerCommand(name: string, args: readonly ShellFields[]): readonly ShellFields[] | null {
  if (packageManagers.has(name) && /^(exec|dlx|x)$/.test(singleText(args[0] ?? null) ?? "")) {
    return wrappedCommand(name, {}, args.slice(1));
  }
  if (name !== "fd" && name !== "fdfind") return null;
  const at = args.findIndex((arg) => /^(-[xX]|--exec|--exec-batch)$/.test(singleText(arg) ?? ""));
  return at < 0 ? null : [...args.slice(at + 1), null];
}

const shells: ReadonlySet<string> = new Set(["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"]);
const texts: ReadonlySet<string> = new Set(["eval", "trap", "watch"]);
const packageManagers: ReadonlySet<string> = new Set(["bun", "npm", "pnpm", "yarn"]);

/** The name of a program without its folder. File systems that ignore case run `RM` as `rm`. */
function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase();
}
