import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";

/** Creates the command's environment, then runs the command. */
export type RunCommand = (command: (cli: Cli) => Promise<number>) => Promise<void>;

export interface JsonFlag {
  json?: true;
}

export const jsonHelp = "print one JSON object on stdout";
export const jsonArrayHelp = "print one JSON array on stdout";
export const idHelp = "an id, the beginning of one, or last for the newest session";

/** An example below the help of a command. */
export function example(command: string): string {
  return `\nExample:\n  $ ${command}`;
}

/** The NATS flags as commander reads them. */
export interface NatsOptions {
  nats?: string;
  context?: string | true;
  namespace?: string;
  place?: string;
  lease?: string;
}

/** The flags that name a NATS server, for commands that only ask it. */
export function addServerOptions(command: Command, natsHelp: string): Command {
  return command
    .option("--nats <url>", natsHelp)
    .option("--context [name]", "context of the NATS command line; without a name, the selected one")
    .option("--namespace <name>", 'namespace of the troupe on that server (default: "troupe")');
}

/**
 * The default of `--lease` in the help. `troupe --help` must not load core, so the number is repeated here; a test compares
 * it with `leaseMsDefault`.
 */
export const leaseMsInHelp = 8_000;

/** The NATS flags of a command that runs agents. */
export function addNatsOptions(command: Command, natsHelp: string): Command {
  return command
    .option("--nats <url>", `${natsHelp} (default: NATS_URL, or nats in your configuration)`)
    .option("--context [name]", "context of the NATS command line, or its file; without a name, the selected one")
    .option("--namespace <name>", 'separates several troupes on one server (default: "troupe")')
    .option("--place <name>", "name of the disk that holds the workspaces (default: a name of this machine)")
    .option(
      "--lease <duration>",
      `time after which other hosts take the tasks of a dead host, such as 8s or 8000 ms (default: ${leaseMsInHelp})`,
    );
}

/** The flags of commands that start runs: the model that answers, and the limits of all runs together. */
export function addModelAndBudgetOptions(command: Command): Command {
  return command
    .option("--model <id>", "provider/model, an alias, or a name from models in your configuration (troupe models ls)")
    .addOption(
      new Option(
        "--scenario <name>",
        "play a scripted scenario, by name or file, instead of calling a model",
      ).conflicts("model"),
    )
    .option("--max-tokens <number>", "token limit of all runs together")
    .option("--max-cost <dollars>", "cost limit of all model calls together, in US dollars")
    .option("--max-tool-calls <number>", "limit of tool calls of all runs together")
    .option("--max-runs <number>", "limit of sub-runs, including retries");
}
