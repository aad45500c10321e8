import { randomUUID } from "node:crypto";
import { type JetStreamManager, jetstreamManager, type StreamConfig, type StreamInfo } from "@nats-io/jetstream";
import { TroupeError } from "@troupe/core";
import { apiCodes, isApiError, jetStreamError } from "./jetstream-errors.ts";
import type { NatsLink } from "./link.ts";
import { type NatsNames, natsNames } from "./names.ts";
import { firstSequenceAfter } from "./positions.ts";
import { checkServer } from "./server-version.ts";
import {
  blobStream,
  journalIdKey,
  journalStream,
  type RestoredJournal,
  type StreamSettings,
  taskStream,
  type Wanted,
} from "./stream-definitions.ts";
import { type Drift, driftOf } from "./stream-drift.ts";

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
  const { manager, names, wanted } = await open(options);
  const created: string[] = [];
  const found: [StreamInfo, Wanted][] = [];
  for (const each of wanted) {
    const before = await infoOf(manager, options.link, each.name);
    if (before === null) created.push(each.name);
    const first = each.name === names.journal ? asJournal(restored) : {};
    found.push([before ?? (await create(manager, options.link, { ...each, ...first })), each]);
  }
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
  const { manager, names, wanted } = await open(options);
  const looks = await Promise.all(
    wanted.map(async (each) => [await infoOf(manager, options.link, each.name), each] as const),
  );
  const missing = looks.filter(([info]) => info === null).map(([, { name }]) => name);
  const found = looks.filter((look): look is [StreamInfo, Wanted] => look[0] !== null);
  return reportOf(names, found, { created: [], missing });
}

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
  manager: JetStreamManager;
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
    return { manager: await jetstreamManager(link.connection), names, wanted };
  } catch (error) {
    throw jetStreamError(error, link, "asking for JetStream");
  }
}

async function infoOf(manager: JetStreamManager, link: NatsLink, stream: string): Promise<StreamInfo | null> {
  try {
    return await manager.streams.info(stream);
  } catch (error) {
    if (isApiError(error, apiCodes.streamNotFound)) return null;
    throw jetStreamError(error, link, `looking at the stream ${stream}`);
  }
}

/** Of several who create a stream at once one does, and all others find it. */
async function create(manager: JetStreamManager, link: NatsLink, wanted: Wanted): Promise<StreamInfo> {
  try {
    return await manager.streams.add(wanted);
  } catch (error) {
    const theirs = isApiError(error, apiCodes.streamNameInUse) ? await infoOf(manager, link, wanted.name) : null;
    if (theirs) return theirs;
    throw jetStreamError(error, link, `creating the stream ${wanted.name}`);
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
