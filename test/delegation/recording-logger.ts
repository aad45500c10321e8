import type { Logger } from "@troupe/core";

export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  details: object;
}

/** A logger whose lines can be looked at. */
export function recordingLogger(): { log: LogLine[]; logger: Logger } {
  const log: LogLine[] = [];
  const at =
    (level: LogLine["level"]) =>
    (details: object, message: string): void =>
      void log.push({ level, message, details });
  return { log, logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}
