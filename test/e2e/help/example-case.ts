import type { Shop } from "./shop.ts";

/** The execution of one example of the help, and the signs of its success. */
export interface ExampleCase {
  /** Makes the agents, sessions and files that the example names. It runs before each execution: as written, and once more with `--json`. */
  prepare?(shop: Shop): Promise<Prepared | undefined>;
  /** A characteristic part of its output. */
  shows: RegExp;
  /** @default 0 */
  code?: number;
  /** @default as `code` */
  jsonCode?: number;
  /** A command that does not end: Ctrl-C is sent after this was shown. */
  endsAfter?: RegExp;
  /** The URL that a browser opens while the command waits. */
  opens?: RegExp;
  /** The key that the user presses at a question on a terminal. */
  types?: { at: RegExp; key: string };
  /** Both executions at the same time, because each waits most of its time. */
  atOnce?: true;
  /** Variables that Node itself reads need a process. */
  ownProcess?: true;
}

export interface Prepared {
  /** Words of the example that are other here, such as ids that the user copies from a list. */
  words?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  /** Standard input, for a secret that the user would type. */
  input?: string;
}

/** By the line of the example. */
export type ExampleCases = Readonly<Record<string, ExampleCase>>;
