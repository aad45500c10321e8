import { leaseMsDefault } from "@troupe/core/internal";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";

/** The flags that say where the others are, as commander reads them. */
export interface NatsOptions {
  nats?: string;
  context?: string | true;
  namespace?: string;
  place?: string;
  lease?: string;
}

/** For commands that ask those who are on a server, without being one of them. */
export function addServerOptions(command: Command): Command {
  return command
    .option("--nats <url>", "ask the hosts on that NATS server themselves, without a daemon")
    .option("--context [name]", "the same by a context of the NATS command line; without a name the selected one")
    .option("--namespace <name>", 'which of several troupes on that server (default: "troupe")');
}

/** For every command that may be one of several processes. */
export function addNatsOptions(command: Command, natsHelp: string): Command {
  return command
    .option("--nats <url>", `${natsHelp} (NATS_URL, or nats in your configuration)`)
    .option("--context [name]", "a context of the NATS command line, or its file; without a name the selected one")
    .option("--namespace <name>", 'keeps several troupes on one server apart (default: "troupe")')
    .option("--place <name>", "name of the disk that workspaces are on (default: one for this machine)")
    .option("--lease <ms>", `how long a task stays with a host that has died (default: ${leaseMsDefault})`);
}

/** Has a command done, once the world that it runs in is made. */
export type RunCommand = (command: (cli: Cli) => Promise<number>) => Promise<void>;

export interface JsonFlag {
  json?: true;
}

export const jsonHelp = "print one JSON object on stdout";
export const jsonArrayHelp = "print one JSON array on stdout";
export const idHelp = "id, or enough of its beginning";
