import type { Command } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

/** `setup`, which prepares this machine, and `doctor`, which checks it. */
export function addSetupCommands(program: Command, runCommand: RunCommand): void {
  program
    .command("setup")
    .description(
      "find keys, local model servers, NATS and agents, test them with one short question to a model of each provider, and write your configuration; never overwrites one",
    )
    .option("-y, --yes", "ask nothing: take the first model that works")
    .option("--dry-run", "find and test, but write nothing")
    .option("--json", `${jsonHelp}; writes only with --yes`)
    .addHelpText("after", example("troupe setup --yes"))
    .action((flags: JsonFlag & { yes?: true; dryRun?: true }) =>
      runCommand(async (cli) => {
        const { setup } = await import("../commands/setup.ts");
        return setup(cli, { yes: !!flags.yes, dryRun: !!flags.dryRun, json: !!flags.json });
      }),
    );
}
