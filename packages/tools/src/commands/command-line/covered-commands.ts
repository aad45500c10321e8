import type { SimpleCommand } from "@troupe/core/internal";

/** Programs whose first argument says what they do. */
const subcommandPrograms: ReadonlySet<string> = new Set(
  (
    "apt apt-get aws brew bundle bun cargo composer deno docker dotnet gcloud gem gh git go gradle helm hg kubectl make " +
    "mvn npm npx pip pip3 pipx pnpm podman poetry rake rustup svn systemctl terraform uv yarn"
  ).split(" "),
);

/** Subcommands that run a script, whose name is the next argument. */
const scriptSubcommands: ReadonlySet<string> = new Set(["run", "run-script", "exec", "dlx", "x"]);

/** Programs that only read and print, whatever their arguments are. */
const readingPrograms: ReadonlySet<string> = new Set(
  (
    "basename cat cmp cut df diff dirname du echo false grep head id ls printf pwd seq sleep stat tail test tr true " +
    "uname wc which whoami"
  ).split(" "),
);

/** Options after the subcommand that make the program read another project or run another text. */
const redirecting =
  /^(-[CEcef]|--(prefix|dir|directory|cwd|file|makefile|manifest-path|eval|exec|config|call|node-options)\b)/;

/**
 * The parts of a command line that an approval for the rest of the run covers: program and subcommand of each simple
 * command, or the program alone if it only reads. Any other command is covered word for word.
 * Empty if a command cannot be told: then an approval covers its own call only.
 *
 * @example
 * coveredCommands([{ words: ["git", "log", "-5"], assigns: false, writes: false }]); // ["git log"]
 */
export function coveredCommands(commands: readonly SimpleCommand[] | null): string[] {
  const parts = (commands ?? []).map(coveredPart);
  return parts.some((part) => part === null) ? [] : [...new Set(parts.filter((part) => part !== null))];
}

function coveredPart({ words, assigns, writes }: SimpleCommand): string | null {
  const [program, first, second] = words;
  if (typeof program !== "string" || assigns || writes) return null;
  if (readingPrograms.has(program)) return program;
  const redirects = words.some((word) => word === null || redirecting.test(word));
  if (subcommandPrograms.has(program) && isName(first) && !redirects) {
    if (!scriptSubcommands.has(first)) return `${program} ${first}`;
    if (isName(second)) return `${program} ${first} ${second}`;
  }
  return words.every((word) => word !== null) ? words.map(quoted).join(" ") : null;
}

/** A word that is neither an option nor a path out of the folder. */
function isName(word: string | null | undefined): word is string {
  return typeof word === "string" && /^[\w@][\w@.:+-]*$/.test(word) && word !== "..";
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}
