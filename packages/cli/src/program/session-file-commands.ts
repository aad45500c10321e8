import { type Command, Option } from "commander";
import { example, idHelp, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

interface ExportOptions extends JsonFlag {
  format: "jsonl" | "md" | "html" | "otlp" | "mermaid";
  out?: string;
  force?: true;
}

/** The commands that turn sessions into files and back, and that copy, compare and remove whole sessions. */
export function addSessionFileCommands(sessions: Command, runCommand: RunCommand): void {
  addExportAndImport(sessions, runCommand);
  addForkAndDiff(sessions, runCommand);
  sessions
    .command("rm")
    .description("delete settled sessions with their conversations and kept files; asks first")
    .argument("<sessions...>", idHelp)
    .option("--yes", "delete without asking")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions rm 0199c2a4 --yes"))
    .action((given: string[], flags: JsonFlag & { yes?: true }) =>
      runCommand(async (cli) => {
        const { removeSessions } = await import("../commands/session-remove.ts");
        return removeSessions(cli, given, { yes: !!flags.yes, json: !!flags.json });
      }),
    );
}

function addExportAndImport(sessions: Command, runCommand: RunCommand): void {
  sessions
    .command("export")
    .description("write a session as a file: to import it elsewhere, to read it, or for other programs")
    .argument("<session>", idHelp)
    .addOption(
      new Option(
        "--format <format>",
        "jsonl: all of it, for import; md or html: to read; otlp: spans; mermaid: a diagram of the delegations",
      )
        .choices(["jsonl", "md", "html", "otlp", "mermaid"])
        .default("jsonl"),
    )
    .option("--out <file>", "file to write (default: print it)")
    .option("--force", "overwrite the file if it exists")
    .option("--json", `${jsonHelp}; only with --out`)
    .addHelpText("after", example("troupe sessions export 0199c2a4 --format html --out session.html"))
    .action((session: string, flags: ExportOptions) =>
      runCommand(async (cli) => {
        const { exportSession } = await import("../commands/session-export.ts");
        const { format, out = null, force, json } = flags;
        return exportSession(cli, session, { format, out, force: !!force, json: !!json });
      }),
    );
  sessions
    .command("import")
    .description("store a session that was exported as jsonl; verifies every hash of it first")
    .argument("<file>", "file that troupe sessions export has written, or - for standard input")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions import session.jsonl"))
    .action((file: string, flags: JsonFlag) =>
      runCommand(async (cli) => {
        const { importSession } = await import("../commands/session-import.ts");
        return importSession(cli, file, { json: !!flags.json });
      }),
    );
}

function addForkAndDiff(sessions: Command, runCommand: RunCommand): void {
  sessions
    .command("fork")
    .description("start a new session with the finished part of another one; no finished call is repeated")
    .argument("<session>", idHelp)
    .requiredOption("--at <run/step>", "the last step to keep, such as 0199c2a4/2; step 0 is the start of the run")
    .option("--task <text>", "message that the new session reads before it goes on")
    .option("--json", jsonHelp)
    .addHelpText("after", example('troupe sessions fork 0199c2a4 --at 0199c2a4/2 --task "Use the other library"'))
    .action((session: string, flags: JsonFlag & { at: string; task?: string }) =>
      runCommand(async (cli) => {
        const { forkSession } = await import("../commands/session-fork.ts");
        return forkSession(cli, session, { at: flags.at, task: flags.task ?? null, json: !!flags.json });
      }),
    );
  sessions
    .command("diff")
    .description("compare two sessions: their runs, steps, calls, answers and costs; exits with 1 if they differ")
    .argument("<session>", idHelp)
    .argument("<other>", idHelp)
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe sessions diff 0199c2a4 0199c2b7"))
    .action((one: string, other: string, flags: JsonFlag) =>
      runCommand(async (cli) => {
        const { diffSessions } = await import("../commands/session-diff.ts");
        return diffSessions(cli, one, other, { json: !!flags.json });
      }),
    );
}
