import type { Logger, Redactor } from "@troupe/core";

/** Deeper causes of an error are dropped. */
const causesMax = 8;

/**
 * Removes the secrets from an error: its message, stack, fields and causes. Errors of vendor SDKs quote headers and
 * addresses in all of them. Returns the same error if it contains no secret.
 *
 * @example
 * logger.error({ err: redactError(error, redact) }, "the provider failed");
 */
export function redactError(error: Error, redact: Redactor, causesLeft = causesMax): Error {
  const message = redact.text(error.message);
  const stack = redact.text(error.stack ?? "");
  const fields = { ...error };
  const safeFields = redact.json(fields);
  const cause = causesLeft === 0 ? undefined : redactThrown(error.cause, redact, causesLeft - 1);
  const isClean =
    message === error.message && stack === (error.stack ?? "") && safeFields === fields && cause === error.cause;
  if (isClean) return error;
  const safe = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(safe, safeFields, { name: error.name, stack });
}

function redactThrown(thrown: unknown, redact: Redactor, causesLeft: number): unknown {
  return thrown instanceof Error ? redactError(thrown, redact, causesLeft) : redact.json(thrown);
}

/** Loggers that `redactLogger` returned, and the redactor of each. */
const redactorOf = new WeakMap<Logger, Redactor>();

/**
 * Wraps a logger so that it writes no secret.
 *
 * @example
 * const safe = redactLogger(logger, createRedactor({ values: secretsOf({ env: process.env }) }));
 */
export function redactLogger(logger: Logger, redact: Redactor): Logger {
  if (redactorOf.get(logger) === redact) return logger;
  const redactDetails = (details: object): object =>
    Object.fromEntries(Object.entries(details).map(([name, value]) => [name, redactThrown(value, redact, causesMax)]));
  const safe: Logger = {
    debug: (details, message) => logger.debug(redactDetails(details), redact.text(message)),
    info: (details, message) => logger.info(redactDetails(details), redact.text(message)),
    warn: (details, message) => logger.warn(redactDetails(details), redact.text(message)),
    error: (details, message) => logger.error(redactDetails(details), redact.text(message)),
  };
  redactorOf.set(safe, redact);
  return safe;
}
