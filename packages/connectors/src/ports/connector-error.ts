import { DomainErrorType, RunFailure } from "@troupe/core/tool";
import type { z } from "zod";

/** Types of errors of a connector. The type decides who may try again, and how. */
export const ConnectorErrorType = DomainErrorType;
export type ConnectorErrorType = DomainErrorType;

/** Details of a `ConnectorError`. */
export interface ConnectorErrorDetails {
  /** Seconds until a retry can succeed, if the server names them. */
  retryAfterS?: number;
  /** The wrong parameter, like `to.0.address`. */
  param?: string;
  /** The next step for the reader. */
  fix?: string;
  cause?: unknown;
}

/**
 * The error of every connector. Each call of a port either returns its result or throws one of these, and then it changed
 * nothing, except that a lost connection (`network`) can hide the outcome of a send: ask `deliveryStatus` by its key.
 *
 * @example
 * throw new ConnectorError("rate_limit", "the server accepts no more messages now", { retryAfterS: 30 });
 */
export class ConnectorError extends RunFailure {
  readonly type: ConnectorErrorType;
  readonly retryAfterS: number | null;
  readonly param: string | null;
  readonly fix: string | null;

  constructor(type: ConnectorErrorType, message: string, details: ConnectorErrorDetails = {}) {
    const { retryAfterS = null, param = null, fix = null, cause } = details;
    const retryAfterMs = retryAfterS === null ? null : retryAfterS * 1_000;
    const text = fix === null ? message : `${message}; ${fix}`;
    super({ type, message: text, recoverable: recoverableTypes.has(type), retryAfterMs }, { cause });
    this.name = "ConnectorError";
    this.type = type;
    this.retryAfterS = retryAfterS;
    this.param = param;
    this.fix = fix;
  }
}

/** A call that failed with one of these types can succeed later. */
const recoverableTypes: ReadonlySet<ConnectorErrorType> = new Set(["auth", "rate_limit", "network"]);

/**
 * Parses the input of a call. Throws a `params` error that names each wrong parameter.
 *
 * @example
 * const query = parseParams(MailQuery, { text: "invoice" });
 */
export function parseParams<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  const [first] = parsed.error.issues;
  const shown = problems.slice(0, problemsShownMax);
  const more = problems.length - shown.length;
  const text = more > 0 ? [...shown, `and ${more} more problems`] : shown;
  throw new ConnectorError("params", text.join("; "), first?.path.length ? { param: first.path.join(".") } : {});
}

const problemsShownMax = 5;
