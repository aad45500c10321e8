import { type ErrorCode, exitCodes, type Redactor, TroupeError } from "@troupe/core";
import { createHomeRedactor } from "troupe/internal";
import type { Terminal } from "../terminal/terminal.ts";
import { cleanLine, jsonLine } from "./clean.ts";

/** How errors are shown: for people on stderr, or as one JSON object on stdout for whoever asked for JSON. */
export type OutputMode = "text" | "json" | "stream-json";

/** What was thrown, as an error with a code: anything unforeseen is `INTERNAL`. */
export function toTroupeError(thrown: unknown): TroupeError {
  if (TroupeError.is(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new TroupeError("INTERNAL", `something unforeseen went wrong: ${message}`, {
    cause: thrown,
    fix: "troupe doctor",
  });
}

export interface FailureOptions {
  terminal: Terminal;
  mode: OutputMode;
  /** Where secrets are that are not to be shown. @default the process's own */
  env?: NodeJS.ProcessEnv;
}

/** Shows an error and returns the exit code that goes with it. */
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

/** An error that a newer daemon names with a code unknown here still exits with 1. */
export function exitCodeOf(code: ErrorCode): number {
  return Object.hasOwn(exitCodes, code) ? exitCodes[code] : exitCodes.INTERNAL;
}

/** SDKs and parsers quote what they were given. */
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

/** The innermost reason that the message does not say already. */
function causeOf(error: Error): string | null {
  let why: string | null = null;
  let cause = error.cause;
  for (let depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause.message !== "" && !error.message.includes(cause.message)) why = cause.message;
    cause = cause.cause;
  }
  return why;
}
