const troupeErrorMark: unique symbol = Symbol.for("troupe.error") as never;

/**
 * The one error class that crosses package borders.
 *
 * The class says nothing about what went wrong; `code` does, and it is stable: callers branch on it, never on the
 * words. `fix` is the next step for whoever reads it.
 */
export class TroupeError extends Error {
  /** Lets other copies of this package recognise the error: `instanceof` fails across them. */
  readonly [troupeErrorMark] = true;
  readonly code: ErrorCode;
  /** What to do next: where it can be, one command. */
  readonly fix: string | null;

  constructor(code: ErrorCode, message: string, options: { fix?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "TroupeError";
    this.code = code;
    this.fix = options.fix ?? null;
  }

  static is(value: unknown): value is TroupeError {
    return typeof value === "object" && value !== null && troupeErrorMark in value;
  }
}

/** Every code there is, with the exit code that the command line gives it (ECOSYSTEM's table). */
export const exitCodes = {
  INTERNAL: 1,
  CONFLICT: 1,
  HOME_OWNED: 1,
  CLOSING: 1,
  USAGE: 2,
  UNKNOWN_AGENT: 2,
  UNKNOWN_SCENARIO: 2,
  UNKNOWN_SESSION: 2,
  UNKNOWN_RUN: 2,
  UNKNOWN_APPROVAL: 2,
  UNKNOWN_RULE: 2,
  UNKNOWN_HOST: 2,
  INVALID_AGENT: 3,
  INVALID_SCENARIO: 3,
  INVALID_POLICY: 3,
  INVALID_CONFIG: 3,
  INVALID_MESSAGE: 1,
  NO_PROVIDER: 3,
  UNKNOWN_MODEL: 3,
  HOME_UNWRITABLE: 3,
  DATABASE_TOO_NEW: 3,
  DATABASE_DAMAGED: 3,
  JOURNAL_LOST: 3,
  UNAUTHORIZED: 4,
  FORBIDDEN: 4,
  UNREACHABLE: 5,
  UNSUPPORTED_SERVER: 5,
  NO_RESPONDERS: 5,
  NO_HOST: 5,
  TIMEOUT: 5,
  CLOSED: 5,
  TOO_LARGE: 1,
  RUN_FAILED: 6,
  LIMIT_REACHED: 7,
  APPROVAL_NEEDED: 8,
} as const;

export type ErrorCode = keyof typeof exitCodes;
