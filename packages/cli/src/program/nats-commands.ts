import type { Command } from "commander";
import {
  addServerOptions,
  example,
  type JsonFlag,
  jsonHelp,
  type NatsOptions,
  type RunCommand,
} from "./shared-options.ts";

type Options = JsonFlag & NatsOptions;

const serverHelp = "NATS server URL (default: NATS_URL, or nats in your configuration)";

/** `nats check`, `nats purge` and `nats restore`: maintenance of the streams on a server. */
export function addNatsCommands(program: Command, runCommand: RunCommand): void {
  const nats = program.command("nats").description("check, purge and restore the streams on a NATS server");
  const load = async (options: Options) => {
    const [commands, { parseNats }] = await Promise.all([import("../commands/nats.ts"), import("./flags.ts")]);
    return { ...commands, flags: { json: !!options.json, nats: parseNats(options) } };
  };
  addServerOptions(nats.command("check"), serverHelp)
    .description(
      "report missing streams, wrong settings, and how far each recorder is behind; exits with 1 on a problem",
    )
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe nats check --nats nats://host:4222"))
    .action((options: Options) =>
      runCommand(async (cli) => {
        const { checkStreams, flags } = await load(options);
        return checkStreams(cli, flags);
      }),
    );
  addServerOptions(nats.command("purge"), serverHelp)
    .description("delete old settled sessions that every recorder has from the server; daemons do this hourly")
    .option(
      "--older-than <age>",
      "age in days, or a duration such as 36h (default: nats.keepDays of your configuration, or 7)",
    )
    .option("--dry-run", "print the result without deleting anything")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe nats purge --older-than 30 --dry-run"))
    .action((options: Options & { olderThan?: string; dryRun?: true }) =>
      runCommand(async (cli) => {
        const [{ purgeStream, flags }, { parseDays }] = await Promise.all([load(options), import("./flags.ts")]);
        const olderThanDays = options.olderThan === undefined ? null : parseDays("--older-than", options.olderThan);
        return purgeStream(cli, { ...flags, olderThanDays, dryRun: !!options.dryRun });
      }),
    );
  addServerOptions(nats.command("restore"), serverHelp)
    .description(
      "rebuild a lost journal from this home's record. Stop every daemon and worker of the namespace first. You can repeat it, and run it from several homes one after the other",
    )
    .option("--without-damaged", "leave out sessions that are damaged in the record, instead of stopping")
    .option("--all", "also restore sessions that are old enough to be purged")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe nats restore --nats nats://host:4222"))
    .action((options: Options & { withoutDamaged?: true; all?: true }) =>
      runCommand(async (cli) => {
        const { restoreStream, flags } = await load(options);
        return restoreStream(cli, { ...flags, withoutDamaged: !!options.withoutDamaged, all: !!options.all });
      }),
    );
}
