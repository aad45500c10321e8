import {
  type Blobs,
  type Bus,
  type Clock,
  createSubjects,
  type Journal,
  type Logger,
  type TaskQueue,
  type TroupeError,
} from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import { createMemoryBlobs, createMemoryBus, createMemoryJournal, createMemoryTaskQueue } from "@troupe/core/memory";
import type { NatsJournal, NatsLink } from "@troupe/nats";
import { openSqliteJournal } from "@troupe/recorder";
import { createFolderBlobs } from "@troupe/tools";
import { type Cleanup, withTimeout } from "../cleanup.ts";
import { type Home, homeFiles } from "../home/home.ts";
import type { Connection, SharedSettings } from "../nats/connection.ts";
import { loadNats } from "../nats/load-nats.ts";
import { streamWarnings } from "../nats/stream-warnings.ts";
import { withReserve } from "./journal-reserve.ts";

/** The ports of a process: embedded, or on a NATS server. */
export interface Ports {
  journal: Journal;
  queue: TaskQueue;
  bus: Bus;
  subjects: Subjects;
  blobs: Blobs;
  /** Bus and store for display. */
  status(): { bus: string; store: string };
  /** Warnings about the server for the user. */
  warnings: string[];
  /** The shared server; null if this process works alone. */
  shared: SharedServer | null;
}

export interface SharedServer extends SharedSettings {
  link: NatsLink;
  journal: NatsJournal;
}

export interface PortsOptions {
  connection: Exclude<Connection, { kind: "auto" }>;
  home: Home;
  /** Name of this process in the server's list of connections. */
  hostId: string;
  clock: Clock;
  logger: Logger;
  /** True if missing streams are created. Workers leave that to daemons. */
  createStreams: boolean;
  /** `memory`: the journal is lost when the process ends. Embedded only. @default "home" */
  store?: "home" | "memory" | undefined;
  /** Shows the user changes of the connection. */
  notice?: ((text: string) => void) | undefined;
  /** Called when the journal's file may not store anything correctly any more. Embedded only. */
  onBroken?: ((error: TroupeError) => void) | undefined;
}

/** Longest wait for a server that is gone while the ports close. */
const closeMs = 3_000;

/** Opens the ports and adds their closing to the cleanup. */
export function openPorts(options: PortsOptions, cleanup: Cleanup): Promise<Ports> {
  const { connection } = options;
  return connection.kind === "embedded"
    ? openEmbedded(options, cleanup)
    : openShared({ ...options, connection }, cleanup);
}

async function openEmbedded({ home, logger, store, onBroken }: PortsOptions, cleanup: Cleanup): Promise<Ports> {
  const files = homeFiles(home);
  const inMemory = store === "memory";
  const journal = inMemory
    ? createMemoryJournal()
    : await withReserve(await openSqliteJournal({ file: files.journal, ...(onBroken ? { onBroken } : {}) }), {
        file: files.diskReserve,
        logger,
      });
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
  const { openNatsLink, openNatsPorts, serverWarnings } = await loadNats();
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
      bus: `${link.redactedUrl} (namespace ${namespace}${link.connected ? "" : "; not reachable at the moment"})`,
      store: `the stream ${namespace}_journal on that server`,
    }),
    warnings: [...(info ? serverWarnings(info) : []), ...streamWarnings(streams)],
    shared: { ...shared, link, journal },
  };
}

/** Reports a lost connection, its return, and each refusal of the server once. */
function reportLinkEvents(link: NatsLink, { logger, notice = () => {} }: PortsOptions): () => void {
  const reported = new Set<string>();
  let isAway = false;
  /** Reports the return only after a round trip: a server can accept a connection and close it again. */
  const back = async (server: string): Promise<void> => {
    const isAnswered = await link.connection.flush().then(
      () => true,
      () => false,
    );
    if (!isAnswered || !isAway || !link.connected) return;
    isAway = false;
    reported.delete(wholeConnection);
    logger.info({ server }, "NATS is reachable again");
    notice(`${link.redactedUrl} is reachable again`);
  };
  return link.onEvent((event) => {
    if (event.kind === "disconnected" && !isAway) {
      isAway = true;
      logger.warn({ server: event.server }, "NATS is not reachable; reconnecting");
      notice(`${link.redactedUrl} is not reachable; reconnecting`);
    }
    if (event.kind === "reconnected") void back(event.server);
    if (event.kind === "error") {
      const { error, denied } = event;
      const what = denied ? `${denied.operation} ${subjectPattern(denied.subject)}` : wholeConnection;
      if (reported.has(what)) return;
      reported.add(what);
      logger.warn({ err: error }, "NATS refused an operation");
      notice(error.fix === null ? error.message : `${error.message}; ${error.fix}`);
    }
  });
}

const wholeConnection = "connection";

/** Replaces ids with `*`: the server refuses a kind of subject, and one report for it is enough. */
function subjectPattern(subject: string): string {
  return subject.replaceAll(/[\w-]{20,}/g, "*");
}
