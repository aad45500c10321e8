import { type Command, Option } from "commander";
import {
  addServerOptions,
  idHelp,
  type JsonFlag,
  jsonArrayHelp,
  jsonHelp,
  type NatsOptions,
  type RunCommand,
} from "./shared-options.ts";

/** What people do about sessions that are under way. */
export function addControlCommands(program: Command, runCommand: RunCommand): void {
  addRunControl(program, runCommand);
  addApprovals(program, runCommand);
  addRules(program, runCommand);
  addHosts(program, runCommand);
  addTrust(program, runCommand);
}

function addRunControl(program: Command, runCommand: RunCommand): void {
  const either = `of a session or of a run: ${idHelp}`;
  const commands = () => import("../commands/run-control.ts");
  program
    .command("cancel")
    .description("stop a session, or a run and all below it")
    .argument("<id>", either)
    .option("--json", jsonHelp)
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).cancel(cli, id, { json: !!flags.json })),
    );
  program
    .command("steer")
    .description("give a run's model a message, which it reads at its next step")
    .argument("<run>", `${idHelp}; a session stands for its first run`)
    .argument("<text>", "the message, as one argument")
    .option("--json", jsonHelp)
    .action((id: string, text: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).steer(cli, id, text, { json: !!flags.json })),
    );
  program
    .command("pause")
    .description("start nothing new in a session, or in a run and all below it")
    .argument("<id>", either)
    .option("--json", jsonHelp)
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).pause(cli, id, { json: !!flags.json })),
    );
  program
    .command("resume")
    .description("go on with what was paused")
    .argument("<id>", either)
    .option("--json", jsonHelp)
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).resume(cli, id, { json: !!flags.json })),
    );
}

interface AnswerOptions extends JsonFlag {
  run?: true;
  always?: true;
  anyArguments?: true;
  reason?: string;
}

function addApprovals(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/approvals.ts");
  const approvals = program.command("approvals").description("what waits for a person, and the answer to it");
  approvals
    .command("ls")
    .description("list what waits, with everything that would be done")
    .option("--all", "also what was answered")
    .option("--json", jsonArrayHelp)
    .action((flags: JsonFlag & { all?: true }) =>
      runCommand(async (cli) => (await commands()).listApprovals(cli, { all: !!flags.all, json: !!flags.json })),
    );
  const answer = (approved: boolean) => (id: string, flags: AnswerOptions) =>
    runCommand(async (cli) => {
      const { run, always, anyArguments, reason = null, json } = flags;
      const reach = { run: !!run, always: !!always, anyArguments: !!anyArguments };
      return (await commands()).answerApproval(cli, id, { approved, ...reach, reason, json: !!json });
    });
  approvals
    .command("approve")
    .description("allow it: this call and no other, unless a flag says more")
    .argument("<id>", idHelp)
    .addOption(new Option("--run", "allow the tool for the rest of the run").conflicts("always"))
    .option("--always", "store a rule: the same call is not asked about again on this machine")
    .option("--any-arguments", "with --always: the rule fits the tool with any arguments")
    .option("--json", jsonHelp)
    .action(answer(true));
  approvals
    .command("deny")
    .description("refuse it: the agent is told so, and goes on without")
    .argument("<id>", idHelp)
    .option("--reason <text>", "why, for the agent")
    .option("--always", "store a rule: the same call is denied from now on, on this machine")
    .option("--any-arguments", "with --always: the rule fits the tool with any arguments")
    .option("--json", jsonHelp)
    .action(answer(false));
}

function addRules(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/rules.ts");
  const rules = program.command("rules").description("answers that were stored with --always");
  rules
    .command("ls")
    .description("list them")
    .option("--json", jsonArrayHelp)
    .action((flags: JsonFlag) => runCommand(async (cli) => (await commands()).listRules(cli, { json: !!flags.json })));
  rules
    .command("rm")
    .description("remove one: what it answered is asked about again")
    .argument("<id>", idHelp)
    .option("--json", jsonHelp)
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).removeRule(cli, id, { json: !!flags.json })),
    );
}

type HostOptions = JsonFlag & Pick<NatsOptions, "nats" | "context" | "namespace">;

function addHosts(program: Command, runCommand: RunCommand): void {
  const load = async (options: HostOptions) => {
    const [commands, { parseNats }] = await Promise.all([import("../commands/hosts.ts"), import("./flags.ts")]);
    return { ...commands, flags: { json: !!options.json, nats: parseNats(options) } };
  };
  const hosts = program.command("hosts").description("the processes that run agents, on this machine and on others");
  addServerOptions(hosts.command("ls"))
    .description("list them: what they serve, how busy they are, when they were heard of")
    .option("--json", jsonArrayHelp)
    .action((options: HostOptions) =>
      runCommand(async (cli) => {
        const { listHosts, flags } = await load(options);
        return listHosts(cli, flags);
      }),
    );
  addServerOptions(hosts.command("drain"))
    .description("let one take nothing new, leave what it has to others, and go")
    .argument("<host>", "its name, as troupe hosts ls says it")
    .option("--json", jsonHelp)
    .action((host: string, options: HostOptions) =>
      runCommand(async (cli) => {
        const { drainHost, flags } = await load(options);
        return drainHost(cli, host, flags);
      }),
    );
}

function addTrust(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/trust.ts");
  const trust = program
    .command("trust")
    .description("what a folder brings (configuration, tools), and whether it counts: show it, and accept it as it is")
    .argument("[folder]", "default: this one")
    .option("--yes", "accept it without a question")
    .option("--json", jsonHelp)
    .action((folder: string | undefined, flags: JsonFlag & { yes?: true }) =>
      runCommand(async (cli) => (await commands()).trust(cli, folder ?? ".", { yes: !!flags.yes, json: !!flags.json })),
    );
  trust
    .command("ls")
    .description("list the folders that somebody has answered for")
    .option("--json", jsonArrayHelp)
    // What stands after `trust` alone is read by `trust` itself.
    .action((_: JsonFlag, command: Command) =>
      runCommand(async (cli) => (await commands()).listTrust(cli, { json: !!command.optsWithGlobals().json })),
    );
  trust
    .command("rm")
    .description("forget the answer: what the folder brings does not count any more")
    .argument("<folder>")
    .option("--json", jsonHelp)
    .action((folder: string, _: JsonFlag, command: Command) =>
      runCommand(async (cli) =>
        (await commands()).removeTrust(cli, folder, { json: !!command.optsWithGlobals().json }),
      ),
    );
}
