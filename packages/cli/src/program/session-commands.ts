import { type Command, Option } from "commander";
import { addSessionFileCommands } from "./session-file-commands.ts";
import { example, idHelp, type JsonFlag, jsonArrayHelp, jsonHelp, type RunCommand } from "./shared-options.ts";

/** The commands about sessions as a whole: list, show, replay, and their files. */
export function addSessionCommands(program: Command, runCommand: RunCommand): void {
  const sessions = program
    .command("sessions")
    .description("list, show, replay, export, fork and remove sessions, and exchange files with their agents");
  sessions
    .command("ls")
    .description("list sessions, newest first")
    .option("--limit <number>", "number of sessions", "20")
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe sessions ls --limit 50"))
    .action((flags: JsonFlag & { limit: string }) =>
      runCommand(async (cli) => {
        const [{ listSessions }, options] = await Promise.all([
          import("../commands/sessions.ts"),
          import("./flags.ts"),
        ]);
        return listSessions(cli, { limit: options.parseLimit(flags.limit), json: !!flags.json });
      }),
    );
  sessions
    .command("show")
    .description("show a session and its answer")
    .argument("<session>", idHelp)
    .option("--tree", "show the tree of runs instead of the answer")
    .option("--diff", "also show the diff of each changed file")
    .addOption(
      new Option(
        "--log",
        "show the whole conversation: requests, replies, calls with arguments, and results",
      ).conflicts(["tree", "diff"]),
    )
    .option("--run <run>", "with --log: the conversation of this run (default: the first run of each turn)")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions show 0199c2a4 --tree"))
    .action((session: string, flags: JsonFlag & { tree?: true; diff?: true; log?: true; run?: string }) =>
      runCommand(async (cli) => {
        if (flags.log || flags.run !== undefined) {
          const { showLog } = await import("../commands/session-log.ts");
          return showLog(cli, { session, run: flags.run ?? null }, { json: !!flags.json });
        }
        const { showSession } = await import("../commands/sessions.ts");
        return showSession(cli, session, { tree: !!flags.tree, diff: !!flags.diff, json: !!flags.json });
      }),
    );
  addReplay(sessions, runCommand);
  addSessionFileCommands(sessions, runCommand);
  addFiles(sessions, runCommand);
}

function addReplay(sessions: Command, runCommand: RunCommand): void {
  sessions
    .command("replay")
    .description(
      "run a recorded session again offline, with its recorded model and tool results; exits with 1 if it differs",
    )
    .argument("<session>", idHelp)
    .addOption(
      new Option("--agents <which>", "pinned: the agents and tools of then; current: those of now")
        .choices(["pinned", "current"])
        .default("pinned"),
    )
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions replay 0199c2a4"))
    .action((session: string, flags: JsonFlag & { agents: "pinned" | "current" }) =>
      runCommand(async (cli) => {
        const { replay } = await import("../commands/replay.ts");
        return replay(cli, session, { current: flags.agents === "current", json: !!flags.json });
      }),
    );
}

/** The commands about the files on the workbench of a session. */
function addFiles(sessions: Command, runCommand: RunCommand): void {
  const commands = () => import("../commands/session-files.ts");
  sessions
    .command("files")
    .description("list the files that the runs of a session and people share")
    .argument("<session>", idHelp)
    .option("--json", jsonArrayHelp)
    .addHelpText("after", example("troupe sessions files 0199c2a4"))
    .action((session: string, flags: JsonFlag) =>
      runCommand(async (cli) => (await commands()).listSessionFiles(cli, session, { json: !!flags.json })),
    );
  sessions
    .command("upload")
    .description("share a file with the runs of a session, which read it with workbench_download")
    .argument("<session>", idHelp)
    .argument("<file>", "file of this machine, at most 16 MiB")
    .argument("[name]", "name in the session (default: the name of the file); replaces a file with this name")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions upload 0199c2a4 logo.png images/logo.png"))
    .action((session: string, path: string, name: string | undefined, flags: JsonFlag) =>
      runCommand(async (cli) =>
        (await commands()).uploadFile(cli, { session, path, name: name ?? null }, { json: !!flags.json }),
      ),
    );
  sessions
    .command("download")
    .description("copy a shared file of a session to this machine")
    .argument("<session>", idHelp)
    .argument("<name>", "name from troupe sessions files")
    .argument("[file]", "file to write (default: the last part of the name, in the current folder)")
    .option("--force", "overwrite the file if it exists")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions download 0199c2a4 report.html"))
    .action((session: string, name: string, path: string | undefined, flags: JsonFlag & { force?: true }) =>
      runCommand(async (cli) => {
        const { force, json } = flags;
        return (await commands()).downloadFile(
          cli,
          { session, name, path: path ?? null },
          { force: !!force, json: !!json },
        );
      }),
    );
}
