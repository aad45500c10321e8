import { type ErrorCode, exitCodes, type Redactor, TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { createHomeRedactor } from "troupe/internal";
import type { Terminal } from "../terminal/terminal.ts";
import { cleanLine, jsonLine } from "./clean.ts";

/** Output format: text on stderr, or JSON on stdout. */
export type OutputMode = "text" | "json" | "stream-json";

/** Converts any thrown value to an error with a code; an unexpected one is `INTERNAL`. */
export function toTroupeError(thrown: unknown): TroupeError {
  if (TroupeError.is(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (errorCodeOf(thrown) === "ERR_MODULE_NOT_FOUND") {
    const text = `this installation of troupe is not complete: ${message}`;
    return new TroupeError("INTERNAL", text, { cause: thrown, fix: "install troupe again" });
  }
  return new TroupeError("INTERNAL", `unexpected error: ${message}`, {
    cause: thrown,
    fix: "troupe doctor",
  });
}

export interface FailureOptions {
  terminal: Terminal;
  mode: OutputMode;
  /** Variables whose secrets are redacted. @default process.env */
  env?: NodeJS.ProcessEnv;
}

/** Prints an error and returns its exit code. */
export function reportFailure(thrown: unknown, options: FailureOptions): number {
  const { env = process.env } = options;
  const error = withoutSecrets(toTroupeError(thrown), createHomeRedactor({ env }));
  const { out, err } = options.terminal;
  if (options.mode === "text") {
    for (const line of describeFailure(error, err.colours)) err.line(line);
  } else {
    out.line(jsonLine(options.mode === "json" ? { error: toJson(error) } : { event: "error", error: toJson(error) }));
  }
  return exitCodeOf(error.code);
}

/** An unknown code, as of a newer daemon, exits with 1. */
export function exitCodeOf(code: ErrorCode): number {
  return Object.hasOwn(exitCodes, code) ? exitCodes[code] : exitCodes.INTERNAL;
}

/** Redacts the messages, because SDKs and parsers quote their input. */
function withoutSecrets(error: TroupeError, redact: Redactor): TroupeError {
  const why = causeOf(error);
  return new TroupeError(error.code, redact.text(error.message), {
    ...(error.fix === null ? {} : { fix: redact.text(error.fix) }),
    ...(why === null ? {} : { cause: new Error(redact.text(why)) }),
  });
}

function toJson(error: TroupeError): { code: string; message: string; fix: string | null } {
  return { code: error.code, message: error.message, fix: error.fix };
}

function describeFailure(error: TroupeError, colours: Terminal["err"]["colours"]): string[] {
  const why = causeOf(error);
  return [
    `${colours.red(colours.bold("error:"))} ${cleanLine(error.message)}`,
    ...(why ? [`${colours.dim("why:")}   ${cleanLine(why)}`] : []),
    ...(error.fix ? [`${colours.green("fix:")}   ${cleanLine(error.fix)}`] : []),
  ];
}

/** The innermost cause that the message does not contain. */
function causeOf(error: Error): string | null {
  let why: string | null = null;
  let cause = error.cause;
  for (let depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause.message !== "" && !error.message.includes(cause.message)) why = cause.message;
    cause = cause.cause;
  }
  return why;
}
