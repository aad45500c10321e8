import type { Command, Option } from "commander";
import type { CompletedNames, Completion } from "../commands/completion.ts";

/** Names of arguments and values of flags, by the word in their help. */
const namesOf: Record<string, CompletedNames> = {
  agent: "agents",
  team: "teams",
  session: "sessions",
  run: "runs",
  resume: "sessions",
  folder: "files",
  file: "files",
  workspace: "files",
};

/** Commands whose argument `id` or `name` has another meaning than its word says. */
const argumentsOf: Record<string, CompletedNames> = {
  "agents show": "agents",
  "agents set": "agents",
  "agents enable": "agents",
  "agents disable": "agents",
  "teams show": "teams",
  "teams use": "teams",
  "approvals approve": "approvals",
  "approvals deny": "approvals",
  cancel: "runs",
  pause: "runs",
  resume: "runs",
};

/**
 * Completes a command line.
 *
 * @param words the words behind the name of the program; the last one is being typed
 *
 * @example
 * complete(program, ["ag"]).words; // ["agents"]
 */
export function complete(program: Command, words: readonly string[]): Completion {
  const typed = words.at(-1) ?? "";
  const { command, path, position, pending } = walk(program, words.slice(0, -1));
  if (pending) return { words: pending.argChoices ?? [], names: namesOf[wordOf(pending)] ?? null };
  if (typed.startsWith("-")) return { words: startingWith(flagsOf(command), typed), names: null };
  // A name that begins with __ is for scripts.
  const commands = command.commands.map((each) => each.name()).filter((name) => !name.startsWith("__"));
  if (commands.length > 0) return { words: startingWith(commands, typed), names: null };
  const argument = command.registeredArguments[Math.min(position, command.registeredArguments.length - 1)];
  const names = argument ? (argumentsOf[path.join(" ")] ?? namesOf[argument.name()] ?? null) : null;
  return { words: [], names };
}

interface TypedWords {
  command: Command;
  path: string[];
  /** How many arguments of the command were typed. */
  position: number;
  /** The flag whose value is being typed. */
  pending: Option | null;
}

function walk(program: Command, words: readonly string[]): TypedWords {
  const state: TypedWords = { command: program, path: [], position: 0, pending: null };
  for (const word of words) {
    const sub = state.pending ? undefined : state.command.commands.find((each) => each.name() === word);
    if (state.pending) state.pending = null;
    else if (word.startsWith("-")) state.pending = optionWithValue(state.command, word);
    else if (sub) Object.assign(state, { command: sub, path: [...state.path, word], position: 0 });
    else state.position += 1;
  }
  return state;
}

function optionWithValue(command: Command, word: string): Option | null {
  if (word.includes("=")) return null;
  return command.options.find((option) => option.required && (option.long === word || option.short === word)) ?? null;
}

function flagsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => (long ? [long] : [])), "--help"];
}

function wordOf({ long }: Option): string {
  return (long ?? "").replace(/^--/, "");
}

function startingWith(words: readonly string[], typed: string): string[] {
  return words.filter((word) => word.startsWith(typed)).sort();
}

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** The script that a shell loads. It asks `troupe __complete` for the words at each press of the tab key. */
export function completionScript(shell: Shell): string {
  return { bash, zsh, fish }[shell];
}

const bash = `# troupe completion for bash: eval "$(troupe completion bash)"
_troupe() {
  local line tab=$'\\t'
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
    else
      COMPREPLY+=("\${line%%"$tab"*}")
    fi
  done < <(troupe __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _troupe troupe`;

const zsh = `#compdef troupe
# troupe completion for zsh: eval "$(troupe completion zsh)"
_troupe() {
  local line
  local -a found
  for line in "\${(@f)$(troupe __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ "$line" == ":files" ]]; then
      _files
    elif [[ -n "$line" ]]; then
      found+=("\${\${line//:/\\\\:}/$'\\t'/:}")
    fi
  done
  _describe troupe found
}
compdef _troupe troupe`;

const fish = `# troupe completion for fish: troupe completion fish | source
function __troupe
    set -l words (commandline -opc) (commandline -ct)
    for line in (troupe __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c troupe -f -a '(__troupe)'`;
