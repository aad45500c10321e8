import type { BusMessage, HostDirectory, Subscription } from "@troupe/core";
import type { HostMessage, HostView, ServedAgent } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import type { HostAnnouncer } from "./announcer.ts";
import { createQuestion, question } from "./ask-hosts.ts";
import { createHostTable, toView } from "./host-table.ts";
import { createInvalidHostMessages } from "./invalid-host-messages.ts";
import { readHostMessage } from "./read-host-message.ts";

export interface HostDirectoryOptions extends Pick<HostDeps, "bus" | "subjects" | "clock" | "logger"> {
  /** This process's own host, which knows best what it is: nobody else's word about it counts. Null: it has none. */
  own: Pick<HostAnnouncer, "announcement" | "load"> | null;
  /** Whether the own host takes whatever task there is, of agents that nobody has heard of too. @default false */
  ownServesAll?: boolean;
  /** How long all hosts are given to answer. @default 500 */
  askMs?: number;
  /** A host has gone without a word: what it held may be somebody else's soon. */
  onMissing?(host: string): void;
}

/** A directory that listens until it is stopped. */
export interface RunningHostDirectory extends HostDirectory {
  /** Listens from now on, and asks everybody who is there. */
  start(): Promise<void>;
  stop(): void;
  /** Messages that were passed over so far. */
  readonly refused: number;
}

const askMsDefault = 500;

/** A host whose heartbeat tells of an announcement that was not heard is asked for it; so often at most, in all. */
const askUnknownEveryMs = 100;

/**
 * Who can run what, as far as this process has heard: listens to what hosts say of themselves, and takes the silent for
 * gone. Whatever is sent in a host's name that does not fit is counted and passed over.
 *
 * @example
 * const hosts = createHostDirectory({ bus, subjects, clock, logger, own: null });
 * await hosts.start();
 * await hosts.serving("coder", "any"); // living hosts, after asking all where none is known
 */
export function createHostDirectory(options: HostDirectoryOptions): RunningHostDirectory {
  const { bus, subjects, clock, logger, own, ownServesAll = false, onMissing = () => {} } = options;
  const askMs = options.askMs ?? askMsDefault;
  const table = createHostTable();
  const invalidMessages = createInvalidHostMessages(logger);
  const listeners = new Set<() => void>();
  let subscription: Subscription | null = null;
  let stopWaiting = (): void => {};
  let askedUnknownAtMs = Number.NEGATIVE_INFINITY;
  const ask = createQuestion(options);

  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };

  /** Looks again when the next host may have become silent for too long. */
  const lookOut = (): void => {
    stopWaiting();
    const due = table.nextExpiryMs();
    if (due === null || subscription === null) return;
    stopWaiting = clock.after(Math.max(1, due - clock.monotonicMs()), () => {
      const missed = table.expire(clock.monotonicMs());
      for (const host of missed) {
        logger.warn({ host }, "a host has gone without a word");
        onMissing(host);
      }
      if (missed.length > 0) tell();
      lookOut();
    });
  };

  const onHost = (message: BusMessage): void => {
    const said = readHostMessage(message, subjects, invalidMessages);
    const now = clock.monotonicMs();
    if (said === null || isOwn(said)) return;
    const { host } = said;
    if (said.kind === "host.left") {
      if (!table.left(host)) return;
      logger.info({ host }, "a host has left");
      tell();
      return;
    }
    const before = table.nextExpiryMs();
    const outcome =
      said.kind === "host.beat" ? table.beat(said, now) : table.announced(said, message.bytes.byteLength, now);
    if (outcome === "full") invalidMessages.note("there is no room for more hosts", { host });
    if (outcome === "unknown") askOne(host);
    if (before === null) lookOut();
    if (outcome === "changed") tell();
  };

  const isOwn = (said: HostMessage): boolean => {
    const ours = own?.announcement();
    if (said.host !== ours?.host) return false;
    const isOther = said.kind === "host.announced" && (said.pid !== ours.pid || said.startedAt !== ours.startedAt);
    if (isOther) invalidMessages.note("another process has this host's name", { host: said.host, pid: said.pid });
    return true;
  };

  const askOne = (host: string): void => {
    const now = clock.monotonicMs();
    if (now - askedUnknownAtMs < askUnknownEveryMs) return;
    askedUnknownAtMs = now;
    bus.publish(subjects.control(host), question);
  };

  const all = (): HostView[] => {
    const others = table.views(clock.monotonicMs());
    const ours = own ? [toView(own.announcement(), own.load())] : [];
    return [...ours, ...others].sort((a, b) => (a.host < b.host ? -1 : 1));
  };

  const isOwnView = ({ host }: HostView): boolean => host === own?.announcement().host;
  const serves = (view: HostView, agent: string): boolean =>
    (ownServesAll && isOwnView(view)) || view.agents.some(({ definition }) => definition.id === agent);
  const servingNow = (agent: string, place: string): HostView[] =>
    all().filter(
      (view) => view.alive && !view.draining && (place === "any" || view.place === place) && serves(view, agent),
    );

  return {
    list: all,
    async serving(agent, place) {
      const known = servingNow(agent, place);
      if (known.length > 0) return known;
      const heardOf = Promise.withResolvers<void>();
      const look = (): void => {
        if (servingNow(agent, place).length > 0) heardOf.resolve();
      };
      listeners.add(look);
      const stop = clock.after(askMs, () => void asked.then(heardOf.resolve, () => {}));
      const asked = ask();
      asked.catch(heardOf.reject);
      try {
        await heardOf.promise;
      } finally {
        stop();
        listeners.delete(look);
      }
      return servingNow(agent, place);
    },
    served() {
      const served = table.served();
      const ours = own?.announcement().agents ?? [];
      for (const { definition } of ours) served.delete(definition.id);
      return served as ReadonlyMap<string, ServedAgent>;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async start() {
      subscription = await bus.subscribe(subjects.all.host, onHost);
      bus.publish(subjects.control("all"), question);
    },
    stop() {
      stopWaiting();
      subscription?.unsubscribe();
      subscription = null;
    },
    get refused() {
      return invalidMessages.count;
    },
  };
}
