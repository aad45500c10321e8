import type { Command } from "commander";
import { addTeamImport } from "./import-command.ts";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

const nameHelp = "team from troupe teams ls";

/** The commands about teams. */
export function addTeamCommands(program: Command, runCommand: RunCommand): void {
  const teams = program.command("teams").description("list, show, choose, create and check teams of agents");
  teams
    .command("ls")
    .description("list the teams of this folder, and problems in their files")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe teams ls"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/teams.ts")).listTeams(cli, { json: !!flags.json })),
    );
  teams
    .command("show")
    .description("show a team and its agents")
    .argument("<name>", nameHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe teams show coding"))
    .action((name: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/teams.ts")).showTeam(cli, name, { json: !!flags.json })),
    );
  addUse(teams, runCommand);
  addNew(teams, runCommand);
  addTeamImport(teams, runCommand);
  teams
    .command("validate")
    .description("check teams; exits with 3 on an error")
    .argument("[paths...]", "folders of teams, or of one team (default: .troupe/teams of this folder)")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe teams validate"))
    .action((paths: string[], flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await import("../commands/teams.ts")).validateTeams(cli, paths, { json: !!flags.json }),
      ),
    );
}

function addUse(teams: Command, runCommand: RunCommand): void {
  teams
    .command("use")
    .description("store the default team in your configuration, or remove it with --none")
    .argument("[name]", nameHelp)
    .option("--none", "use no team by default")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe teams use coding"))
    .action((name: string | undefined, flags: JsonFlag & { none?: true }) =>
      runCommand(async (cli) => {
        const [{ useTeam }, options] = await Promise.all([import("../commands/teams.ts"), import("./flags.ts")]);
        return useTeam(cli, options.parseTeamChoice(name, !!flags.none), { json: !!flags.json });
      }),
    );
}

function addNew(teams: Command, runCommand: RunCommand): void {
  teams
    .command("new")
    .description("create a team in .troupe/teams of this folder; never overwrites a file")
    .argument("<name>", "small letters, digits and -")
    .option("--from <team>", "copy the files of this team")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe teams new report"))
    .action((name: string, flags: JsonFlag & { from?: string }) =>
      runCommand(async (cli) => {
        const { newTeam } = await import("../commands/new-team.ts");
        return newTeam(cli, name, { from: flags.from, json: !!flags.json });
      }),
    );
}
