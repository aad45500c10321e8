import type { Grant } from "@troupe/core";
import { RunFailure } from "@troupe/core";
import type { ToolResult } from "../define-tool.ts";
import type { CommandResult, Sandbox } from "../sandbox/sandbox.ts";
import { openFolder } from "../workspace/resolve-path.ts";
import { writableText } from "./command-risk.ts";

/** How a command ended and what it said. How it ended comes first: it is what a model has to know. */
export function commandResult(end: CommandResult, timeoutMs: number, hint: string | null = null): ToolResult {
  const how = describeEnd(end, timeoutMs);
  const dropped = end.droppedBytes > 0 ? `\n[${end.droppedBytes} further bytes of output were not kept]` : "";
  const output = `${how}\n${shownOutput(end.output) || "[no output]"}${dropped}${hint ? `\n[hint: ${hint}]` : ""}`;
  const error = endError(end, how);
  return error === null ? { output } : { output, error };
}

/** What went wrong with a command; null for one that ended well. */
export function endError(end: CommandResult, how: string): NonNullable<ToolResult["error"]> | null {
  switch (end.reason) {
    case "timeout":
      return { type: "timeout", message: how, recoverable: true };
    case "aborted":
      return { type: "cancelled", message: how, recoverable: false };
    case "exited":
      if (end.code === 0) return null;
      return { type: "tool_error", message: `the command ended with ${how}`, recoverable: true };
  }
}

export function describeEnd(end: CommandResult, timeoutMs: number): string {
  if (end.reason === "timeout") return `stopped: not done after ${timeoutMs} ms`;
  if (end.reason === "aborted") return "stopped: cancelled";
  return end.code === null ? `signal ${end.signal}` : `exit code ${end.code}`;
}

/** With more characters than this that no text has, and with a share of them above this, an output is taken for binary. */
const strangeMax = 16;
const strangeShareMax = 0.2;

/** Text as it is, without NUL; of what is no text only that it is none. */
export function shownOutput(output: string): string {
  const strange = output.match(/(?![\t\n\v\f\r])[\p{Cc}\ufffd]/gu)?.length ?? 0;
  if (strange > strangeMax && strange > output.length * strangeShareMax) {
    return "[the output is binary and not shown; write it to a file, or look at it with od]";
  }
  return output.replaceAll("\0", "\\0");
}

/** Throws for what no program can be given as an argument. */
export function refuseNul(text: string, what: string): void {
  if (!text.includes("\0")) return;
  throw new RunFailure({ type: "params", message: `${what} has a NUL character in it`, recoverable: false });
}

/** The folder of the workspace that a command is to start in, as a sandbox wants it. */
export async function startFolder(workspace: string, folder: string | undefined): Promise<string> {
  if (folder === undefined) return ".";
  await using found = await openFolder(workspace, folder);
  return found.real || ".";
}

interface HintContext {
  sandbox: Pick<Sandbox, "contains">;
  grant: Pick<Grant, "writes">;
}

const notFound = /^(?:\/bin\/)?(?:sh|bash|dash|zsh): (?:line )?(?:\d+: )?([^\s:]+): (?:command )?not found$/m;
const noNetwork =
  /could not resolve|couldn't resolve|name resolution|name or service not known|EAI_AGAIN|ENOTFOUND|ENETUNREACH|network is unreachable/i;
const readOnly = /read-only file system|EROFS/i;

/**
 * What a command that failed was most likely not told: how the place is that it ran in. Null where the output speaks for
 * itself.
 */
export function commandHint(end: CommandResult, { sandbox, grant }: HintContext): string | null {
  if (end.reason !== "exited" || end.code === 0) return null;
  const missing = end.code === 127 ? notFound.exec(end.output)?.[1] : undefined;
  if (missing !== undefined) return `there is no program ${missing} on the PATH that commands have here`;
  if (sandbox.contains && noNetwork.test(end.output)) {
    return "commands have no network here, unless the policy of this machine gives it to them; web_fetch may reach the page";
  }
  if (sandbox.contains && readOnly.test(end.output))
    return `you may write ${writableText(grant.writes)}, and in $TMPDIR`;
  return null;
}
