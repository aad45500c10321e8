import { Command, CommanderError } from "commander";
import type { Cli } from "../cli.ts";
import type { OutputMode } from "../render/failure.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { addControlCommands } from "./control-commands.ts";
import { addNatsCommands } from "./nats-commands.ts";
import { addQueryCommands } from "./query-commands.ts";
import { addStartCommands } from "./start-commands.ts";

/** What is there before a command is known. Everything dearer is made by `createCli`, when a command needs it. */
export interface ProgramEnvironment {
  version: string;
  terminal: Terminal;
  interrupts: Interrupts;
  createCli(): Promise<Cli>;
}

/**
 * The command line as a function: arguments in, exit code out. Never throws; every error has been shown.
 *
 * @param args Without the interpreter and the script.
 */
export async function runProgram(args: readonly string[], deps: ProgramEnvironment): Promise<number> {
  let exitCode = 0;
  const program = createProgram(deps, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const interrupted = deps.interrupts.exitCode();
    if (interrupted !== null && isAbort(error, deps.interrupts)) return interrupted;
    const { reportFailure } = await import("../render/failure.ts");
    const names = program.commands.map((command) => command.name());
    const shown = error instanceof CommanderError ? await usageError(error, args, names) : error;
    return reportFailure(shown, { terminal: deps.terminal, mode: modeOf(args) });
  }
}

function createProgram(deps: ProgramEnvironment, done: (exitCode: number) => void): Command {
  const { out, err } = deps.terminal;
  const program = new Command("troupe")
    .description("A company of AI agents, each one an actor.")
    .version(deps.version, "-v, --version", "print the version")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.line(text.trimEnd()),
      writeErr: (text) => err.line(text.trimEnd()),
      // Shown by `runProgram`, in the same form as every other error.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(out.width, 100),
      getErrHelpWidth: () => Math.min(err.width, 100),
    })
    .addHelpText("after", helpTail);
  const runCommand = (command: (cli: Cli) => Promise<number>) => deps.createCli().then(command).then(done);
  addStartCommands(program, runCommand);
  addControlCommands(program, runCommand);
  addQueryCommands(program, runCommand);
  addNatsCommands(program, runCommand);
  return program;
}

const helpTail = `
Environment:
  TROUPE_HOME   folder of all state (default: troupe in the XDG data folder)
  TROUPE_MODEL  model of sessions that name none: provider/model, an alias, or a name of the map
  TROUPE_CONFIG your configuration (default: troupe/config.yaml in the XDG configuration folder)
  TROUPE_LOG    level of the log in the home: trace, debug, info, warn, error, fatal, silent
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, OPENROUTER_API_KEY,
  DEEPSEEK_API_KEY, OLLAMA_HOST set providers up; troupe models ls shows which
  NATS_URL      where the others are; NATS_CREDS, NATS_NKEY, NATS_TOKEN, NATS_USER, NATS_PASSWORD, NATS_CA,
                NATS_CERT, NATS_KEY let one in there. TROUPE_NATS_SERVER: the program of up --nats auto
  NO_COLOR, FORCE_COLOR, TERM=dumb

Exit codes:
  0 ok   1 error   2 usage   3 configuration   4 authentication   5 daemon or bus out of reach
  6 the run failed   7 a limit ended the run   8 only a person's answer is missing, under --no-input
  130, 143 stopped by a signal`;

/** What was asked for, told before the arguments are understood: an error in them has to be shown in that form too. */
function modeOf(args: readonly string[]): OutputMode {
  const end = args.indexOf("--");
  const flags = new Set(end < 0 ? args : args.slice(0, end));
  if (flags.has("--stream-json")) return "stream-json";
  return flags.has("--json") ? "json" : "text";
}

/** How many words a command takes before the one that is often left without quotes. */
const wordsBeforeText: Record<string, number> = { run: 0, steer: 1 };

async function usageError(error: CommanderError, args: readonly string[], names: readonly string[]): Promise<Error> {
  const { TroupeError } = await import("@troupe/core");
  const message = error.code === "commander.help" ? "no command was given" : error.message.replace(/^error: /, "");
  const [verb = "", ...words] = args.filter((each) => !each.startsWith("-"));
  const before = error.code === "commander.excessArguments" ? wordsBeforeText[verb] : undefined;
  const known = names.includes(verb) ? `${verb} ` : "";
  const quoted = () => [verb, ...words.slice(0, before), JSON.stringify(words.slice(before).join(" "))].join(" ");
  const fix = `troupe ${before === undefined ? `${known}--help` : quoted()}`;
  return new TroupeError("USAGE", message, { fix });
}

function isAbort(error: unknown, interrupts: Interrupts): boolean {
  if (error === interrupts.signal.reason) return true;
  return error instanceof Error && error.name === "AbortError";
}
