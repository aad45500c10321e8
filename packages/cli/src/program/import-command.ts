import type { Command } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

interface ImportOptions extends JsonFlag {
  name: string;
  out?: string;
  prompts?: string;
  entry?: string;
}

/** `troupe teams import`, in the group of the commands about teams. */
export function addTeamImport(teams: Command, runCommand: RunCommand): void {
  teams
    .command("import")
    .description("make a team of AgentRoles in an appsettings.json; never overwrites a file")
    .argument("<file>", "the appsettings.json")
    .option("--name <name>", "name of the team: small letters, digits and -", "imported")
    .option("--out <folder>", "new folder of the team (default: .troupe/teams/NAME of this folder)")
    .option("--prompts <folder>", "folder that SystemPromptFile starts at (default: the folder of the file)")
    .option("--entry <role>", "role that gets the request (default: main)")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe teams import appsettings.json --name my-team"))
    .action((file: string, { json, ...options }: ImportOptions) =>
      runCommand(async (cli) => {
        const { importTeam } = await import("../commands/import-team.ts");
        return importTeam(cli, file, { ...options, json: !!json });
      }),
    );
}
