/** The logger of the runtime. A pino logger fits. */
export interface Logger {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Discards all log lines. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
