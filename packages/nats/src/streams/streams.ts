import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type JetStreamManager, jetstreamManager, type StreamConfig, type StreamInfo } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import { checkServer } from "../connection/server-version.ts";
import { apiCodes, isApiError, jetStreamError } from "../jetstream/errors.ts";
import { copiesOf, type StreamCopies } from "./copies.ts";
import {
  blobStream,
  journalIdKey,
  journalStream,
  type RestoredJournal,
  type StreamSettings,
  taskStream,
  type Wanted,
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
  /** Only where the journal is created: it takes the place of one that was lost. */
  restored?: RestoredJournal;
}

export interface StreamReport {
  /** Tells this journal from every other one; null while there is none. */
  journalId: string | null;
  /** Streams that there were not, and that were created. */
  created: string[];
  /** Streams that there are not. */
  missing: string[];
  /** What is not as it should be. Nothing of it was changed. */
  drift: Drift[];
  /** Streams that several servers have, and how those stand, as each stream's leader sees it. */
  copies: StreamCopies[];
}

/**
 * Creates what a namespace needs on the server, and checks what is there. Several processes may do so at once.
 *
 * Rejects with `UNSUPPORTED_SERVER` where the server is too old or has no JetStream, `FORBIDDEN` where this user may not look, and with
 * `INVALID_CONFIG` when a stream is set up so that something would be lost or done twice.
 *
 * @example
 * const { drift } = await ensureStreams({ link, settings: { replicas: 3 } });
 * for (const { stream, setting, fix } of drift) console.warn(`${stream}: ${setting}. ${fix}`);
 */
export async function ensureStreams({ restored, ...options }: EnsureStreamsOptions): Promise<StreamReport> {
  const opened = await open(options);
  const { looker, names, wanted } = opened;
  const looks = await Promise.all(
    wanted.map(async (each): Promise<{ info: StreamInfo; wanted: Wanted; isNew: boolean }> => {
      const before = await infoOf(looker, options.link, each.name);
      if (before) return { info: before, wanted: each, isNew: false };
      const first = each.name === names.journal ? asJournal(restored) : {};
      return { info: await create(opened, options.link, { ...each, ...first }), wanted: each, isNew: true };
    }),
  );
  const created = looks.filter(({ isNew }) => isNew).map(({ wanted: { name } }) => name);
  const found = looks.map(({ info, wanted: each }): [StreamInfo, Wanted] => [info, each]);
  const report = reportOf(names, found, { created, missing: [] });
  refuseDanger(report.drift);
  return report;
}

/**
 * The same look, without creating anything or refusing what is there.
 *
 * @example
 * const { missing, drift } = await checkStreams({ link });
 */
export async function checkStreams(options: StreamsOptions): Promise<StreamReport> {
  const { looker, names, wanted } = await open(options);
  const looks = await Promise.all(
    wanted.map(async (each) => [await infoOf(looker, options.link, each.name), each] as const),
  );
  const missing = looks.filter(([info]) => info === null).map(([, { name }]) => name);
  const found = looks.filter((look): look is [StreamInfo, Wanted] => look[0] !== null);
  return reportOf(names, found, { created: [], missing });
}

const lookTimeoutMs = 1_000;
const lookTriesMax = 5;
const createTriesMax = 20;
const createAgainMs = 250;

/** What of a stream tells which journal it is. */
interface Identity {
  created: string;
  config: { name: string; metadata?: Record<string, string> };
}

/** What tells a journal from every other one. One that was made by hand is told by when. */
export function journalIdOf({ config, created }: Identity): string {
  return config.metadata?.[journalIdKey] ?? `${config.name}@${created}`;
}

interface Opened {
  /** Waits longer: what it asks for is to be done once. */
  manager: JetStreamManager;
  looker: JetStreamManager;
  names: NatsNames;
  wanted: Wanted[];
}

async function open({ link, namespace, settings = {} }: StreamsOptions): Promise<Opened> {
  if (link.connection.info) checkServer(link.connection.info, link.shown);
  const names = natsNames(namespace);
  const replicas = settings.replicas ?? (link.connection.info?.cluster ? 3 : 1);
  const all = { ...settings, replicas };
  const wanted = [journalStream(names, all), taskStream(names, all), blobStream(names, all)];
  try {
    const manager = await jetstreamManager(link.connection);
    const looker = await jetstreamManager(link.connection, { checkAPI: false, timeout: lookTimeoutMs });
    return { manager, looker, names, wanted };
  } catch (error) {
    throw jetStreamError(error, link, "asking for JetStream");
  }
}

/** Of a stream that has no leader for now nobody says anything: it is asked for again, and the next one answers at once. */
async function infoOf(manager: JetStreamManager, link: NatsLink, stream: string): Promise<StreamInfo | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await manager.streams.info(stream);
    } catch (error) {
      if (isApiError(error, apiCodes.streamNotFound)) return null;
      const isSilent = error instanceof errors.TimeoutError && link.connected;
      if (isSilent && tries < lookTriesMax) continue;
      throw jetStreamError(error, link, `looking at the stream ${stream}`);
    }
  }
}

/**
 * Of several who create a stream at once one does, and all others find it. A cluster says that a name is taken before it
 * says what has taken it, and right after its start that it has too few servers: both are over in a moment.
 */
async function create({ manager, looker }: Opened, link: NatsLink, wanted: Wanted): Promise<StreamInfo> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await manager.streams.add(wanted);
    } catch (error) {
      const isTaken = isApiError(error, apiCodes.streamNameInUse);
      const theirs = isTaken ? await infoOf(looker, link, wanted.name) : null;
      if (theirs) return theirs;
      const mayPass = isTaken || isApiError(error, apiCodes.noSuitablePeers);
      if (!mayPass || tries === createTriesMax) throw jetStreamError(error, link, `creating the stream ${wanted.name}`);
    }
    await delay(createAgainMs);
  }
}

function asJournal(restored: RestoredJournal | undefined): Partial<StreamConfig> {
  const metadata = { [journalIdKey]: restored?.journalId ?? randomUUID() };
  return restored ? { metadata, first_seq: firstSequenceAfter(restored.after) } : { metadata };
}

function reportOf(
  names: NatsNames,
  found: readonly [StreamInfo, Wanted][],
  rest: Pick<StreamReport, "created" | "missing">,
): StreamReport {
  const journal = found.find(([, { name }]) => name === names.journal);
  return {
    journalId: journal ? journalIdOf(journal[0]) : null,
    ...rest,
    drift: found.flatMap(([info, wanted]) => driftOf(info.config, wanted)),
    copies: found.flatMap(([info]) => copiesOf(info) ?? []),
  };
}

function refuseDanger(drift: readonly Drift[]): void {
  const [worst, ...others] = drift.filter(({ dangerous }) => dangerous);
  if (!worst) return;
  const more = others.length > 0 ? `, and ${others.length} more: see \`troupe nats check\`` : "";
  const { stream, setting, found, wanted, fix } = worst;
  const message = `the stream ${stream} has ${setting} ${found}, where only ${wanted} is safe${more}`;
  throw new TroupeError("INVALID_CONFIG", message, { fix });
}
