import type { Command } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

const importHelp = `
Reads mail (.eml, .mbox), events (.ics), contacts (.vcf) and export zips of Slack. The same file
again adds nothing. Exits with 1 if a file, or a part of one, was left out or read only in part.

Example:
  $ troupe office import archive.mbox calendar.ics contacts.vcf`;

/** The commands about the local office: mail, calendar, contacts and channels without an account. */
export function addOfficeCommands(program: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/office.ts");
  const office = program
    .command("office")
    .description("fill, show and delete the local office: mail, calendar, contacts and channels without an account");
  office
    .command("seed")
    .description("fill an empty office with a sample company, with dates around today")
    .option("--seed <number>", "varies hours and minutes; the same seed gives the same office", "1")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe office seed"))
    .action((flags: JsonFlag & { seed: string }) =>
      runCommand(async (cli) => {
        const { parseSeed } = await import("./flags.ts");
        return (await commands()).seedOffice(cli, { seed: parseSeed(flags.seed), json: !!flags.json });
      }),
    );
  office
    .command("import")
    .description("read files of your mail, calendar, contacts and Slack into the office")
    .argument("<files...>", ".eml, .mbox, .ics and .vcf files, and export zips of Slack")
    .option("--json", jsonHelp)
    .addHelpText("after", importHelp)
    .action((files: string[], flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).importOffice(cli, files, { json: !!flags.json })),
    );
  office
    .command("status")
    .description("show the folder, the user and the content of the office")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe office status"))
    .action((flags: JsonFlag) => runCommand(async (cli) => (await commands()).showOffice(cli, { json: !!flags.json })));
  office
    .command("reset")
    .description("delete the local office; connected accounts stay")
    .option("--yes", "delete without asking")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe office reset --yes"))
    .action((flags: JsonFlag & { yes?: true }) =>
      runCommand(async (cli) => (await commands()).resetOffice(cli, { yes: !!flags.yes, json: !!flags.json })),
    );
}
