import { RunFailure } from "@troupe/core";
import { z } from "zod";
import type { CommandEnd, Sandbox } from "../../sandbox/sandbox.ts";
import { defineTool, type Tool, type ToolResult } from "../define-tool.ts";

const captureBytesMax = 1024 * 1024;

/**
 * Runs a command in the workspace, in a sandbox where the machine has one.
 *
 * @example
 * const shell = createShellTool({ sandbox: await createSandbox() });
 */
export function createShellTool({ sandbox }: { sandbox: Sandbox }): Tool {
  return defineTool({
    name: "shell",
    description:
      "Runs a command with /bin/sh in the workspace and gives its exit code and output. It has no standard input and " +
      "no secrets in its environment; whatever it leaves running in the background is stopped when it ends.",
    input: z.strictObject({
      command: z.string().min(1).max(100_000).describe("The command line"),
      timeoutMs: z.int().min(1).max(600_000).default(60_000).describe("After this time it is stopped"),
    }),
    risk: "medium",
    effect: "unsafe",
    groups: ["shell"],
    async run({ command, timeoutMs }, { workspace, grant, signal }) {
      if (command.includes("\0")) {
        throw new RunFailure({ type: "params", message: "the command has a NUL character in it", recoverable: false });
      }
      const end = await sandbox.run({
        argv: ["/bin/sh", "-c", command],
        workspace,
        writes: grant.writes,
        timeoutMs,
        signal,
        captureBytesMax,
      });
      return resultOf(end, timeoutMs);
    },
  });
}

/** How it ended comes first: the end of a long output is what is cut. */
function resultOf(end: CommandEnd, timeoutMs: number): ToolResult {
  const how = describeEnd(end, timeoutMs);
  const dropped = end.droppedBytes > 0 ? `\n[${end.droppedBytes} further bytes of output were not kept]` : "";
  const output = `${how}\n${end.output || "[no output]"}${dropped}`;
  switch (end.reason) {
    case "timeout":
      return { output, error: { type: "timeout", message: how, recoverable: true } };
    case "aborted":
      return { output, error: { type: "cancelled", message: how, recoverable: false } };
    case "exited":
      return end.code === 0
        ? { output }
        : { output, error: { type: "tool_error", message: `the command ended with ${how}`, recoverable: true } };
  }
}

function describeEnd(end: CommandEnd, timeoutMs: number): string {
  if (end.reason === "timeout") return `stopped: not done after ${timeoutMs} ms`;
  if (end.reason === "aborted") return "stopped: cancelled";
  return end.code === null ? `signal ${end.signal}` : `exit code ${end.code}`;
}
