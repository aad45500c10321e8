import type { Logger, Redactor } from "@troupe/core";

/** Whoever chains causes deeper than this loses the rest. */
const causesMax = 8;

/**
 * An error without the secrets in it: those that SDKs throw quote headers and addresses in their words, in their fields
 * and in what caused them. The same error where nothing was found.
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

/** Logs that are safe already, and by whom. */
const redactedBy = new WeakMap<Logger, Redactor>();

/** A log in which no secret is written. */
export function redactLogger(logger: Logger, redact: Redactor): Logger {
  if (redactedBy.get(logger) === redact) return logger;
  const detailsOf = (details: object): object =>
    Object.fromEntries(Object.entries(details).map(([name, value]) => [name, redactThrown(value, redact, causesMax)]));
  const safe: Logger = {
    debug: (details, message) => logger.debug(detailsOf(details), redact.text(message)),
    info: (details, message) => logger.info(detailsOf(details), redact.text(message)),
    warn: (details, message) => logger.warn(detailsOf(details), redact.text(message)),
    error: (details, message) => logger.error(detailsOf(details), redact.text(message)),
  };
  redactedBy.set(safe, redact);
  return safe;
}
