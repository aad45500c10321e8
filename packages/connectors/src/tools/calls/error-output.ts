import { RunFailure } from "@troupe/core/tool";
import { ConnectorError, ConnectorErrorType } from "../../ports/connector-error.ts";

/** The error of a tool, as its output says it. */
export interface ErrorOutput {
  error: {
    type: ConnectorErrorType;
    message: string;
    /** Seconds. */
    retry_after?: number;
    /** The wrong argument, like `to.0`. */
    param?: string;
    /** The next step. */
    fix?: string;
  };
}

/**
 * The output of a failed call, with one of the six types.
 *
 * @example
 * errorOutput(new ConnectorError("rate_limit", "too many calls", { retryAfterS: 30 }));
 * // { error: { type: "rate_limit", message: "too many calls", retry_after: 30 } }
 */
export function errorOutput({ type, message, retryAfterS, param, fix }: ConnectorError): ErrorOutput {
  const end = fix === null ? "" : `; ${fix}`;
  return {
    error: {
      type,
      message: end !== "" && message.endsWith(end) ? message.slice(0, -end.length) : message,
      ...(retryAfterS === null ? {} : { retry_after: Math.ceil(retryAfterS) }),
      ...(param === null ? {} : { param }),
      ...(fix === null ? {} : { fix }),
    },
  };
}

/** The error of a connector for any thrown value. A cancelled call is not one, and is thrown on. */
export function toConnectorError(thrown: unknown): ConnectorError {
  if (thrown instanceof ConnectorError) return thrown;
  if (!(thrown instanceof RunFailure)) return new ConnectorError("tool_error", messageOf(thrown), { cause: thrown });
  const { type, message, retryAfterMs } = thrown.runError;
  if (type === "cancelled") throw thrown;
  const known = ConnectorErrorType.safeParse(type);
  const retryAfter = retryAfterMs === null ? {} : { retryAfterS: retryAfterMs / 1_000 };
  return new ConnectorError(known.success ? known.data : "tool_error", message, { ...retryAfter, cause: thrown });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The error of a call that was stopped. */
export function cancelled(tool: string): RunFailure {
  return new RunFailure({ type: "cancelled", message: `${tool} was cancelled`, recoverable: false });
}
