import { type Command, Option } from "commander";
import type { BudgetFlags, GrantFlags } from "./flags.ts";
import {
  addModelAndBudgetOptions,
  addNatsOptions,
  example,
  type JsonFlag,
  jsonHelp,
  type NatsOptions,
  type RunCommand,
} from "./shared-options.ts";

const allowHomeHelp = "allow a home directory, or a folder above one, as the workspace";

/** The commands that run agents: `up`, `worker`, `run` and `spawn`. */
export function addStartCommands(program: Command, runCommand: RunCommand): void {
  addUp(program, runCommand);
  addWorker(program, runCommand);
  addRun(program, runCommand);
  addSpawn(program, runCommand);
}

interface UpOptions extends JsonFlag, NatsOptions {
  host: string;
  port: string;
  open: boolean;
  agents: string;
  capacity: string;
  allowHome?: true;
  detach?: true;
}

/** The arguments of the same daemon in another process. */
function upArguments({ host, port, agents, capacity, allowHome, nats, context, namespace, place, lease }: UpOptions) {
  const named = { host, port, agents, capacity, nats, context, namespace, place, lease };
  const options = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [value === true ? `--${name}` : `--${name}=${value}`],
  );
  return ["up", ...options, ...(allowHome ? ["--allow-home"] : []), "--no-open", "--json"];
}

function addUp(program: Command, runCommand: RunCommand): void {
  addNatsOptions(program.command("up"), "NATS server URL; `auto` starts a local server")
    .description("start the daemon and its dashboard in the foreground")
    .option("-d, --detach", "start it in the background, and return when it is ready")
    .option("--host <address>", "loopback address to listen on", "127.0.0.1")
    .option("--port <number>", "port; the next free port if it is taken; 0 for any", "4711")
    .option("--no-open", "do not open the dashboard in a browser")
    .option(
      "--agents <names>",
      'agents that this process runs, separated by commas, also team/agent and team/*; "" for none',
      "all",
    )
    .option("--capacity <number>", "runs that can work here at the same time", "64")
    .option("--allow-home", allowHomeHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe up --port 4711"))
    .action((flags: UpOptions) =>
      runCommand(async (cli) => {
        if (flags.detach) {
          const { upInBackground } = await import("../commands/background.ts");
          return upInBackground(cli, upArguments(flags), { json: !!flags.json });
        }
        const [{ up }, options] = await Promise.all([import("../commands/up.ts"), import("./flags.ts")]);
        return up(cli, {
          host: options.parseHost(flags.host),
          port: options.parsePort(flags.port),
          open: flags.open,
          json: !!flags.json,
          allowHome: !!flags.allowHome,
          nats: options.parseNats(flags),
          work: options.parseWork(flags, { command: "up", mayBeNone: true }),
        });
      }),
    );
}

interface WorkerOptions extends JsonFlag, NatsOptions {
  agents: string;
  capacity: string;
  name?: string;
  workspace?: string;
}

function addWorker(program: Command, runCommand: RunCommand): void {
  addNatsOptions(program.command("worker"), "NATS server URL of the daemon")
    .description("run agents for a daemon on another machine, over its NATS server")
    .requiredOption(
      "--agents <names>",
      "agents to run, separated by commas, also team/agent and team/*; `all` for every agent of this machine",
    )
    .option("--capacity <number>", "runs that can work here at the same time", "16")
    .option("--name <name>", "host name (default: a unique name)")
    .option("--workspace <folder>", "project whose agents it runs too (default: the current folder)")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe worker --agents coder,tester --nats nats://host:4222"))
    .action((flags: WorkerOptions) =>
      runCommand(async (cli) => {
        const [{ worker }, options] = await Promise.all([import("../commands/worker.ts"), import("./flags.ts")]);
        return worker(cli, {
          name: flags.name,
          workspace: flags.workspace,
          json: !!flags.json,
          nats: options.parseNats(flags),
          work: options.parseWork(flags, { command: "worker", mayBeNone: false }),
        });
      }),
    );
}

interface RunOptions extends JsonFlag, BudgetFlags, GrantFlags, NatsOptions {
  continue?: true;
  resume?: string;
  agent?: string;
  team?: string;
  workspace?: string;
  allowHome?: true;
  timeout?: string;
  scenario?: string;
  model?: string;
  input: boolean;
  streamJson?: true;
  quiet?: true;
}

function addRun(program: Command, runCommand: RunCommand): void {
  addModelAndBudgetOptions(
    addNatsOptions(program.command("run"), "NATS server URL, used when no daemon is running")
      .description("run a task and print the answer on stdout. Piped input is context for the task")
      .argument(
        "<task>",
        'the task, as one argument; - reads it from standard input. "/spawn AGENT TASK" starts that sub-agent at once',
      )
      .addOption(new Option("--continue", "continue the newest session of this folder with another turn"))
      .addOption(new Option("--resume <session>", "continue this session with another turn").conflicts("continue"))
      .option("--agent <id>", "agent that gets the task (default: main, or the entry agent of the team)")
      .option("--team <name>", "team that gets the task (troupe teams ls)")
      .option(
        "--workspace <folder>",
        "folder that the agents work in (default: the current folder; for a demo, a new folder)",
      )
      .option("--allow-home", allowHomeHelp)
      .option("--timeout <duration>", "time limit: 30s, 5m, 1h30m, or milliseconds"),
  )
    .option("--tools <names>", 'allow only these tools, separated by commas; "" for none')
    .option("--deny-tools <names>", "deny these tools")
    .option("--agents <names>", 'allow delegation only to these agents; "" for none')
    .option("--deny-agents <names>", "deny delegation to these agents")
    .option("--no-input", "never ask; exit with 8 if the session waits only for a person")
    .option("-q, --quiet", "print the answer and errors only, without progress")
    .option("--json", "print the response as one JSON object on stdout")
    .addOption(new Option("--stream-json", "print every event as one JSON object per line").conflicts("json"))
    .addHelpText("after", example('troupe run "which licences do our dependencies have?"'))
    .action((task: string, flags: RunOptions) =>
      runCommand(async (cli) => {
        const [{ run }, options] = await Promise.all([import("../commands/run.ts"), import("./flags.ts")]);
        const { agent, team, workspace, scenario, model, resume } = flags;
        const newest = flags.continue ? ("newest" as const) : null;
        return run(cli, task, {
          continues: resume === undefined ? newest : { session: resume },
          agent,
          team,
          workspace,
          allowHome: !!flags.allowHome,
          scenario,
          model,
          timeout: flags.timeout === undefined ? undefined : options.parseTimeoutMs(flags.timeout),
          budget: options.parseBudget(flags),
          grant: options.parseGrant(flags),
          noInput: !flags.input,
          nats: options.parseNats(flags),
          quiet: !!flags.quiet,
          mode: flags.streamJson ? "stream-json" : flags.json ? "json" : "text",
        });
      }),
    );
}

type SpawnOptions = JsonFlag &
  BudgetFlags &
  Pick<RunOptions, "workspace" | "allowHome" | "timeout" | "scenario" | "model">;

function addSpawn(program: Command, runCommand: RunCommand): void {
  addModelAndBudgetOptions(
    program
      .command("spawn")
      .description("give a task to one agent of the running daemon, and return at once with the id of the session")
      .argument("<agent>", "agent that gets the task, also team/agent (troupe agents ls)")
      .argument("<task>", "the task, as one argument; - reads it from standard input")
      .option("--workspace <folder>", "folder that the agent works in (default: the current folder)")
      .option("--allow-home", allowHomeHelp)
      .option("--timeout <duration>", "time limit: 30s, 5m, 1h30m, or milliseconds"),
  )
    .option("--json", jsonHelp)
    .addHelpText("after", example('troupe spawn coder "add a test for the parser" --max-cost 0.50'))
    .action((agent: string, task: string, flags: SpawnOptions) =>
      runCommand(async (cli) => {
        const [{ spawn }, options] = await Promise.all([import("../commands/spawn.ts"), import("./flags.ts")]);
        const { workspace, scenario, model } = flags;
        return spawn(cli, agent, task, {
          workspace,
          scenario,
          model,
          allowHome: !!flags.allowHome,
          timeout: flags.timeout === undefined ? undefined : options.parseTimeoutMs(flags.timeout),
          budget: options.parseBudget(flags),
          json: !!flags.json,
        });
      }),
    );
}
