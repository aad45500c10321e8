import { type Command, Option } from "commander";
import {
  addServerOptions,
  example,
  idHelp,
  type JsonFlag,
  jsonArrayHelp,
  jsonHelp,
  type NatsOptions,
  type RunCommand,
} from "./shared-options.ts";

/** The commands that change running sessions, approvals, hosts and trust decisions. */
export function addControlCommands(program: Command, runCommand: RunCommand): void {
  addRunControl(program, runCommand);
  addUndo(program, runCommand);
  addApprovals(program, runCommand);
  addRules(program, runCommand);
  addHosts(program, runCommand);
  addTrust(program, runCommand);
}

function addRunControl(program: Command, runCommand: RunCommand): void {
  const either = `session or run: ${idHelp}`;
  const commands = () => import("../commands/run-control.ts");
  program
    .command("cancel")
    .description("stop a session, or a run and all its sub-runs")
    .argument("<id>", either)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe cancel 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).cancel(cli, id, { json: !!flags.json })),
    );
  program
    .command("steer")
    .description("send a message to a run; its model reads it at the next step")
    .argument("<run>", `${idHelp}; a session id means its root run`)
    .argument("<text>", "the message, as one argument")
    .option("--json", jsonHelp)
    .addHelpText("after", example('troupe steer 0199c2a4 "skip the tests for now"'))
    .action((id: string, text: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).steer(cli, id, text, { json: !!flags.json })),
    );
  program
    .command("pause")
    .description("pause a session, or a run and all its sub-runs: they start no new model or tool call")
    .argument("<id>", either)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe pause 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).pause(cli, id, { json: !!flags.json })),
    );
  program
    .command("resume")
    .description("continue a paused session or run")
    .argument("<id>", either)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe resume 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).resume(cli, id, { json: !!flags.json })),
    );
}

interface UndoOptions extends JsonFlag {
  session?: string;
  step?: string;
  path?: string[];
  dryRun?: true;
  partial?: true;
  redo?: true;
  yes?: true;
}

const undoHelp = `
Restores each file to its content before the run, and deletes the files that it created. A file
that was changed since stops the whole undo, unless --partial is given.

Examples:
  $ troupe undo 0199c2a4 --dry-run
  $ troupe undo 0199c2a4 --step 3 --path src`;

const addValue = (value: string, all: string[] = []): string[] => [...all, value];

function addUndo(program: Command, runCommand: RunCommand): void {
  program
    .command("undo")
    .description("restore the files that a run and its sub-runs changed")
    .argument("<run>", `${idHelp}; a session id means its root run`)
    .option("--session <id>", "session of the run, to search only its runs")
    .option("--step <n>", "undo this step and everything after it")
    .option("--path <path>", "undo only this file, or the files below this folder; repeat it for more", addValue)
    .option("--dry-run", "list the files and change nothing")
    .option("--partial", "restore the other files if some cannot be restored")
    .option("--redo", "take back the newest undo of the run")
    .option("--yes", "change the files without asking")
    .option("--json", jsonHelp)
    .addHelpText("after", undoHelp)
    .action((id: string, options: UndoOptions) =>
      runCommand(async (cli) => {
        const [{ undo }, { parseStep }] = await Promise.all([import("../commands/undo.ts"), import("./flags.ts")]);
        const { session = null, path = [], dryRun, partial, redo, yes, json } = options;
        const step = options.step === undefined ? null : parseStep(options.step);
        const choices = { dryRun: !!dryRun, partial: !!partial, redo: !!redo, yes: !!yes, json: !!json };
        return undo(cli, id, { session, step, paths: path, ...choices });
      }),
    );
}

interface AnswerOptions extends JsonFlag {
  run?: true;
  always?: true;
  anyArguments?: true;
  commands?: string;
  reason?: string;
}

function addApprovals(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/approvals.ts");
  const approvals = program.command("approvals").description("list requests for approval and answer them");
  approvals
    .command("ls")
    .description("list waiting requests with the full arguments of each call")
    .option("--all", "include answered requests")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe approvals ls"))
    .action((flags: JsonFlag & { all?: true }) =>
      runCommand(async (cli) => (await commands()).listApprovals(cli, { all: !!flags.all, json: !!flags.json })),
    );
  approvals
    .command("show")
    .description("show one request: the email, event or message as a person would see it, else all arguments")
    .argument("<id>", idHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe approvals show 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).showApproval(cli, id, { json: !!flags.json })),
    );
  approvals
    .command("watch")
    .description("answer the requests of all sessions as they arrive, until Ctrl-C")
    .option("--json", "ask nothing; print each request once, as one JSON object")
    .addHelpText("after", example("troupe approvals watch"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/watch-approvals.ts")).watchApprovals(cli, { json: !!flags.json }),
      ),
    );
  const answer = (approved: boolean) => (id: string, flags: AnswerOptions) =>
    runCommand(async (cli) => {
      const { run, always, anyArguments, commands: limit, reason = null, json } = flags;
      const limited = limit === undefined ? {} : { commands: limit };
      const reach = { run: !!run, always: !!always, anyArguments: !!anyArguments, ...limited };
      return (await commands()).answerApproval(cli, id, { approved, ...reach, reason, json: !!json });
    });
  approvals
    .command("approve")
    .description("allow a request: this one call, unless a flag allows more")
    .argument("<id>", idHelp)
    .addOption(new Option("--run", "allow this subcommand or host for the rest of the run").conflicts("always"))
    .option("--always", "store a rule that allows the same call on this machine from now on")
    .option("--any-arguments", "with --always: the rule applies to the tool with any arguments")
    .option("--commands <pattern>", "with --always: the rule applies to these commands of shell or git: 'git status:*'")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe approvals approve 0199c2a4 --always"))
    .action(answer(true));
  approvals
    .command("deny")
    .description("refuse a request; the agent is told and continues without the call")
    .argument("<id>", idHelp)
    .option("--reason <text>", "reason that the agent is told")
    .option("--always", "store a rule that denies the same call on this machine from now on")
    .option("--any-arguments", "with --always: the rule applies to the tool with any arguments")
    .option("--commands <pattern>", "with --always: the rule applies to these commands of shell or git: 'git status:*'")
    .option("--json", jsonHelp)
    .addHelpText("after", example('troupe approvals deny 0199c2a4 --reason "use the staging server"'))
    .action(answer(false));
}

const rulesHelp = `
A rule matches exact arguments, any arguments, or commands by their first words:
  shell(git status:*)   git status with any further words
  shell(npm test)       this command only
A rule that allows has to match every command of a line. Variables before a command, output
to files and lines that cannot be told match no such rule. A rule that denies matches if any
command of the line could be one of its commands.

Examples:
  $ troupe approvals approve 0199c2a4 --always --commands 'git status:*'
  $ troupe rules ls`;

function addRules(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/rules.ts");
  const rules = program
    .command("rules")
    .description("list and remove the rules that --always stores")
    .addHelpText("after", rulesHelp);
  rules
    .command("ls")
    .description("list the rules")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe rules ls"))
    .action((flags: JsonFlag) => runCommand(async (cli) => (await commands()).listRules(cli, { json: !!flags.json })));
  rules
    .command("rm")
    .description("remove a rule; the same call needs an approval again")
    .argument("<id>", idHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe rules rm 0199c2a4"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).removeRule(cli, id, { json: !!flags.json })),
    );
}

const hostsNatsHelp = "ask the hosts on this NATS server directly, without a daemon";

type HostOptions = JsonFlag & Pick<NatsOptions, "nats" | "context" | "namespace">;

function addHosts(program: Command, runCommand: RunCommand): void {
  const load = async (options: HostOptions) => {
    const [commands, { parseNats }] = await Promise.all([import("../commands/hosts.ts"), import("./flags.ts")]);
    return { ...commands, flags: { json: !!options.json, nats: parseNats(options) } };
  };
  const hosts = program
    .command("hosts")
    .description("list the processes that run agents, on all machines, and drain them");
  addServerOptions(hosts.command("ls"), hostsNatsHelp)
    .description("list hosts with their agents, load and last heartbeat")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe hosts ls"))
    .action((options: HostOptions) =>
      runCommand(async (cli) => {
        const { listHosts, flags } = await load(options);
        return listHosts(cli, flags);
      }),
    );
  addServerOptions(hosts.command("drain"), hostsNatsHelp)
    .description("stop a host gracefully: it takes no new runs, and other hosts continue its runs")
    .argument("<host>", "host name from troupe hosts ls")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe hosts drain worker-gpu-1"))
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
    .description("show the configuration and tools of a project, and trust them as they are now")
    .argument("[folder]", "project folder (default: the current folder)")
    .option("--yes", "trust it without asking")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe trust ~/projects/shop"))
    .action((folder: string | undefined, flags: JsonFlag & { yes?: true }) =>
      runCommand(async (cli) => (await commands()).trust(cli, folder ?? ".", { yes: !!flags.yes, json: !!flags.json })),
    );
  trust
    .command("ls")
    .description("list projects with a trust decision")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe trust ls"))
    // `trust` itself parses the flags before the subcommand.
    .action((_: JsonFlag, command: Command) =>
      runCommand(async (cli) => (await commands()).listTrust(cli, { json: !!command.optsWithGlobals().json })),
    );
  trust
    .command("rm")
    .description("forget the decision; the configuration and tools of the project are ignored again")
    .argument("<folder>", "project folder")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe trust rm ~/projects/shop"))
    .action((folder: string, _: JsonFlag, command: Command) =>
      runCommand(async (cli) =>
        (await commands()).removeTrust(cli, folder, { json: !!command.optsWithGlobals().json }),
      ),
    );
}
