import type { CliResult } from "../../harness/cli.ts";

/** An example of the help, as a user reads it. */
export interface HelpExample {
  /** Without the name of the program: `sessions ls`. Empty for the whole program. */
  command: string;
  /** A whole line, such as `troupe sessions ls --limit 50`. */
  line: string;
}

export interface HelpText {
  command: string;
  examples: HelpExample[];
  hasJson: boolean;
}

/**
 * Reads the help of the program and of every command that it lists, by running `--help` for each.
 *
 * @param run runs `troupe` with these arguments
 */
export async function readHelp(run: (args: string[]) => Promise<CliResult>, path: string[] = []): Promise<HelpText[]> {
  const { code, stdout } = await run([...path, "--help"]);
  if (code !== 0) throw new Error(`troupe ${path.join(" ")} --help ended with ${code}`);
  const command = path.join(" ");
  const headings = path.length === 0 ? groupHeadings : /^Commands:$/;
  const below = await Promise.all(commandsIn(stdout, headings).map((name) => readHelp(run, [...path, name])));
  return [{ command, examples: examplesIn(stdout, command), hasJson: /^ +--json\b/m.test(stdout) }, ...below.flat()];
}

/** The help of the program has its commands in groups. */
const groupHeadings = /^(?!(Options|Environment|Exit codes):$)[A-Z].*:$/;

function commandsIn(help: string, headings: RegExp): string[] {
  let isList = false;
  return help.split("\n").flatMap((line) => {
    if (/^\S.*:$/.test(line)) isList = headings.test(line);
    const [, name = ""] = /^ {2}([a-z]+)\b/.exec(line) ?? [];
    // The library adds a command `help` to each group.
    return isList && name !== "" && name !== "help" ? [name] : [];
  });
}

function examplesIn(help: string, command: string): HelpExample[] {
  const [, below = ""] = help.split(/\nExamples?:\n/);
  return [...below.matchAll(/^ +\$ (.+)$/gm)].map(([, line = ""]) => ({ command, line }));
}
