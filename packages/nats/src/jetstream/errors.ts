import { JetStreamApiError } from "@nats-io/jetstream";
import { JetStreamStatusError, jserrors } from "@nats-io/jetstream/internal";
import { errors } from "@nats-io/transport-node";
import { type ErrorCode, TroupeError } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import { deniedOperationOf, forbidden, isUnauthorized, unauthorized, unreachable } from "../connection/link-errors.ts";

/** The error codes of JetStream's API that this package decides by. */
export const apiCodes = {
  noSuitablePeers: 10005,
  consumerNotFound: 10014,
  noMessageFound: 10037,
  streamNameInUse: 10058,
  streamNotFound: 10059,
  wrongLastSequence: 10071,
  /** The same on a replicated stream: the leader does not know the last sequence yet. */
  wrongLastSequenceUnknown: 10164,
  storeFailed: 10077,
  consumerExists: 10148,
} as const;

interface Translation {
  code: ErrorCode;
  fix?: string;
}

const noJetStream: Translation = { code: "UNSUPPORTED_SERVER", fix: "start it with JetStream: nats-server -js" };
const limitReached: Translation = {
  code: "LIMIT_REACHED",
  fix: "see `nats account info` and `nats stream ls`: raise the limit, or remove old sessions with `troupe nats purge`",
};
const tooFewServers: Translation = {
  code: "INVALID_CONFIG",
  fix: "start the servers of the cluster that are down, or set nats.replicas to no more than the number of servers with JetStream",
};

/** Often temporary: the cluster may elect a leader within seconds. */
const noLeader = {
  code: "UNREACHABLE",
  fix: "more than half of the cluster's servers must be up and connected to each other: see `nats server report jetstream`",
} satisfies Translation;

const translations: Readonly<Record<number, Translation>> = {
  10002: limitReached,
  10005: tooFewServers,
  10008: noLeader,
  10009: noLeader,
  10023: limitReached,
  10026: limitReached,
  10027: limitReached,
  10028: limitReached,
  10039: { code: "UNSUPPORTED_SERVER", fix: "enable JetStream for this account in the server's configuration" },
  10047: limitReached,
  10059: { code: "JOURNAL_LOST", fix: "run `troupe nats check`: it lists the missing streams and the next step" },
  10074: tooFewServers,
  10076: noJetStream,
  10077: limitReached,
  10118: noLeader,
  10119: noLeader,
  10113: {
    code: "INVALID_CONFIG",
    fix: "this account requires size limits: set nats.journalBytesMax, taskBytesMax and blobBytesMax",
  },
  10122: limitReached,
};

/** Translates an error of JetStream, or of the connection to it. `action` goes into the message. */
export function jetStreamError(error: unknown, link: NatsLink, action: string): TroupeError {
  if (TroupeError.is(error)) return error;
  const { redactedUrl } = link;
  if (link.closed || error instanceof errors.ClosedConnectionError) {
    return new TroupeError("CLOSED", "the connection to NATS is closed", { cause: error });
  }
  if (error instanceof JetStreamApiError) return apiErrorOf(error.code, error.message, action, error);
  if (error instanceof jserrors.JetStreamNotEnabled || isNoResponders(error)) {
    if (!link.connected) return unreachable(redactedUrl, error);
    return new TroupeError(noJetStream.code, `no JetStream answers at ${redactedUrl} (${action})`, {
      fix: "start the server with JetStream (nats-server -js); one that has just been started may need a moment",
      cause: error,
    });
  }
  if (error instanceof errors.TimeoutError) {
    if (!link.connected) return unreachable(redactedUrl, error);
    // In a cluster only leaders answer: a timeout means that the cluster has no leader.
    if (link.connection.info?.cluster) {
      const message = `the cluster at ${redactedUrl} has no leader that answers: ${action}`;
      return new TroupeError(noLeader.code, message, { fix: noLeader.fix, cause: error });
    }
    return new TroupeError("TIMEOUT", `${redactedUrl} did not answer in time: ${action}`, { cause: error });
  }
  const denied = deniedOperationOf(error);
  if (denied) return forbidden(redactedUrl, denied, error);
  if (isUnauthorized(error)) return unauthorized(redactedUrl, error);
  if (error instanceof JetStreamStatusError) {
    return new TroupeError("INTERNAL", `JetStream refuses: ${error.message} (${action})`, { cause: error });
  }
  return unreachable(redactedUrl, error);
}

/** True if JetStream's API answered with one of these codes. */
export function isApiError(error: unknown, ...codes: number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

/** Translates an error code of JetStream's API. */
export function apiErrorOf(code: number, description: string, action: string, cause?: unknown): TroupeError {
  const translation: Translation = translations[code] ?? { code: "INTERNAL" };
  const problem = translation === noLeader ? "the cluster has no leader for it at the moment" : "JetStream refuses";
  return new TroupeError(translation.code, `${problem}: ${description} (${code}; ${action})`, {
    ...(translation.fix === undefined ? {} : { fix: translation.fix }),
    ...(cause === undefined ? {} : { cause }),
  });
}

export function streamLost(stream: string): TroupeError {
  return new TroupeError("JOURNAL_LOST", `the NATS server has no stream ${stream}`, {
    fix: "run `troupe nats check`: it lists the missing streams and the next step",
  });
}

function isNoResponders(error: unknown): boolean {
  return error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders());
}
