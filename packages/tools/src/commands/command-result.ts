import type { Grant } from "@troupe/core";
import { RunFailure } from "@troupe/core";
import type { ToolResult } from "@troupe/core/tool";
import type { CommandResult, Sandbox } from "../sandbox/sandbox.ts";
import { isAskable } from "../workspace/protected-paths.ts";
import { openFolder } from "../workspace/resolve-path.ts";
import { writableText } from "./command-risk.ts";

/** Renders a command's end and output for a model. The end comes first, because the model must not miss it. */
export function commandResult(end: CommandResult, timeoutMs: number, hint: string | null = null): ToolResult {
  const how = describeEnd(end, timeoutMs);
  const dropped = end.droppedBytes > 0 ? `\n[${end.droppedBytes} further bytes of output were not kept]` : "";
  const output = `${how}\n${shownOutput(end.output) || "[no output]"}${dropped}${hint ? `\n[hint: ${hint}]` : ""}`;
  const error = endError(end, how);
  return error === null ? { output } : { output, error };
}

/** The error of a failed command; null for exit code 0. */
export function endError(end: CommandResult, how: string): NonNullable<ToolResult["error"]> | null {
  switch (end.reason) {
    case "timeout":
      return { type: "timeout", message: how, recoverable: true };
    case "aborted":
      return { type: "cancelled", message: how, recoverable: false };
    case "disk":
      return { type: "tool_error", message: how, recoverable: false };
    case "exited":
      if (end.code === 0) return null;
      return { type: "tool_error", message: `the command ended with ${how}`, recoverable: true };
  }
}

export function describeEnd(end: CommandResult, timeoutMs: number): string {
  if (end.reason === "timeout") return `stopped: not done after ${timeoutMs} ms`;
  if (end.reason === "aborted") return "stopped: cancelled";
  if (end.reason === "disk") {
    return `stopped: ${end.diskNote}. The files that it wrote stay until the user removes them`;
  }
  return end.code === null ? `signal ${end.signal}` : `exit code ${end.code}`;
}

/** An output with more control characters than this, and with a larger share of them than this, counts as binary. */
const strangeMax = 16;
const strangeShareMax = 0.2;

/** The output without NUL; for binary output a notice. */
export function shownOutput(output: string): string {
  const strange = output.match(/(?![\t\n\v\f\r])[\p{Cc}\ufffd]/gu)?.length ?? 0;
  if (strange > strangeMax && strange > output.length * strangeShareMax) {
    return "[the output is binary and not shown; write it to a file, or look at it with od]";
  }
  return output.replaceAll("\0", "\\0");
}

/** Throws for text that cannot be a program's argument. */
export function refuseNul(text: string, what: string): void {
  if (!text.includes("\0")) return;
  throw new RunFailure({ type: "params", message: `${what} contains a NUL character`, recoverable: false });
}

/** The working folder of a command, relative to the workspace. Throws if it is outside. */
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
const readOnly = /read-only file system|EROFS|device or resource busy|EBUSY/i;

/** A hint about a likely limit of the sandbox behind a failed command; null if the output explains itself. */
export function commandHint(end: CommandResult, { sandbox, grant }: HintContext): string | null {
  if (end.reason !== "exited" || end.code === 0) return null;
  const missing = end.code === 127 ? notFound.exec(end.output)?.[1] : undefined;
  if (missing !== undefined) return `the program ${missing} is not on the PATH of commands here`;
  if (sandbox.contains && noNetwork.test(end.output)) {
    return "commands have no network here, unless the policy of this machine allows it; web_fetch may reach the page";
  }
  if (sandbox.contains && readOnly.test(end.output)) {
    const askable = end.output.split(/[\s:'"`]+/).find(isAskable);
    const hint = askable === undefined ? "" : `; for ${askable}, a file tool can ask a person`;
    return `you may write ${writableText(grant.writes)}, and in $TMPDIR${hint}`;
  }
  return null;
}
