import type { ConnectorErrorType } from "@troupe/connectors";
import { type ErrorCode, TroupeError } from "@troupe/core";

const codes: Readonly<Record<ConnectorErrorType, ErrorCode>> = {
  auth: "UNAUTHORIZED",
  params: "USAGE",
  permission: "FORBIDDEN",
  network: "UNREACHABLE",
  rate_limit: "UNREACHABLE",
  tool_error: "INTERNAL",
};

/** The error of a connector, with the exit code of its type. Other errors stay as they are. */
export function connectionFailure(thrown: unknown): unknown {
  if (!isConnectorError(thrown)) return thrown;
  const { type, message, fix } = thrown;
  // The message ends with the fix, for readers who see only the message.
  const text = fix !== null && message.endsWith(`; ${fix}`) ? message.slice(0, -`; ${fix}`.length) : message;
  return new TroupeError(codes[type], text, { cause: thrown.cause, ...(fix === null ? {} : { fix }) });
}

function isConnectorError(thrown: unknown): thrown is Error & { type: ConnectorErrorType; fix: string | null } {
  return thrown instanceof Error && thrown.name === "ConnectorError";
}
