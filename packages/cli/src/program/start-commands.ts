import { type Command, Option } from "commander";
import type { BudgetFlags, GrantFlags } from "./flags.ts";
import { addNatsOptions, type JsonFlag, jsonHelp, type NatsOptions, type RunCommand } from "./shared-options.ts";

/** `up`, `worker` and `run`: what makes sessions go on. */
export function addStartCommands(program: Command, runCommand: RunCommand): void {
  addUp(program, runCommand);
  addWorker(program, runCommand);
  addRun(program, runCommand);
}

interface UpOptions extends JsonFlag, NatsOptions {
  host: string;
  port: string;
  open: boolean;
  agents: string;
  capacity: string;
}

function addUp(program: Command, runCommand: RunCommand): void {
  addNatsOptions(program.command("up"), "address of the others; `auto` starts a server for this home")
    .description("start the daemon with its dashboard, in the foreground")
    .option("--host <address>", "loopback address to listen on", "127.0.0.1")
    .option("--port <number>", "port; the next free one when it is taken", "4711")
    .option("--no-open", "do not open the dashboard in a browser")
    .option("--agents <names>", 'agents that it runs itself, with commas between them; "" for none', "all")
    .option("--capacity <number>", "runs that may be at work here at once", "64")
    .option("--json", jsonHelp)
    .action((flags: UpOptions) =>
      runCommand(async (cli) => {
        const [{ up }, options] = await Promise.all([import("../commands/up.ts"), import("./flags.ts")]);
        return up(cli, {
          host: options.parseHost(flags.host),
          port: options.parsePort(flags.port),
          open: flags.open,
          json: !!flags.json,
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
  addNatsOptions(program.command("worker"), "address of the server that a `troupe up` uses")
    .description("take tasks of some agents, in the foreground, over the NATS server of a daemon elsewhere")
    .requiredOption("--agents <names>", "agents that it serves, with commas between them; `all` for every one it has")
    .option("--capacity <number>", "runs that may be at work here at once", "16")
    .option("--name <name>", "what it is called among all hosts (default: one that nobody else has)")
    .option("--workspace <folder>", "folder whose own agents it serves as well (default: this one)")
    .option("--json", jsonHelp)
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
  workspace?: string;
  timeout?: string;
  scenario?: string;
  model?: string;
  input: boolean;
  streamJson?: true;
}

function addRun(program: Command, runCommand: RunCommand): void {
  addNatsOptions(program.command("run"), "address of the others, where no daemon runs the home")
    .description("give a task to the company; the answer goes to stdout. Piped input is context")
    .argument("<task>", "what to do, as one argument")
    .addOption(
      new Option("--continue", "go on with the newest session of this folder: another turn, which knows what was said"),
    )
    .addOption(new Option("--resume <session>", "go on with this session").conflicts("continue"))
    .option("--agent <id>", "who is asked")
    .option("--workspace <folder>", "folder that the agents work in (default: this one; for a demo, one of its own)")
    .option("--timeout <ms>", "longest time that it may take")
    .option(
      "--model <id>",
      "provider/model, an alias or a name of the map: what `inherit` stands for (troupe models ls)",
    )
    .addOption(
      new Option("--scenario <name>", "play a scenario, by name or file, instead of calling a model").conflicts(
        "model",
      ),
    )
    .option("--max-tokens <number>", "tokens that all its runs together may use")
    .option("--max-cost <dollars>", "what all its model calls together may cost, in US dollars")
    .option("--max-tool-calls <number>", "tool calls of all its runs together")
    .option("--max-runs <number>", "runs that may be started below the first one, retries included")
    .option("--tools <names>", 'the only tools that it may use, with commas between them; "" for none')
    .option("--deny-tools <names>", "tools that it may not use")
    .option("--agents <names>", 'the only agents that may be delegated to; "" for none')
    .option("--deny-agents <names>", "agents that may not be delegated to")
    .option("--no-input", "ask nobody: exit with 8 where only a person's answer is missing")
    .option("--json", "print the response as one JSON object on stdout")
    .addOption(
      new Option("--stream-json", "print everything as it happens, one JSON object per line").conflicts("json"),
    )
    .action((task: string, flags: RunOptions) =>
      runCommand(async (cli) => {
        const [{ run }, options] = await Promise.all([import("../commands/run.ts"), import("./flags.ts")]);
        const { agent, workspace, scenario, model, resume } = flags;
        const newest = flags.continue ? ("newest" as const) : null;
        return run(cli, task, {
          continues: resume === undefined ? newest : { session: resume },
          agent,
          workspace,
          scenario,
          model,
          timeout: flags.timeout === undefined ? undefined : options.parseTimeoutMs(flags.timeout),
          budget: options.parseBudget(flags),
          grant: options.parseGrant(flags),
          noInput: !flags.input,
          nats: options.parseNats(flags),
          mode: flags.streamJson ? "stream-json" : flags.json ? "json" : "text",
        });
      }),
    );
}
