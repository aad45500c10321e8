import { Command, CommanderError } from "commander";
import type { Cli } from "../cli.ts";
import type { OutputMode } from "../render/failure.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { addConnectCommands, addConnectionCommands } from "./connect-commands.ts";
import { addControlCommands } from "./control-commands.ts";
import { addDaemonCommands } from "./daemon-commands.ts";
import { addLookupCommands } from "./lookup-commands.ts";
import { addNatsCommands } from "./nats-commands.ts";
import { addOfficeCommands } from "./office-commands.ts";
import { addPlanCommands } from "./plan-commands.ts";
import { addQueryCommands } from "./query-commands.ts";
import { addSetupCommands } from "./setup-commands.ts";
import { example } from "./shared-options.ts";
import { addShellCommands } from "./shell-commands.ts";
import { addStartCommands } from "./start-commands.ts";
import { addStoreCommands } from "./store-commands.ts";
import { addWebhookCommands } from "./webhook-commands.ts";

/** The cheap parts, created before the command is known. `createCli` loads the rest when a command runs. */
export interface ProgramEnvironment {
  version: string;
  terminal: Terminal;
  interrupts: Interrupts;
  createCli(): Promise<Cli>;
}

/**
 * The command line as a function: takes arguments and returns the exit code. Never throws: it prints every error.
 *
 * @param args the arguments after the program name
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

/** Creates the commands with their flags and help. Exported for the test of the help. */
export function createProgram(deps: ProgramEnvironment, done: (exitCode: number) => void): Command {
  const { out, err } = deps.terminal;
  const program = new Command("troupe")
    .description("Run teams of AI agents. Sessions survive kills and restarts.")
    .version(deps.version, "-v, --version", "print the version")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.line(text.trimEnd()),
      writeErr: (text) => err.line(text.trimEnd()),
      // `runProgram` prints usage errors in the format of all other errors.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(out.width, 100),
      getErrHelpWidth: () => Math.min(err.width, 100),
    })
    .addHelpText("after", helpTail);
  const runCommand = (command: (cli: Cli) => Promise<number>) => deps.createCli().then(command).then(done);
  addStartCommands(program, runCommand);
  addPlanCommands(program, runCommand);
  addControlCommands(program, runCommand);
  addWebhookCommands(program, runCommand);
  addQueryCommands(program, runCommand);
  addOfficeCommands(program, runCommand);
  addConnectCommands(program, runCommand);
  addConnectionCommands(program, runCommand);
  addLookupCommands(program, runCommand);
  addStoreCommands(program, runCommand);
  addNatsCommands(program, runCommand);
  addDaemonCommands(program, runCommand);
  addSetupCommands(program, runCommand);
  addShellCommands(program, runCommand, (text) => out.line(text));
  addExamplesOfGroups(program);
  groupCommands(program);
  return program;
}

/** The commands of the help, by purpose. A command without a group is last. */
const groups: Record<string, readonly string[]> = {
  "Give work": ["run", "spawn", "plan", "demo"],
  "Look things up": ["sessions", "search", "costs", "stats", "explain", "ps", "logs"],
  "Steer running work": ["approvals", "cancel", "steer", "pause", "resume", "undo", "rules"],
  "Run the daemon": ["up", "down", "worker", "hosts", "nats", "backup", "restore", "record", "webhooks"],
  "Set up": ["setup", "doctor", "config", "models", "agents", "teams", "trust", "connect", "connections", "office"],
};

/** Commands that only have commands below them, each with an example. */
const examplesOfGroups: Record<string, string> = {
  sessions: "troupe sessions show last",
  approvals: "troupe approvals ls",
  hosts: "troupe hosts ls",
  nats: "troupe nats check",
  record: "troupe record verify",
  config: "troupe config list --show-origin",
  models: "troupe models test",
  agents: "troupe agents ls",
  teams: "troupe teams show coding",
  connect: "troupe connect google",
  connections: "troupe connections ls",
  office: "troupe office seed",
  inspect: "troupe inspect machine",
};

function addExamplesOfGroups(program: Command): void {
  for (const command of program.commands) {
    const line = examplesOfGroups[command.name()];
    if (line !== undefined) command.addHelpText("after", example(line));
  }
}

function groupCommands(program: Command): void {
  const order = Object.values(groups).flat();
  const placeOf = (command: Command): number => (order.indexOf(command.name()) + order.length + 1) % (order.length + 1);
  const commands = program.commands as Command[];
  commands.sort((one, other) => placeOf(one) - placeOf(other));
  for (const command of commands) {
    const heading = Object.keys(groups).find((name) => groups[name]?.includes(command.name())) ?? "More";
    command.helpGroup(`${heading}:`);
  }
}

const helpTail = `
Environment:
  TROUPE_HOME   folder of all state (default: troupe in the XDG data folder)
  TROUPE_MODEL  default model: provider/model, an alias, or a name from models in your configuration
  TROUPE_TEAM   default team, from troupe teams ls
  TROUPE_CONFIG your configuration (default: troupe/config.yaml in the XDG configuration folder)
  TROUPE_LOG    level of the log in the home: trace, debug, info (default), warn, error, fatal, silent
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, OPENROUTER_API_KEY,
  DEEPSEEK_API_KEY, OLLAMA_HOST configure model providers; troupe models ls lists them
  TROUPE_GOOGLE_CLIENT_ID, TROUPE_GOOGLE_CLIENT_SECRET, TROUPE_GOOGLE_CLIENT_FILE name your OAuth client for
                troupe connect google; TROUPE_GOOGLE_URL, TROUPE_SLACK_URL: a proxy in place of the vendor's servers
  NATS_URL      NATS server URL; NATS_CREDS, NATS_NKEY, NATS_TOKEN, NATS_USER, NATS_PASSWORD, NATS_CA,
                NATS_CERT, NATS_KEY are its credentials. TROUPE_NATS_SERVER: the program for up --nats auto
  NO_COLOR, FORCE_COLOR, TERM=dumb control colours

Exit codes:
  0 ok   1 error   2 usage   3 configuration   4 authentication   5 daemon or NATS not reachable
  6 the run failed   7 a limit ended the run   8 the session waits for a person (--no-input)
  130, 143 stopped by a signal`;

/** The output format, read before the arguments are parsed, because parse errors use that format too. */
function modeOf(args: readonly string[]): OutputMode {
  const end = args.indexOf("--");
  const flags = new Set(end < 0 ? args : args.slice(0, end));
  if (flags.has("--stream-json")) return "stream-json";
  return flags.has("--json") ? "json" : "text";
}

/** Number of arguments before the text argument, which users often forget to quote. */
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
