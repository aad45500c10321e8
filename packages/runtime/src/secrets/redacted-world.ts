import {
  type Bus,
  InboxItem,
  type Journal,
  LiveEvent,
  type ModelProvider,
  type Redactor,
  RunRequest,
  type TaskQueue,
} from "@troupe/core";
import { ControlMessage, HostMessage, SettledMessage } from "@troupe/core/internal";
import { z } from "zod";
import type { HostDeps } from "../host/host-deps.ts";
import { redactAs, redactBytesAs } from "./redact-as.ts";
import { redactLogger } from "./redact-error.ts";

/** What of a world can carry a secret out of a run. Entries are looked at where they are sealed. */
type Ports = Partial<Pick<HostDeps, "journal" | "queue" | "bus" | "models" | "logger" | "redact">>;

/** Worlds whose ports do it already. */
const redacted = new WeakSet<object>();

/**
 * The same world, through whose ports no secret goes: requests, wishes, messages, words while they are said, log lines.
 * Whoever works over a world begins with this, so that nothing has to be thought of later; a world without `redact` is
 * left as it is.
 */
export function redactDeps<W extends Ports>(deps: W): W {
  const { redact, journal, queue, bus, models, logger } = deps;
  if (!redact || redacted.has(deps)) return deps;
  const safe = {
    ...deps,
    ...(journal ? { journal: redactJournal(journal, redact) } : {}),
    ...(queue ? { queue: redactQueue(queue, redact) } : {}),
    ...(bus ? { bus: redactBus(bus, redact) } : {}),
    ...(models ? { models: redactDeltas(models, redact) } : {}),
    ...(logger ? { logger: redactLogger(logger, redact) } : {}),
  };
  redacted.add(safe);
  return safe;
}

/** Inboxes; an entry's text is sealed, and what is sealed cannot be changed. */
function redactJournal(journal: Journal, redact: Redactor): Journal {
  return {
    append: (append) => journal.append(append),
    readRun: (session, run, from) => journal.readRun(session, run, from),
    lastOf: (session, run) => journal.lastOf(session, run),
    appendInbox: (item) => journal.appendInbox(redactAs(InboxItem, item, redact)),
    readInbox: (session, afterSeq) => journal.readInbox(session, afterSeq),
    openRuns: (of) => journal.openRuns(of),
    id: () => journal.id(),
    checkpoint: (follower, position) => journal.checkpoint(follower, position),
    tail: () => journal.tail(),
    watch: (options) => journal.watch(options),
    close: () => journal.close(),
  };
}

function redactQueue(queue: TaskQueue, redact: Redactor): TaskQueue {
  return {
    offer: (task) => queue.offer({ ...task, bytes: redactBytesAs(RunRequest, task.bytes, redact) }),
    take: (request) => queue.take(request),
    onHint: (listener) => queue.onHint(listener),
    pollFaster: () => queue.pollFaster(),
    close: () => queue.close(),
  };
}

const Heard = z.discriminatedUnion("kind", [
  ...LiveEvent.options,
  ...ControlMessage.options,
  ...HostMessage.options,
  SettledMessage,
]);

function redactBus(bus: Bus, redact: Redactor): Bus {
  const { onReconnect } = bus;
  const safe = (bytes: Uint8Array): Uint8Array => redactBytesAs(Heard, bytes, redact);
  return {
    get payloadBytesMax() {
      return bus.payloadBytesMax;
    },
    publish(subject, bytes) {
      const shown = safe(bytes);
      // A mark may be longer than what it stands for. What grew too large is lost, as any message may be.
      if (shown !== bytes && shown.byteLength > bus.payloadBytesMax) return;
      bus.publish(subject, shown);
    },
    subscribe: (pattern, listener) => bus.subscribe(pattern, listener),
    request: (subject, bytes, options) => bus.request(subject, safe(bytes), options),
    ...(onReconnect ? { onReconnect: (listener) => onReconnect.call(bus, listener) } : {}),
    flush: () => bus.flush(),
    close: () => bus.close(),
  };
}

/** Words while they are said: a secret may come in pieces, each of them harmless. */
function redactDeltas(models: ModelProvider, redact: Redactor): ModelProvider {
  const { contextOf, serves } = models;
  return {
    id: models.id,
    async call(request, options) {
      const words = redact.stream();
      const say = (text: string): void => {
        if (text !== "") options.onDelta(text);
      };
      try {
        return await models.call(request, { ...options, onDelta: (text) => say(words.push(text)) });
      } finally {
        if (!options.signal.aborted) say(words.flush());
      }
    },
    priceOf: (model) => models.priceOf(model),
    ...(serves ? { serves: (model: string) => serves.call(models, model) } : {}),
    ...(contextOf ? { contextOf: (model: string) => contextOf.call(models, model) } : {}),
  };
}
