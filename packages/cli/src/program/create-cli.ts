import { isatty } from "node:tty";
import { locateHome } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { terminalKeyboard } from "../terminal/keyboard.ts";
import { openPage } from "../terminal/open-page.ts";
import { standardInput } from "../terminal/piped-input.ts";
import { systemProcesses } from "../terminal/processes.ts";

/** The environment of a command, from this process. */
export function createCli(parts: Pick<Cli, "version" | "terminal" | "interrupts" | "composition">): Cli {
  const { env } = process;
  const cwd = process.cwd();
  return {
    ...parts,
    env,
    cwd,
    home: locateHome({ env, cwd }),
    stdin: standardInput(),
    keyboard: terminalKeyboard({
      isTerminal: isatty(0),
      input: () => process.stdin,
      interrupt: () => process.kill(process.pid, "SIGINT"),
    }),
    now: Date.now,
    processes: systemProcesses({ env, cwd }),
    openPage: (url) => openPage(url, env),
  };
}
