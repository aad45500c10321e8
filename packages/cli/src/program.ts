import { Command, CommanderError, Option } from "commander";
import type { Cli } from "./cli.ts";
import type { OutputMode } from "./failure.ts";
import type { Interrupts } from "./interrupts.ts";
import type { Terminal } from "./terminal.ts";

/** What is there before a command is known. Everything dearer is made by `createCli`, when a command needs it. */
export interface ProgramWorld {
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
export async function runProgram(args: readonly string[], world: ProgramWorld): Promise<number> {
  let exitCode = 0;
  const program = createProgram(world, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const interrupted = world.interrupts.exitCode();
    if (interrupted !== null && isAbort(error, world.interrupts)) return interrupted;
    const { reportFailure } = await import("./failure.ts");
    const shown = error instanceof CommanderError ? await usageError(error, args) : error;
    return reportFailure(shown, { terminal: world.terminal, mode: modeOf(args) });
  }
}

function createProgram(world: ProgramWorld, done: (exitCode: number) => void): Command {
  const { out, err } = world.terminal;
  const program = new Command("troupe")
    .description("A company of AI agents, each one an actor.")
    .version(world.version, "-v, --version", "print the version")
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
  const act = (command: (cli: Cli) => Promise<number>) => world.createCli().then(command).then(done);
  addRunning(program, act);
  addSessions(program, act);
  addAgents(program, act);
  program
    .command("doctor")
    .description("look at everything that a run needs")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag) =>
      act(async (cli) => (await import("./commands/doctor.ts")).doctor(cli, { json: !!flags.json })),
    );
  return program;
}

type Act = (command: (cli: Cli) => Promise<number>) => Promise<void>;

interface JsonFlag {
  json?: true;
}

const jsonHelp = "print one JSON object on stdout";

const helpTail = `
Environment:
  TROUPE_HOME   folder of all state (default: troupe in the XDG data folder)
  TROUPE_LOG    level of the log in the home: trace, debug, info, warn, error, fatal, silent
  NO_COLOR, FORCE_COLOR, TERM=dumb

Exit codes:
  0 ok   1 error   2 usage   3 configuration   4 authentication   5 daemon or bus out of reach
  6 the run failed   7 a limit ended the run   130, 143 stopped by a signal`;

interface UpOptions extends JsonFlag {
  host: string;
  port: string;
  open: boolean;
}

interface RunOptions extends JsonFlag {
  agent?: string;
  workspace?: string;
  timeout?: string;
  scenario?: string;
  streamJson?: true;
}

function addRunning(program: Command, act: Act): void {
  program
    .command("up")
    .description("start the daemon with its dashboard, in the foreground")
    .option("--host <address>", "loopback address to listen on", "127.0.0.1")
    .option("--port <number>", "port; the next free one when it is taken", "4711")
    .option("--no-open", "do not open the dashboard in a browser")
    .option("--json", jsonHelp)
    .action((flags: UpOptions) =>
      act(async (cli) => {
        const [{ up }, options] = await Promise.all([import("./commands/up.ts"), import("./options.ts")]);
        const host = options.parseHost(flags.host);
        return up(cli, { host, port: options.parsePort(flags.port), open: flags.open, json: !!flags.json });
      }),
    );
  program
    .command("run")
    .description("give a task to the company; the answer goes to stdout. Piped input is context")
    .argument("<task>", "what to do, as one argument")
    .option("--agent <id>", "who is asked")
    .option("--workspace <folder>", "folder that the agents work in (default: this one; for a demo, one of its own)")
    .option("--timeout <ms>", "longest time that it may take")
    .option("--scenario <name>", "play a scenario, by name or file, instead of calling a model")
    .option("--json", "print the response as one JSON object on stdout")
    .addOption(
      new Option("--stream-json", "print everything as it happens, one JSON object per line").conflicts("json"),
    )
    .action((task: string, flags: RunOptions) =>
      act(async (cli) => {
        const [{ run }, options] = await Promise.all([import("./commands/run.ts"), import("./options.ts")]);
        const timeout = flags.timeout === undefined ? undefined : options.parseTimeoutMs(flags.timeout);
        const { agent, workspace, scenario } = flags;
        const mode = flags.streamJson ? "stream-json" : flags.json ? "json" : "text";
        return run(cli, task, { agent, workspace, timeout, scenario, mode });
      }),
    );
  program
    .command("cancel")
    .description("stop a session and all its runs")
    .argument("<session>", "id, or enough of its beginning")
    .option("--json", jsonHelp)
    .action((session: string, flags: JsonFlag) =>
      act(async (cli) => (await import("./commands/cancel.ts")).cancelSession(cli, session, { json: !!flags.json })),
    );
}

function addSessions(program: Command, act: Act): void {
  const sessions = program.command("sessions").description("what was asked, and what became of it");
  sessions
    .command("ls")
    .description("list sessions, newest first")
    .option("--limit <number>", "how many", "20")
    .option("--json", "print one JSON array on stdout")
    .action((flags: JsonFlag & { limit: string }) =>
      act(async (cli) => {
        const [{ listSessions }, options] = await Promise.all([
          import("./commands/sessions.ts"),
          import("./options.ts"),
        ]);
        return listSessions(cli, { limit: options.parseLimit(flags.limit), json: !!flags.json });
      }),
    );
  sessions
    .command("show")
    .description("show one session and its answer")
    .argument("<session>", "id, or enough of its beginning")
    .option("--tree", "show who delegated what to whom, instead of the answer")
    .option("--json", jsonHelp)
    .action((session: string, flags: JsonFlag & { tree?: true }) =>
      act(async (cli) => {
        const { showSession } = await import("./commands/sessions.ts");
        return showSession(cli, session, { tree: !!flags.tree, json: !!flags.json });
      }),
    );
}

function addAgents(program: Command, act: Act): void {
  const agents = program.command("agents").description("who can be asked from this folder");
  agents
    .command("ls")
    .description("list agents, and what is wrong with their files")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag) =>
      act(async (cli) => (await import("./commands/agents.ts")).listAgents(cli, { json: !!flags.json })),
    );
  agents
    .command("show")
    .description("show one agent")
    .argument("<id>")
    .option("--json", jsonHelp)
    .action((id: string, flags: JsonFlag) =>
      act(async (cli) => (await import("./commands/agents.ts")).showAgent(cli, id, { json: !!flags.json })),
    );
  agents
    .command("validate")
    .description("check agent files, or folders of them")
    .argument("<paths...>")
    .option("--json", jsonHelp)
    .action((paths: string[], flags: JsonFlag) =>
      act(async (cli) => (await import("./commands/agents.ts")).validateAgents(cli, paths, { json: !!flags.json })),
    );
}

/** What was asked for, told before the arguments are understood: an error in them has to be shown in that form too. */
function modeOf(args: readonly string[]): OutputMode {
  const end = args.indexOf("--");
  const flags = new Set(end < 0 ? args : args.slice(0, end));
  if (flags.has("--stream-json")) return "stream-json";
  return flags.has("--json") ? "json" : "text";
}

async function usageError(error: CommanderError, args: readonly string[]): Promise<Error> {
  const { TroupeError } = await import("@troupe/core");
  const message = error.code === "commander.help" ? "no command was given" : error.message.replace(/^error: /, "");
  const verbs = args.filter((each) => !each.startsWith("-"));
  const known = ["up", "run", "cancel", "sessions", "agents", "doctor"].includes(verbs[0] ?? "") ? `${verbs[0]} ` : "";
  const unquoted = error.code === "commander.excessArguments" && verbs[0] === "run";
  const fix = unquoted ? `troupe run ${JSON.stringify(verbs.slice(1).join(" "))}` : `troupe ${known}--help`;
  return new TroupeError("USAGE", message, { fix });
}

function isAbort(error: unknown, interrupts: Interrupts): boolean {
  if (error === interrupts.signal.reason) return true;
  return error instanceof Error && error.name === "AbortError";
}
