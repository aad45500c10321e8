import { type Command, InvalidArgumentError } from "commander";
import { type JsonFlag, jsonHelp, type NatsOptions, type RunCommand } from "./shared-options.ts";

type Options = JsonFlag & NatsOptions;

/** `nats check`, `nats purge` and `nats restore`: what a person does about the streams on a server. */
export function addNatsCommands(program: Command, runCommand: RunCommand): void {
  const nats = program.command("nats").description("the streams of a namespace on a NATS server");
  const load = async (options: Options) => {
    const [commands, { parseNats }] = await Promise.all([import("../commands/nats.ts"), import("./flags.ts")]);
    return { ...commands, flags: { json: !!options.json, nats: parseNats(options) } };
  };
  addServer(nats.command("check"))
    .description("look at them: what is missing or set up in another way, and how far each recorder is")
    .option("--json", jsonHelp)
    .action((options: Options) =>
      runCommand(async (cli) => {
        const { checkStreams, flags } = await load(options);
        return checkStreams(cli, flags);
      }),
    );
  addServer(nats.command("purge"))
    .description("let go of sessions that settled long ago and that every recorder has; daemons do so by themselves")
    .option("--older-than <days>", "settled so long ago (default: nats.keepDays of your configuration, or 7)", days)
    .option("--dry-run", "only say what would be done")
    .option("--json", jsonHelp)
    .action((options: Options & { olderThan?: number; dryRun?: true }) =>
      runCommand(async (cli) => {
        const { purgeStream, flags } = await load(options);
        return purgeStream(cli, { ...flags, olderThanDays: options.olderThan ?? null, dryRun: !!options.dryRun });
      }),
    );
  addServer(nats.command("restore"))
    .description(
      "put a journal that was lost back from this home's record. Stop every daemon and worker of the namespace first; may be stopped and begun again, and done from several homes one after the other",
    )
    .option("--without-damaged", "leave out sessions of which the record has not all, instead of refusing")
    .option("--all", "also what settled so long ago that it would be purged")
    .option("--json", jsonHelp)
    .action((options: Options & { withoutDamaged?: true; all?: true }) =>
      runCommand(async (cli) => {
        const { restoreStream, flags } = await load(options);
        return restoreStream(cli, { ...flags, withoutDamaged: !!options.withoutDamaged, all: !!options.all });
      }),
    );
}

function addServer(command: Command): Command {
  return command
    .option("--nats <url>", "address of the server (NATS_URL, or nats in your configuration)")
    .option("--context [name]", "a context of the NATS command line; without a name the selected one")
    .option("--namespace <name>", 'which of several troupes on that server (default: "troupe")');
}

function days(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("give a number of days, such as 7");
}
