import {
  type Blobs,
  type Bus,
  type Clock,
  createSubjects,
  type Journal,
  type Logger,
  type TaskQueue,
} from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import { createMemoryBlobs, createMemoryBus, createMemoryJournal, createMemoryTaskQueue } from "@troupe/core/memory";
import { type NatsJournal, type NatsLink, openNatsLink, openNatsPorts, serverWarnings } from "@troupe/nats";
import { openSqliteJournal } from "@troupe/recorder";
import { createFolderBlobs } from "@troupe/tools";
import { type Cleanup, withTimeout } from "../cleanup.ts";
import { type Home, homeFiles } from "../home/home.ts";
import type { Connection, SharedSettings } from "../nats/connection.ts";
import { streamWarnings } from "../nats/stream-warnings.ts";

/** What all of a process works over, in one process or among several. */
export interface Ports {
  journal: Journal;
  queue: TaskQueue;
  bus: Bus;
  subjects: Subjects;
  blobs: Blobs;
  /** As they stand now, in words. */
  status(): { bus: string; store: string };
  /** What people should know of the server. */
  warnings: string[];
  /** What holds among all who share the server; null where nobody else can be there. */
  shared: SharedServer | null;
}

export interface SharedServer extends SharedSettings {
  link: NatsLink;
  journal: NatsJournal;
}

export interface PortsOptions {
  connection: Exclude<Connection, { kind: "auto" }>;
  home: Home;
  /** What the server's lists show for this process. */
  hostId: string;
  clock: Clock;
  logger: Logger;
  /** Whether streams that are not there are made. Workers leave that to daemons. */
  createStreams: boolean;
  /** `memory`: the journal ends with the process. Embedded only. @default "home" */
  store?: "home" | "memory" | undefined;
  /** Tells people what becomes of the connection. */
  notice?: ((text: string) => void) | undefined;
}

/** A server that has gone must hold nobody up who leaves. */
const closeMs = 3_000;

/** Opens them, and pushes what closes them. */
export function openPorts(options: PortsOptions, cleanup: Cleanup): Promise<Ports> {
  const { connection } = options;
  return connection.kind === "embedded"
    ? openEmbedded(options, cleanup)
    : openShared({ ...options, connection }, cleanup);
}

async function openEmbedded({ home, logger, store }: PortsOptions, cleanup: Cleanup): Promise<Ports> {
  const files = homeFiles(home);
  const inMemory = store === "memory";
  const journal = inMemory ? createMemoryJournal() : await openSqliteJournal({ file: files.journal });
  cleanup.add(() => journal.close());
  const bus = createMemoryBus({ onListenerError: (err, subject) => logger.error({ err, subject }, "listener failed") });
  cleanup.add(() => bus.close());
  const queue = createMemoryTaskQueue();
  cleanup.add(() => queue.close());
  return {
    ...{ journal, queue, bus },
    subjects: createSubjects(),
    blobs: inMemory ? createMemoryBlobs() : createFolderBlobs({ folder: files.blobs }),
    status: () => ({ bus: "in-process", store: inMemory ? "memory" : files.journal }),
    warnings: [],
    shared: null,
  };
}

async function openShared(
  options: PortsOptions & { connection: Extract<Connection, { kind: "server" }> },
  cleanup: Cleanup,
): Promise<Ports> {
  const { connection, hostId, clock, logger, createStreams } = options;
  const { kind: _, server, ...shared } = connection;
  const { servers, access, inboxPrefix } = server;
  const link = await openNatsLink({
    servers,
    access,
    name: hostId,
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
  });
  cleanup.add(() => withTimeout(closeMs, link.close()));
  cleanup.add(reportLinkEvents(link, options));
  const { namespace, settings, leaseMs } = shared;
  const ports = await openNatsPorts({ link, namespace, settings, leaseMs, clock, logger, createStreams });
  cleanup.add(() => withTimeout(closeMs, ports.close()));
  const { journal, queue, bus, subjects, blobs, streams } = ports;
  const { info } = link.connection;
  return {
    ...{ journal, queue, bus, subjects, blobs },
    status: () => ({
      bus: `${link.redactedUrl} (namespace ${namespace}${link.connected ? "" : "; out of reach at the moment"})`,
      store: `the stream ${namespace}_journal on that server`,
    }),
    warnings: [...(info ? serverWarnings(info) : []), ...streamWarnings(streams)],
    shared: { ...shared, link, journal },
  };
}

/** Says when the others are out of reach, when they are back, and what the server refuses: each refusal once. */
function reportLinkEvents(link: NatsLink, { logger, notice = () => {} }: PortsOptions): () => void {
  const told = new Set<string>();
  let isAway = false;
  /** A server that lets somebody in and turns him out again has not been found. */
  const back = async (server: string): Promise<void> => {
    const isHeard = await link.connection.flush().then(
      () => true,
      () => false,
    );
    if (!isHeard || !isAway || !link.connected) return;
    isAway = false;
    told.delete(wholeConnection);
    logger.info({ server }, "NATS is back");
    notice(`${link.redactedUrl} is back`);
  };
  return link.onEvent((event) => {
    if (event.kind === "disconnected" && !isAway) {
      isAway = true;
      logger.warn({ server: event.server }, "NATS is out of reach; looking for it");
      notice(`${link.redactedUrl} is out of reach; looking for it`);
    }
    if (event.kind === "reconnected") void back(event.server);
    if (event.kind === "error") {
      const { error, denied } = event;
      const what = denied ? `${denied.operation} ${subjectPattern(denied.subject)}` : wholeConnection;
      if (told.has(what)) return;
      told.add(what);
      logger.warn({ err: error }, "NATS refuses something");
      notice(error.fix === null ? error.message : `${error.message}; ${error.fix}`);
    }
  });
}

const wholeConnection = "connection";

/** Subjects of runs and sessions are without number, and all of a kind are refused together. */
function subjectPattern(subject: string): string {
  return subject.replaceAll(/[\w-]{20,}/g, "*");
}
