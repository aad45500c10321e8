import { JetStreamApiError } from "@nats-io/jetstream";
import { JetStreamStatusError, jserrors } from "@nats-io/jetstream/internal";
import { errors } from "@nats-io/transport-node";
import { type ErrorCode, TroupeError } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import { deniedIn, forbidden, isUnauthorized, unauthorized, unreachable } from "../connection/link-errors.ts";

/** JetStream's own numbers that somebody here decides by. */
export const apiCodes = {
  noSuitablePeers: 10005,
  consumerNotFound: 10014,
  noMessageFound: 10037,
  streamNameInUse: 10058,
  streamNotFound: 10059,
  wrongLastSequence: 10071,
  /** The same on replicated streams, where the leader does not know yet which sequence it will be. */
  wrongLastSequenceUnknown: 10164,
  storeFailed: 10077,
} as const;

interface Meaning {
  code: ErrorCode;
  fix?: string;
}

const noJetStream: Meaning = { code: "UNSUPPORTED_SERVER", fix: "start it with JetStream: nats-server -js" };
const full: Meaning = {
  code: "LIMIT_REACHED",
  fix: "see `nats account info` and `nats stream ls`: raise the limit, or let go of old sessions with `troupe nats purge`",
};
const tooFewServers: Meaning = {
  code: "INVALID_CONFIG",
  fix: "start the servers of the cluster that are down, or set nats.replicas to no more than the number of servers with JetStream",
};

/** It may be better in a moment. */
const leaderless = {
  code: "UNREACHABLE",
  fix: "more than half of the cluster's servers have to be up, and know each other: see `nats server report jetstream`",
} satisfies Meaning;

const meanings: Readonly<Record<number, Meaning>> = {
  10002: full,
  10005: tooFewServers,
  10008: leaderless,
  10009: leaderless,
  10023: full,
  10026: full,
  10027: full,
  10028: full,
  10039: { code: "UNSUPPORTED_SERVER", fix: "enable JetStream for this account in the server's configuration" },
  10047: full,
  10059: { code: "JOURNAL_LOST", fix: "run `troupe nats check`: it says what is missing, and what to do" },
  10074: tooFewServers,
  10076: noJetStream,
  10077: full,
  10118: leaderless,
  10119: leaderless,
  10113: { code: "INVALID_CONFIG", fix: "this account wants a size: set nats.journalBytesMax and its siblings" },
  10122: full,
};

/** What JetStream, or the way there, says no with, as an error of ours. */
export function jetStreamError(error: unknown, link: NatsLink, what: string): TroupeError {
  if (TroupeError.is(error)) return error;
  if (link.closed || error instanceof errors.ClosedConnectionError) {
    return new TroupeError("CLOSED", "the connection to NATS is closed", { cause: error });
  }
  if (error instanceof JetStreamApiError) return refused(error, what);
  if (error instanceof jserrors.JetStreamNotEnabled || isNoResponders(error)) {
    if (!link.connected) return unreachable(link.shown, error);
    return new TroupeError(noJetStream.code, `no JetStream answers at ${link.shown} (${what})`, {
      fix: "start the server with JetStream (nats-server -js); one that has just been started may need a moment",
      cause: error,
    });
  }
  if (error instanceof errors.TimeoutError) {
    if (!link.connected) return unreachable(link.shown, error);
    if (link.connection.info?.cluster) return noLeader(link, what, error);
    return new TroupeError("TIMEOUT", `${link.shown} did not answer in time: ${what}`, { cause: error });
  }
  return elsewhere(error, link, what);
}

/** In a cluster only leaders answer, so that silence is the lack of one. */
function noLeader({ shown }: NatsLink, what: string, cause: unknown): TroupeError {
  const message = `the cluster at ${shown} has no leader that answers: ${what}`;
  return new TroupeError(leaderless.code, message, { fix: leaderless.fix, cause });
}

/** Whether a request failed with one of JetStream's own codes. */
export function isApiError(error: unknown, ...codes: number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

function refused(error: JetStreamApiError, what: string): TroupeError {
  return refusalOf(error.code, error.message, what, error);
}

/** One of JetStream's own codes as an error of ours. */
export function refusalOf(code: number, description: string, what: string, cause?: unknown): TroupeError {
  const meaning: Meaning = meanings[code] ?? { code: "INTERNAL" };
  const refuses = meaning === leaderless ? "the cluster has no leader for it at the moment" : "JetStream refuses";
  const message = `${refuses}: ${description} (${code}; ${what})`;
  return new TroupeError(meaning.code, message, {
    ...(meaning.fix === undefined ? {} : { fix: meaning.fix }),
    ...(cause === undefined ? {} : { cause }),
  });
}

function elsewhere(error: unknown, link: NatsLink, what: string): TroupeError {
  const denied = deniedIn(error);
  if (denied) return forbidden(link.shown, denied, error);
  if (isUnauthorized(error)) return unauthorized(link.shown, error);
  if (error instanceof JetStreamStatusError) {
    return new TroupeError("INTERNAL", `JetStream refuses: ${error.message} (${what})`, { cause: error });
  }
  return unreachable(link.shown, error);
}

function isNoResponders(error: unknown): boolean {
  return error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders());
}
