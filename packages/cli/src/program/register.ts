import type { Cli } from "../cli.ts";

/** Has a command done, once the world that it runs in is made. */
export type Act = (command: (cli: Cli) => Promise<number>) => Promise<void>;

export interface JsonFlag {
  json?: true;
}

export const jsonHelp = "print one JSON object on stdout";
export const jsonArrayHelp = "print one JSON array on stdout";
export const idHelp = "id, or enough of its beginning";
