import type { Command } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

/** The commands that look after a daemon in the background: `down`, `ps` and `logs`. */
export function addDaemonCommands(program: Command, runCommand: RunCommand): void {
  addDown(program, runCommand);
  addPs(program, runCommand);
  addLogs(program, runCommand);
}

function addDown(program: Command, runCommand: RunCommand): void {
  program
    .command("down")
    .description("stop the daemon; unfinished sessions continue at its next start")
    .option("--timeout <duration>", "time to wait until it has stopped: 30s, 5m, or milliseconds", "30s")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe down"))
    .action((flags: JsonFlag & { timeout: string }) =>
      runCommand(async (cli) => {
        const [{ down }, { parseTimeoutMs }] = await Promise.all([
          import("../commands/background.ts"),
          import("./flags.ts"),
        ]);
        return down(cli, { json: !!flags.json, timeoutMs: parseTimeoutMs(flags.timeout) });
      }),
    );
}

function addPs(program: Command, runCommand: RunCommand): void {
  program
    .command("ps")
    .description("show the daemon, and the sessions and runs under way")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe ps"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => (await import("../commands/ps.ts")).ps(cli, { json: !!flags.json })),
    );
}

interface LogsOptions extends JsonFlag {
  follow?: true;
  run?: string;
  host?: string;
  level: string;
  lines: string;
}

function addLogs(program: Command, runCommand: RunCommand): void {
  program
    .command("logs")
    .description("print the newest lines of the daemon's log")
    .option("-f, --follow", "go on with every further line until Ctrl-C")
    .option("--run <id>", "only lines about this session or run; the beginning of its id is enough")
    .option("--host <name>", "the log of this worker of the machine, instead of the daemon's")
    .option("--level <name>", "lowest level: trace, debug, info, warn, error, fatal", "info")
    .option("-n, --lines <number>", "number of newest lines", "100")
    .option("--json", "print the lines as they are stored, one JSON object each")
    .addHelpText("after", example("troupe logs --level warn"))
    .action((flags: LogsOptions) =>
      runCommand(async (cli) => {
        const [{ logs, parseLevel }, { parseLines }] = await Promise.all([
          import("../commands/logs.ts"),
          import("./flags.ts"),
        ]);
        return logs(cli, {
          follow: !!flags.follow,
          run: flags.run ?? null,
          host: flags.host ?? null,
          level: parseLevel(flags.level),
          lines: parseLines(flags.lines),
          json: !!flags.json,
        });
      }),
    );
}
