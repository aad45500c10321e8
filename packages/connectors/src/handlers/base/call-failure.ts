import type { HandledResult, RunError } from "@troupe/core";
import { RunFailure } from "@troupe/core/tool";
import { z } from "zod";
import { ConnectorError, ConnectorErrorType } from "../../ports/connector-error.ts";

/** The error in the output of a failed call. */
const FailedOutput = z.object({
  error: z.object({
    type: ConnectorErrorType.catch("tool_error"),
    message: z.string(),
    /** The next step. */
    fix: z.string().nullish(),
    /** Seconds. */
    retry_after: z.number().nonnegative().nullish(),
    recoverable: z.boolean().optional(),
  }),
});

const canPass: ReadonlySet<string> = new Set(["auth", "rate_limit", "network"]);

/** The failure of a call, with its tool and the type of its error. */
export function failureOf({ tool, output, text }: HandledResult): RunFailure {
  const parsed = FailedOutput.safeParse(output);
  if (!parsed.success) return textFailure(tool, text);
  const { type, message, fix, retry_after: retryAfterS, recoverable = canPass.has(type) } = parsed.data.error;
  const retryAfterMs = retryAfterS == null ? null : retryAfterS * 1_000;
  return new RunFailure({ type, message: fix ? `${message}; ${fix}` : message, tool, recoverable, retryAfterMs });
}

/** The text of a call that the host has refused begins with the type of its error. */
function textFailure(tool: string, text: string): RunFailure {
  const [, prefix = "", rest = text] = /^([a-z_]+): ([\s\S]*)$/.exec(text) ?? [];
  const type = ConnectorErrorType.safeParse(prefix).data ?? "tool_error";
  return new RunFailure({ type, message: rest, tool, recoverable: canPass.has(type) });
}

/**
 * The error of a request for a thrown value. `tool` is the one that the request was for, if the error names none.
 *
 * @example
 * errorOf(new ConnectorError("params", "no contact is called Zoe"), "gmail_send_email").recoverable; // false
 */
export function errorOf(thrown: unknown, tool: string | null): RunError {
  if (thrown instanceof RunFailure) return { ...thrown.runError, tool: thrown.runError.tool ?? tool };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { type: "tool_error", message, tool, recoverable: false, retryAfterMs: null };
}

/** A request that cannot be carried out as it is. The fix is the next step for its author. */
export function paramsError(param: string, message: string, fix: string): ConnectorError {
  return new ConnectorError("params", message, { param, fix });
}

/** The rules for each type of error, as sentences. The tools and the engine keep them. */
export const errorPlan: readonly string[] = [
  "auth: the access is refreshed once, and the call is tried again",
  "params: no retry; the answer says what is missing",
  "rate_limit: at most two more tries, after the time that the service names",
  "network: more tries with growing pauses; a send is never repeated without its key",
  "permission: no retry; the answer says which right is missing",
  "tool_error: no retry; the answer has the message of the tool",
];
