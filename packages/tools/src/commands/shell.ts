import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { parseCommandLine } from "./command-line/parse-command-line.ts";
import { commandHint, commandResult, refuseNul, startFolder } from "./command-result.ts";
import { commandConsent, commandFiles, commandOutward, commandRisk } from "./command-risk.ts";

const captureBytesMax = 1024 * 1024;

/**
 * Creates the tool that runs a shell command in the workspace, in a sandbox if the machine has one.
 *
 * @example
 * const shell = createShellTool({ sandbox: await createSandbox() });

 */
export function createShellTool({ sandbox }: { sandbox: Sandbox }): Tool {
  return defineTool({
    name: "shell",
    description:
      "Runs a command with /bin/sh. It has no standard input, no secrets and usually no network; its background " +
      "processes are stopped when it ends. It names changed files. Prefer the tools for files, git and " +
      "tests.",
    input: z.strictObject({
      command: z.string().min(1).max(100_000),
      timeoutMs: z.int().min(1).max(600_000).default(60_000),
      folder: z.string().min(1).max(4_096).optional().describe("Where it starts"),
    }),
    risk: "medium",
    riskOf: () => commandRisk(sandbox),
    consent: (_args, { grant }) => commandConsent(sandbox, grant),
    outwardOf: () => commandOutward(sandbox),
    commandsOf: ({ command }) => parseCommandLine(command),
    ...commandFiles(sandbox, ({ command, folder }: { command: string; folder?: string | undefined }) => ({
      line: command,
      ...(folder === undefined ? {} : { folder }),
    })),
    effect: "unsafe",
    groups: ["shell"],
    async run({ command, timeoutMs, folder }, { session, workspace, grant, signal }) {
      refuseNul(command, "the command");
      const end = await sandbox.run({
        argv: ["/bin/sh", "-c", command],
        workspace,
        session,
        folder: await startFolder(workspace, folder),
        writes: grant.writes,
        timeoutMs,
        signal,
        captureBytesMax,
      });
      return commandResult(end, timeoutMs, commandHint(end, { sandbox, grant }));
    },
  });
}
