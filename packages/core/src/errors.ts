const troupeErrorMark: unique symbol = Symbol.for("troupe.error") as never;

/**
 * The error class of every troupe package.
 *
 * Branch on `code`, which is stable, and never on the message. `fix` is the next step for the reader.
 *
 * @example
 * try {
 *   await service.submit(request);
 * } catch (error) {
 *   if (TroupeError.is(error) && error.code === "UNKNOWN_AGENT") console.error(error.message, error.fix);
 *   else throw error;
 * }
 */
export class TroupeError extends Error {
  /** Marks the error for other copies of this package, where `instanceof` fails. */
  readonly [troupeErrorMark] = true;
  readonly code: ErrorCode;
  /** The next step, as one command if possible. */
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

/** All error codes, and the exit code of the command line for each. */
export const exitCodes = {
  INTERNAL: 1,
  CONFLICT: 1,
  HOME_OWNED: 1,
  CLOSING: 1,
  USAGE: 2,
  UNKNOWN_AGENT: 2,
  UNKNOWN_TEAM: 2,
  UNKNOWN_SCENARIO: 2,
  UNKNOWN_SESSION: 2,
  UNKNOWN_RUN: 2,
  UNKNOWN_APPROVAL: 2,
  UNKNOWN_RULE: 2,
  UNKNOWN_HOST: 2,
  UNKNOWN_FILE: 2,
  UNKNOWN_WEBHOOK: 2,
  INVALID_AGENT: 3,
  INVALID_TEAM: 3,
  INVALID_PLAN: 3,
  INVALID_SCENARIO: 3,
  INVALID_POLICY: 3,
  INVALID_CONFIG: 3,
  INVALID_MESSAGE: 1,
  INVALID_EXPORT: 1,
  NO_PROVIDER: 3,
  UNSUPPORTED_NODE: 3,
  MISSING_PACKAGE: 3,
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

/** The `code` of a system error such as `ENOENT`; null if there is none. */
export function errorCodeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
