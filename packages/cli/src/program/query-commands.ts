import type { Command } from "commander";
import { addSessionCommands } from "./session-commands.ts";
import { example, idHelp, type JsonFlag, jsonArrayHelp, jsonHelp, type RunCommand } from "./shared-options.ts";
import { addTeamCommands } from "./team-commands.ts";

/** The commands that only read. */
export function addQueryCommands(program: Command, runCommand: RunCommand): void {
  addSessionCommands(program, runCommand);
  addExplain(program, runCommand);
  addAgents(program, runCommand);
  addTeamCommands(program, runCommand);
  addInspect(program, runCommand);
  addModels(program, runCommand);
  addConfig(program, runCommand);
  program
    .command("doctor")
    .description("check everything that a run needs, with a fix for each problem")
    .option("--fix", "first make the safe repairs: permissions, leftovers of killed processes, and the record")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe doctor --fix"))
    .action((flags: JsonFlag & { fix?: true }) =>
      runCommand(async (cli) =>
        (await import("../commands/doctor.ts")).doctor(cli, { json: !!flags.json, fix: !!flags.fix }),
      ),
    );
}

function addExplain(program: Command, runCommand: RunCommand): void {
  program
    .command("explain")
    .description(
      "show what a run was asked, how far it is, which tools and agents it may use, and which layer denies the others",
    )
    .argument("<run>", `${idHelp}; a session stands for its first run`)
    .argument("[tool]", "show only this tool or agent")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe explain 0199c2a4 shell"))
    .action((run: string, tool: string | undefined, flags: JsonFlag) =>
      runCommand(async (cli) => {
        const { explain } = await import("../commands/explain.ts");
        return explain(cli, run, tool ?? null, { json: !!flags.json });
      }),
    );
}

function addAgents(program: Command, runCommand: RunCommand): void {
  const agents = program.command("agents").description("list, show, check, write and change agents");
  agents
    .command("ls")
    .description("list the agents of this folder without a team, and problems in their files")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe agents ls"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/agents.ts")).listAgents(cli, { json: !!flags.json })),
    );
  agents
    .command("show")
    .description("show the definition and prompt of an agent")
    .argument("<id>", "agent from troupe agents ls, or team/agent")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe agents show main"))
    .action((id: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/agents.ts")).showAgent(cli, id, { json: !!flags.json })),
    );
  agents
    .command("stats")
    .description("show success, median time and median cost of each agent's settled runs, also under each parent")
    .option("--since <duration>", "how far back, such as 30d or 12h", "90d")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe agents stats --since 30d"))
    .action((flags: JsonFlag & { since: string }) =>
      runCommand(async (cli) => {
        const [{ showAgentStats }, { parseSince }] = await Promise.all([
          import("../commands/agent-stats.ts"),
          import("./flags.ts"),
        ]);
        return showAgentStats(cli, { sinceMs: parseSince(flags.since), json: !!flags.json });
      }),
    );
  agents
    .command("validate")
    .description("check agent files; exits with 3 on an error")
    .argument("[paths...]", "agent files, or folders of them (default: the agent folders of this folder)")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe agents validate"))
    .action((paths: string[], flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/agents.ts")).validateAgents(cli, paths, { json: !!flags.json }),
      ),
    );
  addAgentFiles(agents, runCommand);
}

function addAgentFiles(agents: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/agent-files.ts");
  agents
    .command("new")
    .description("write a commented agent file into .troupe/agents of this folder; never overwrites a file")
    .argument("<name>", "id of the new agent: letters, digits, - and _")
    .option("--from <agent>", "copy the file of this agent (default: a template)")
    .option("--description <text>", "when other agents should delegate to it")
    .option("--json", jsonHelp)
    .addHelpText("after", example('troupe agents new archivist --description "Files finished documents"'))
    .action((name: string, flags: JsonFlag & { from?: string; description?: string }) =>
      runCommand(async (cli) => {
        const { from = null, description = null } = flags;
        return (await commands()).newAgent(cli, name, { from, description, json: !!flags.json });
      }),
    );
  agents
    .command("set")
    .description("change one key of an agent's file; comments and all other keys stay as they are")
    .argument("<id>", "agent id from troupe agents ls")
    .argument("<key>", "a key of agent files, such as model, tools or maxIterations")
    .argument("<value>", "the value as in YAML, such as haiku or [read, write]")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe agents set archivist model haiku"))
    .action((id: string, key: string, value: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).setAgentKey(cli, { id, key, value }, { json: !!flags.json })),
    );
  for (const [name, text] of [
    ["enable", "let agents and sessions use an agent again"],
    ["disable", "keep an agent in the list, but let no agent and no session use it"],
  ] as const) {
    agents
      .command(name)
      .description(text)
      .argument("<id>", "agent id from troupe agents ls")
      .option("--json", jsonHelp)
      .addHelpText("after", example(`troupe agents ${name} archivist`))
      .action((id: string, flags: JsonFlag) =>
        runCommand(async (cli) => (await commands()).switchAgent(cli, id, name === "enable", { json: !!flags.json })),
      );
  }
}

function addInspect(program: Command, runCommand: RunCommand): void {
  const inspect = program.command("inspect").description("print troupe's state machines");
  inspect
    .command("machine")
    .description("print a state machine as a Mermaid diagram")
    .argument("[name]", "agent, delegation or batch", "agent")
    .option("--json", "print the XState definition as one JSON object")
    .addHelpText("after", example("troupe inspect machine agent"))
    .action((name: string, flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/inspect.ts")).inspectMachine(cli, name, { json: !!flags.json }),
      ),
    );
}

function addConfig(program: Command, runCommand: RunCommand): void {
  const config = program.command("config").description("show and create the configuration");
  config
    .command("list")
    .description("list the settings that apply in this folder; values of keys are never shown")
    .option("--show-origin", "show the origin of each setting: flag, variable, file and line, or default")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe config list --show-origin"))
    .action((flags: JsonFlag & { showOrigin?: true }) =>
      runCommand(async (cli) => {
        const { listConfig } = await import("../commands/config.ts");
        return listConfig(cli, { showOrigin: !!flags.showOrigin, json: !!flags.json });
      }),
    );
  config
    .command("get")
    .description("print one setting, or every setting below a key")
    .argument("<key>", "a key from troupe config list")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe config get model"))
    .action((key: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/config.ts")).getConfig(cli, key, { json: !!flags.json })),
    );
  config
    .command("path")
    .description("print the path of your configuration")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe config path"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/config.ts")).configPath(cli, { json: !!flags.json })),
    );
  config
    .command("init")
    .description("create your configuration with every setting explained; never overwrites a file")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe config init"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/config.ts")).initConfig(cli, { json: !!flags.json })),
    );
}

function addModels(program: Command, runCommand: RunCommand): void {
  const models = program.command("models").description("list and test models");
  models
    .command("ls")
    .description("list providers, models, prices and the default model")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe models ls"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/models.ts")).listModels(cli, { json: !!flags.json })),
    );
  models
    .command("test")
    .description("call a model and check that agents can use it: answer, streaming, tool call, context size")
    .argument(
      "[id]",
      "provider/model, an alias, or a name from models in your configuration (default: the default model)",
    )
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe models test anthropic/claude-sonnet-5"))
    .action((id: string | undefined, flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/models.ts")).testModel(cli, id ?? null, { json: !!flags.json }),
      ),
    );
}
