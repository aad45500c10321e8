import { type Command, Option } from "commander";
import { idHelp, type JsonFlag, jsonArrayHelp, jsonHelp, type RunCommand } from "./shared-options.ts";

/** What only looks. */
export function addQueryCommands(program: Command, runCommand: RunCommand): void {
  addSessions(program, runCommand);
  addExplain(program, runCommand);
  addAgents(program, runCommand);
  addInspect(program, runCommand);
  addModels(program, runCommand);
  addConfig(program, runCommand);
  program
    .command("doctor")
    .description("look at everything that a run needs")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/doctor.ts")).doctor(cli, { json: !!flags.json })),
    );
}

function addSessions(program: Command, runCommand: RunCommand): void {
  const sessions = program.command("sessions").description("what was asked, and what became of it");
  sessions
    .command("ls")
    .description("list sessions, newest first")
    .option("--limit <number>", "how many", "20")
    .option("--json", jsonArrayHelp)
    .action((flags: JsonFlag & { limit: string }) =>
      runCommand(async (cli) => {
        const [{ listSessions }, options] = await Promise.all([
          import("../commands/sessions.ts"),
          import("./flags.ts"),
        ]);
        return listSessions(cli, { limit: options.parseLimit(flags.limit), json: !!flags.json });
      }),
    );
  sessions
    .command("show")
    .description("show one session and its answer")
    .argument("<session>", idHelp)
    .option("--tree", "show who delegated what to whom, instead of the answer")
    .option("--diff", "show each change of a file, below what there is else")
    .option("--json", jsonHelp)
    .action((session: string, flags: JsonFlag & { tree?: true; diff?: true }) =>
      runCommand(async (cli) => {
        const { showSession } = await import("../commands/sessions.ts");
        return showSession(cli, session, { tree: !!flags.tree, diff: !!flags.diff, json: !!flags.json });
      }),
    );
  addReplay(sessions, runCommand);
}

function addReplay(sessions: Command, runCommand: RunCommand): void {
  sessions
    .command("replay")
    .description("run a session again, offline, with its recorded answers; exits with 1 where it goes another way")
    .argument("<session>", idHelp)
    .addOption(
      new Option("--agents <which>", "the agents and tools that it had, or those that there are now")
        .choices(["pinned", "current"])
        .default("pinned"),
    )
    .option("--json", jsonHelp)
    .action((session: string, flags: JsonFlag & { agents: "pinned" | "current" }) =>
      runCommand(async (cli) => {
        const { replay } = await import("../commands/replay.ts");
        return replay(cli, session, { current: flags.agents === "current", json: !!flags.json });
      }),
    );
}

function addExplain(program: Command, runCommand: RunCommand): void {
  program
    .command("explain")
    .description("show what a run may use, and which layer took away what it may not")
    .argument("<run>", `${idHelp}; a session stands for its first run`)
    .argument("[tool]", "only this tool or agent")
    .option("--json", jsonHelp)
    .action((run: string, tool: string | undefined, flags: JsonFlag) =>
      runCommand(async (cli) => {
        const { explain } = await import("../commands/explain.ts");
        return explain(cli, run, tool ?? null, { json: !!flags.json });
      }),
    );
}

function addAgents(program: Command, runCommand: RunCommand): void {
  const agents = program.command("agents").description("who can be asked from this folder");
  agents
    .command("ls")
    .description("list agents, and what is wrong with their files")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/agents.ts")).listAgents(cli, { json: !!flags.json })),
    );
  agents
    .command("show")
    .description("show one agent")
    .argument("<id>")
    .option("--json", jsonHelp)
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/agents.ts")).showAgent(cli, id, { json: !!flags.json })),
    );
  agents
    .command("validate")
    .description("check agent files, or folders of them")
    .argument("<paths...>")
    .option("--json", jsonHelp)
    .action((paths: string[], flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/agents.ts")).validateAgents(cli, paths, { json: !!flags.json }),
      ),
    );
}

function addInspect(program: Command, runCommand: RunCommand): void {
  const inspect = program.command("inspect").description("how troupe works inside");
  inspect
    .command("machine")
    .description("print a state machine as a Mermaid diagram")
    .argument("[name]", "agent, delegation or batch", "agent")
    .option("--json", "print the XState definition as one JSON object")
    .action((name: string, flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/inspect.ts")).inspectMachine(cli, name, { json: !!flags.json }),
      ),
    );
}

function addConfig(program: Command, runCommand: RunCommand): void {
  const config = program.command("config").description("what is configured in this folder, and who says so");
  config
    .command("list")
    .description("list everything that holds; the value of a key is never shown")
    .option("--show-origin", "say where each setting comes from")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag & { showOrigin?: true }) =>
      runCommand(async (cli) => {
        const { listConfig } = await import("../commands/config.ts");
        return listConfig(cli, { showOrigin: !!flags.showOrigin, json: !!flags.json });
      }),
    );
  config
    .command("get")
    .description("print one setting, or all below a key")
    .argument("<key>", "as troupe config list names it")
    .option("--json", jsonArrayHelp)
    .action((key: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/config.ts")).getConfig(cli, key, { json: !!flags.json })),
    );
  config
    .command("path")
    .description("print where your configuration is, or would be")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/config.ts")).configPath(cli, { json: !!flags.json })),
    );
  config
    .command("init")
    .description("write your configuration, with every setting explained; never over one that is there")
    .action(() => runCommand(async (cli) => (await import("../commands/config.ts")).initConfig(cli)));
}

function addModels(program: Command, runCommand: RunCommand): void {
  const models = program.command("models").description("which models can be asked");
  models
    .command("ls")
    .description("list providers and their models, with prices; and which one answers by default")
    .option("--json", jsonHelp)
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/models.ts")).listModels(cli, { json: !!flags.json })),
    );
  models
    .command("test")
    .description("ask a model live for what an agent needs: an answer, a stream, a tool call, its whole context")
    .argument("[id]", "provider/model, an alias or a name of the map (default: the one that answers by default)")
    .option("--json", jsonHelp)
    .action((id: string | undefined, flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/models.ts")).testModel(cli, id ?? null, { json: !!flags.json }),
      ),
    );
}
