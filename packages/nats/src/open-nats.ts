import { type Blobs, type Clock, type Logger, TroupeError } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import { createNatsBlobs } from "./blobs.ts";
import { createNatsBusOn, type NatsBus, type NatsBusListener } from "./bus.ts";
import type { NatsLink } from "./connection/link.ts";
import { serverWarnings } from "./connection/server-version.ts";
import { createNatsJournal, type NatsJournal } from "./journal/journal.ts";
import type { StreamSettings } from "./streams/definitions.ts";
import { natsNames } from "./streams/names.ts";
import { checkStreams, ensureStreams, type StreamReport } from "./streams/streams.ts";
import { createNatsTaskQueue, type NatsTaskQueue } from "./task-queue/task-queue.ts";

export interface OpenNatsPortsOptions extends NatsBusListener {
  link: NatsLink;
  /** Separates several troupes on one server. @default "troupe" */
  namespace?: string;
  settings?: StreamSettings;
  /** How long a task stays with a host that has died. @default 8_000 */
  leaseMs?: number;
  clock: Clock;
  logger: Logger;
  /** False: missing streams are an error instead of being created. @default true */
  createStreams?: boolean;
  /** Wraps the returned blobs. The journal keeps its own large bodies in the unwrapped blobs. */
  blobs?: (blobs: Blobs) => Blobs;
}

/** All ports that work over NATS, on one connection. */
export interface NatsPorts {
  journal: NatsJournal;
  queue: NatsTaskQueue;
  bus: NatsBus;
  blobs: Blobs;
  subjects: Subjects;
  /** The streams that were found and created. */
  streams: StreamReport;
  /** Closes all ports and leaves the connection open. */
  close(): Promise<void>;
}

/**
 * Opens the journal, the task queue, the bus and the blobs over one connection. Creates missing streams. Logs a warning for
 * servers with known vulnerabilities and for streams with other settings.
 *
 * Rejects with `UNSUPPORTED_SERVER` if the server is too old or has no JetStream, with `JOURNAL_LOST` if streams are
 * missing and `createStreams` is false, and as `ensureStreams` does.
 *
 * @example
 * const link = await openNatsLink({ servers: "nats://127.0.0.1:4222" });
 * const ports = await openNatsPorts({ link, clock: systemClock(), logger: silentLogger });
 * await ports.journal.openRuns(); // []
 * await ports.close();
 * await link.close();
 */
export async function openNatsPorts(options: OpenNatsPortsOptions): Promise<NatsPorts> {
  const { link, clock, logger, leaseMs, blobs: wrap = (blobs) => blobs } = options;
  const { namespace, subjects } = natsNames(options.namespace);
  const streams = await openStreams(options);
  const { info } = link.connection;
  for (const warning of info ? serverWarnings(info) : []) {
    logger.warn({ server: link.redactedUrl, version: info?.version }, warning);
  }
  const journalBlobs = createNatsBlobs({ link, namespace, clock });
  const blobs = wrap(journalBlobs);
  const bus = createNatsBusOn(link, options);
  const shared = { link, subjects, namespace, clock, logger };
  const journal = await createNatsJournal({ ...shared, blobs: journalBlobs });
  const queue = await createNatsTaskQueue({ ...shared, bus, blobs, ...(leaseMs === undefined ? {} : { leaseMs }) });
  return {
    journal,
    queue,
    bus,
    blobs,
    subjects,
    streams,
    async close() {
      await queue.close();
      await journal.close();
      await bus.close();
    },
  };
}

async function openStreams(options: OpenNatsPortsOptions): Promise<StreamReport> {
  const { link, namespace, settings, createStreams = true, logger } = options;
  const target = { link, ...(namespace === undefined ? {} : { namespace }), ...(settings ? { settings } : {}) };
  const report = createStreams ? await ensureStreams(target) : await checkStreams(target);
  if (report.missing.length > 0) {
    throw new TroupeError("JOURNAL_LOST", `${report.missing.join(", ")}: not on the server at ${link.redactedUrl}`, {
      fix: "start a daemon there (troupe up), which creates them; `troupe nats check` lists the missing streams",
    });
  }
  for (const { stream, setting, found, wanted, fix } of report.drift) {
    logger.warn(
      { stream, setting, found, wanted, fix },
      "the stream has other settings than troupe creates; not changed",
    );
  }
  return report;
}
