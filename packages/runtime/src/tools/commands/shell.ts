import { tmpdir } from "node:os";
import { RunFailure } from "@troupe/core";
import { z } from "zod";
import { type CommandEnd, runCommand } from "../../sandbox/run-command.ts";
import { defineTool, type ToolResult } from "../define-tool.ts";

const captureBytesMax = 1024 * 1024;

/** Runs a command in the workspace, in a process group that never outlives the call. */
export const shellTool = defineTool({
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
  async run({ command, timeoutMs }, { workspace, signal }) {
    if (command.includes("\0")) {
      throw new RunFailure({ type: "params", message: "the command has a NUL character in it", recoverable: false });
    }
    const end = await runCommand(command, {
      cwd: workspace,
      env: cleanEnvironment(workspace),
      timeoutMs,
      signal,
      captureBytesMax,
    });
    return resultOf(end, timeoutMs);
  },
});

/** All that a command is told of the machine. Never the daemon's own environment: that is where keys are. */
function cleanEnvironment(workspace: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: workspace,
    LANG: process.env.LANG ?? "C.UTF-8",
    TMPDIR: tmpdir(),
  };
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
