import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type JetStreamManager, jetstreamManager, type StreamConfig, type StreamInfo } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import { checkServer } from "../connection/server-version.ts";
import { apiCodes, isApiError, jetStreamError } from "../jetstream/errors.ts";
import {
  blobStream,
  journalIdKey,
  journalIdOf,
  journalStream,
  type RequiredStream,
  type RestoredJournal,
  type StreamSettings,
  taskStream,
} from "./definitions.ts";
import { type Drift, driftOf } from "./drift.ts";
import { type NatsNames, natsNames } from "./names.ts";
import { firstSequenceAfter } from "./positions.ts";

export interface StreamsOptions {
  link: NatsLink;
  /** @default "troupe" */
  namespace?: string;
  settings?: StreamSettings;
}

export interface EnsureStreamsOptions extends StreamsOptions {
  /** Creates the journal as the replacement of a lost one. Ignored if the journal exists. */
  restored?: RestoredJournal;
}

export interface StreamReport {
  /** Identity of this journal. Null if the stream does not exist. */
  journalId: string | null;
  /** Streams that were created now. */
  created: string[];
  /** Streams that do not exist. */
  missing: string[];
  /** Settings that differ from the required ones. They are never changed. */
  drift: Drift[];
  /** Replication of each replicated stream, as its leader sees it. */
  copies: StreamCopies[];
}

/** The copies of a replicated stream. */
export interface StreamCopies {
  stream: string;
  /** The server that receives all writes first. */
  leader: string;
  /** All other copies. `away`: the leader does not hear from the server; `behind`: number of missing operations. */
  followers: { server: string; away: boolean; behind: number }[];
}

/**
 * Creates the streams of a namespace and checks the existing ones. Several processes may do it at the same time.
 *
 * Rejects with `UNSUPPORTED_SERVER` if the server is too old or has no JetStream, with `FORBIDDEN` if this user may not
 * read the streams, and with `INVALID_CONFIG` if a stream's settings could lose data or run something twice.
 *
 * @example
 * const { drift } = await ensureStreams({ link, settings: { replicas: 3 } });
 * for (const { stream, setting, fix } of drift) console.warn(`${stream}: ${setting}. ${fix}`);
 */
export async function ensureStreams({ restored, ...options }: EnsureStreamsOptions): Promise<StreamReport> {
  const { link } = options;
  const manager = await openManager(options);
  const { names, required } = manager;
  const results = await Promise.all(
    required.map(async (stream): Promise<{ info: StreamInfo; stream: RequiredStream; isNew: boolean }> => {
      const existing = await readInfo(manager.reader, link, stream.name);
      if (existing) return { info: existing, stream, isNew: false };
      const identity = stream.name === names.journal ? journalIdentity(restored) : {};
      return { info: await createStream(manager, link, { ...stream, ...identity }), stream, isNew: true };
    }),
  );
  const created = results.filter(({ isNew }) => isNew).map(({ stream: { name } }) => name);
  const found = results.map(({ info, stream }): [StreamInfo, RequiredStream] => [info, stream]);
  const report = toReport(names, found, { created, missing: [] });
  refuseDangerousDrift(report.drift);
  return report;
}

/**
 * Checks the streams of a namespace. Creates nothing, and does not reject for dangerous settings.
 *
 * @example
 * const { missing, drift } = await checkStreams({ link });
 */
export async function checkStreams(options: StreamsOptions): Promise<StreamReport> {
  const { reader, names, required } = await openManager(options);
  const results = await Promise.all(
    required.map(async (stream) => [await readInfo(reader, options.link, stream.name), stream] as const),
  );
  const missing = results.filter(([info]) => info === null).map(([, { name }]) => name);
  const found = results.filter((result): result is [StreamInfo, RequiredStream] => result[0] !== null);
  return toReport(names, found, { created: [], missing });
}

/** Of five seconds each. */
const openAttemptsMax = 3;
const readTimeoutMs = 1_000;
const readAttemptsMax = 5;
const createAttemptsMax = 20;
const createRetryMs = 250;

interface StreamManager {
  /** Creates streams. It has the client's long timeout, because a creation should not be sent twice. */
  writer: JetStreamManager;
  /** Reads stream infos, with a short timeout. */
  reader: JetStreamManager;
  names: NatsNames;
  required: RequiredStream[];
}

async function openManager({ link, namespace, settings = {} }: StreamsOptions): Promise<StreamManager> {
  if (link.connection.info) checkServer(link.connection.info, link.redactedUrl);
  const names = natsNames(namespace);
  const replicas = settings.replicas ?? (link.connection.info?.cluster ? 3 : 1);
  const all = { ...settings, replicas };
  const required = [journalStream(names, all), taskStream(names, all), blobStream(names, all)];
  try {
    // A machine with much to do may not answer the first time.
    const writer = await repeatUnanswered(link, openAttemptsMax, () => jetstreamManager(link.connection));
    const reader = await jetstreamManager(link.connection, { checkAPI: false, timeout: readTimeoutMs });
    return { writer, reader, names, required };
  } catch (error) {
    throw jetStreamError(error, link, "asking for JetStream");
  }
}

/** Repeats a request that the server did not answer in time, for as long as it is connected. */
async function repeatUnanswered<T>(link: NatsLink, attemptsMax: number, request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const isUnanswered = error instanceof errors.TimeoutError && link.connected;
      if (!isUnanswered || attempt === attemptsMax) throw error;
    }
  }
}

/** Null if the stream does not exist. A stream without a leader does not answer: the next leader answers a retry. */
async function readInfo(manager: JetStreamManager, link: NatsLink, stream: string): Promise<StreamInfo | null> {
  try {
    return await repeatUnanswered(link, readAttemptsMax, () => manager.streams.info(stream));
  } catch (error) {
    if (isApiError(error, apiCodes.streamNotFound)) return null;
    throw jetStreamError(error, link, `looking at the stream ${stream}`);
  }
}

/**
 * Creates a stream, or returns the one that another process created at the same time. A cluster may report a name as taken
 * before it can return the stream's info, and too few peers right after its start. Both are temporary.
 */
async function createStream(
  { writer, reader }: StreamManager,
  link: NatsLink,
  stream: RequiredStream,
): Promise<StreamInfo> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writer.streams.add(stream);
    } catch (error) {
      const isTaken = isApiError(error, apiCodes.streamNameInUse);
      const existing = isTaken ? await readInfo(reader, link, stream.name) : null;
      if (existing) return existing;
      const isTemporary = isTaken || isApiError(error, apiCodes.noSuitablePeers);
      if (!isTemporary || attempt === createAttemptsMax) {
        throw jetStreamError(error, link, `creating the stream ${stream.name}`);
      }
    }
    await delay(createRetryMs);
  }
}

function journalIdentity(restored: RestoredJournal | undefined): Partial<StreamConfig> {
  const metadata = { [journalIdKey]: restored?.journalId ?? randomUUID() };
  return restored ? { metadata, first_seq: firstSequenceAfter(restored.after) } : { metadata };
}

function toReport(
  names: NatsNames,
  found: readonly [StreamInfo, RequiredStream][],
  rest: Pick<StreamReport, "created" | "missing">,
): StreamReport {
  const journal = found.find(([, { name }]) => name === names.journal);
  return {
    journalId: journal ? journalIdOf(journal[0]) : null,
    ...rest,
    drift: found.flatMap(([info, stream]) => driftOf(info.config, stream)),
    copies: found.flatMap(([info]) => copiesOf(info) ?? []),
  };
}

function refuseDangerousDrift(drift: readonly Drift[]): void {
  const [first, ...others] = drift.filter(({ dangerous }) => dangerous);
  if (!first) return;
  const more = others.length > 0 ? `, and ${others.length} more: see \`troupe nats check\`` : "";
  const { stream, setting, found, wanted, fix } = first;
  const message = `the stream ${stream} has ${setting} ${found}, where only ${wanted} is safe${more}`;
  throw new TroupeError("INVALID_CONFIG", message, { fix });
}

/** Replicas send a heartbeat each second. The server itself reports one as offline only after ten seconds. */
const silentNanosMax = 3_000_000_000;

/** Null for a stream without replicas. */
function copiesOf({ config, cluster }: StreamInfo): StreamCopies | null {
  if (!cluster?.replicas?.length) return null;
  const followers = cluster.replicas.map(({ name, offline, active, current, lag = 0 }) => {
    return { server: name, away: Boolean(offline) || active > silentNanosMax, behind: current ? 0 : lag };
  });
  return { stream: config.name, leader: cluster.leader ?? "", followers };
}
