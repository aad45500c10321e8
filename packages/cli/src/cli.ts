import type { Home } from "troupe/internal";
import type { Interrupts } from "./interrupts.ts";
import type { Keyboard } from "./keyboard.ts";
import type { PipedInput } from "./piped-input.ts";
import type { Terminal } from "./terminal.ts";
import type { Composition } from "./troupe.ts";

/** The world that a command runs in: everything of the process that it touches. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  cwd: string;
  home: Home;
  version: string;
  terminal: Terminal;
  stdin: PipedInput;
  keyboard: Keyboard;
  interrupts: Interrupts;
  composition: Composition;
  /** Wall clock, in ms. */
  now(): number;
  /** Shows a page to the user; false when nothing could be started. */
  openPage(url: string): Promise<boolean>;
}
