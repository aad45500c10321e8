import type { Logger } from "@troupe/core";
import { type Blobs, type Clock, TroupeError } from "@troupe/core";
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
  /** Keeps several troupes on one server apart. @default "troupe" */
  namespace?: string;
  settings?: StreamSettings;
  /** How long a task stays with a host that has died. @default 8_000 */
  leaseMs?: number;
  clock: Clock;
  logger: Logger;
  /** Whether streams that are not there are created. @default true */
  createStreams?: boolean;
  /** Goes around the blobs that are handed out, not around those that the journal keeps its own bodies in. */
  blobs?: (blobs: Blobs) => Blobs;
}

/** All ports that go over NATS, on one connection. */
export interface NatsPorts {
  journal: NatsJournal;
  queue: NatsTaskQueue;
  bus: NatsBus;
  blobs: Blobs;
  subjects: Subjects;
  /** What was found on the server, and what was created. */
  streams: StreamReport;
  /** Closes all of them, and leaves the connection open. */
  close(): Promise<void>;
}

/**
 * Opens the ports over a connection. Old servers and streams that are not as they should be are logged.
 *
 * Rejects with `UNSUPPORTED_SERVER` for a server that is too old or has no JetStream, with `JOURNAL_LOST` where streams
 * are missing and are not to be created, and as `ensureStreams` does.
 *
 * @example
 * const link = await openNatsLink({ servers: "nats://127.0.0.1:4222" });
 * const ports = await openNatsPorts({ link, clock: systemClock(), logger });
 * await ports.journal.openRuns(); // []
 * await ports.close();
 * await link.close();
 */
export async function openNatsPorts(options: OpenNatsPortsOptions): Promise<NatsPorts> {
  const { link, clock, logger, leaseMs, blobs: wrap = (blobs) => blobs } = options;
  const { namespace, subjects } = natsNames(options.namespace);
  const streams = await findStreams(options);
  warnOfVersion(link, logger);
  const ownBlobs = createNatsBlobs({ link, namespace, clock });
  const blobs = wrap(ownBlobs);
  const bus = createNatsBusOn(link, options);
  const shared = { link, subjects, namespace, clock, logger };
  const journal = await createNatsJournal({ ...shared, blobs: ownBlobs });
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

function warnOfVersion(link: NatsLink, logger: Logger): void {
  const { info } = link.connection;
  if (!info) return;
  for (const warning of serverWarnings(info)) logger.warn({ server: link.shown, version: info.version }, warning);
}

async function findStreams(options: OpenNatsPortsOptions): Promise<StreamReport> {
  const { link, namespace, settings, createStreams = true, logger } = options;
  const where = { link, ...(namespace === undefined ? {} : { namespace }), ...(settings ? { settings } : {}) };
  const report = createStreams ? await ensureStreams(where) : await checkStreams(where);
  if (report.missing.length > 0) {
    throw new TroupeError("JOURNAL_LOST", `${report.missing.join(", ")}: not on the server at ${link.shown}`, {
      fix: "start a daemon there (troupe up), which creates them; `troupe nats check` says what is missing",
    });
  }
  for (const { stream, setting, found, wanted, fix } of report.drift) {
    logger.warn({ stream, setting, found, wanted, fix }, "a stream is set up in another way; left as it is");
  }
  return report;
}
