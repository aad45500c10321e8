import type { Command } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

/** The commands about the stores of a home as a whole. */
export function addStoreCommands(program: Command, runCommand: RunCommand): void {
  program
    .command("backup")
    .description("save all sessions, kept files, approval rules and settings of the home in one file; a daemon can run")
    .argument("<file>", "file to write; it contains no key and no token")
    .option("--force", "overwrite the file if it exists")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe backup troupe.backup"))
    .action((file: string, flags: JsonFlag & { force?: true }) =>
      runCommand(async (cli) => {
        const { backup } = await import("../commands/backup.ts");
        return backup(cli, file, { force: !!flags.force, json: !!flags.json });
      }),
    );
  program
    .command("restore")
    .description("restore a backup into the home; unfinished sessions continue at the next troupe up")
    .argument("<file>", "file that troupe backup has written")
    .option("--force", "replace the sessions of the home; they are moved to a folder in it")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe restore troupe.backup"))
    .action((file: string, flags: JsonFlag & { force?: true }) =>
      runCommand(async (cli) => {
        const { restore } = await import("../commands/backup.ts");
        return restore(cli, file, { force: !!flags.force, json: !!flags.json });
      }),
    );
  const record = program
    .command("record")
    .description("check and rebuild the record, the SQLite file that people query");
  const commands = () => import("../commands/record.ts");
  record
    .command("verify")
    .description("check every hash, and compare the record with the journal; exits with 1 if something is wrong")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe record verify"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).verifyHomeRecord(cli, { json: !!flags.json })),
    );
  record
    .command("rebuild")
    .description("make the record again from the journal; needs a stopped daemon")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe record rebuild"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).rebuildHomeRecord(cli, { json: !!flags.json })),
    );
}
