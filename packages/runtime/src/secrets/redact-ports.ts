import {
  type Blobs,
  type Bus,
  InboxItem,
  type Journal,
  LiveEvent,
  type Logger,
  type ModelProvider,
  type Redactor,
  RunRequest,
  type TaskQueue,
} from "@troupe/core";
import { ControlMessage, HostMessage, redactBytes, SettledMessage } from "@troupe/core/internal";
import { z } from "zod";
import { redactLogger } from "./redact-error.ts";
import { redactMessage, redactMessageBytes } from "./redact-message.ts";

/** The ports through which a secret can leave a run. Journal entries are redacted where they are sealed. */
interface RedactedPorts {
  journal?: Journal;
  queue?: TaskQueue;
  bus?: Bus;
  models?: ModelProvider;
  logger?: Logger;
  redact?: Redactor;
}

/** Objects that `redactDeps` returned: wrapping them twice would cost time and change nothing. */
const wrapped = new WeakSet<object>();

/**
 * Wraps the ports of `deps` so that no secret passes: run requests, commands, bus messages, text deltas and log lines.
 * Hosts, services and teams call this first, so that code behind them cannot forget it. Without `redact` the ports are
 * returned as they are.
 *
 * @example
 * const deps = redactDeps({ bus, logger, redact: createRedactor({ values: secretsOf({ env: process.env }) }) });
 */
export function redactDeps<Deps extends RedactedPorts>(deps: Deps): Deps {
  const { redact, journal, queue, bus, models, logger } = deps;
  if (!redact || wrapped.has(deps)) return deps;
  const safe = {
    ...deps,
    ...(journal ? { journal: redactJournal(journal, redact) } : {}),
    ...(queue ? { queue: redactQueue(queue, redact) } : {}),
    ...(bus ? { bus: redactBus(bus, redact) } : {}),
    ...(models ? { models: redactDeltas(models, redact) } : {}),
    ...(logger ? { logger: redactLogger(logger, redact) } : {}),
  };
  wrapped.add(safe);
  return safe;
}

/** Redacts inbox items only. An entry arrives here sealed, and a change would break its seal. */
function redactJournal(journal: Journal, redact: Redactor): Journal {
  return {
    append: (append) => journal.append(append),
    readRun: (session, run, from) => journal.readRun(session, run, from),
    lastOf: (session, run) => journal.lastOf(session, run),
    appendInbox: (item) => journal.appendInbox(redactMessage(InboxItem, item, redact)),
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
    offer: (task) => queue.offer({ ...task, bytes: redactMessageBytes(RunRequest, task.bytes, redact) }),
    take: (request) => queue.take(request),
    onHint: (listener) => queue.onHint(listener),
    pollFaster: () => queue.pollFaster(),
    close: () => queue.close(),
  };
}

const BusContent = z.discriminatedUnion("kind", [
  ...LiveEvent.options,
  ...ControlMessage.options,
  ...HostMessage.options,
  SettledMessage,
]);

function redactBus(bus: Bus, redact: Redactor): Bus {
  const { onReconnect } = bus;
  const redactBytes = (bytes: Uint8Array): Uint8Array => redactMessageBytes(BusContent, bytes, redact);
  return {
    get payloadBytesMax() {
      return bus.payloadBytesMax;
    },
    publish(subject, bytes) {
      const safe = redactBytes(bytes);
      // The mask can be longer than the secret. A message that is now too large is lost, as any bus message can be.
      if (safe !== bytes && safe.byteLength > bus.payloadBytesMax) return;
      bus.publish(subject, safe);
    },
    subscribe: (pattern, listener) => bus.subscribe(pattern, listener),
    request: (subject, bytes, options) => bus.request(subject, redactBytes(bytes), options),
    ...(onReconnect ? { onReconnect: (listener) => onReconnect.call(bus, listener) } : {}),
    flush: () => bus.flush(),
    close: () => bus.close(),
  };
}

/** Redacts streamed text. A secret can be split over several deltas, so the redactor keeps state between them. */
function redactDeltas(models: ModelProvider, redact: Redactor): ModelProvider {
  const { contextOf, serves } = models;
  return {
    id: models.id,
    async call(request, options) {
      const stream = redact.stream();
      const emit = (text: string): void => {
        if (text !== "") options.onDelta(text);
      };
      try {
        return await models.call(request, { ...options, onDelta: (text) => emit(stream.push(text)) });
      } finally {
        if (!options.signal.aborted) emit(stream.flush());
      }
    },
    priceOf: (model) => models.priceOf(model),
    ...(serves ? { serves: (model: string) => serves.call(models, model) } : {}),
    ...(contextOf ? { contextOf: (model: string) => contextOf.call(models, model) } : {}),
  };
}

/**
 * Wraps a blob store so that it stores no secret, in text or in binary content.
 *
 * @example
 * const safe = redactBlobs(blobs, createRedactor({ values: secretsOf({ env: process.env }) }));
 */
export function redactBlobs(blobs: Blobs, redact: Redactor): Blobs {
  return {
    put: (bytes) => blobs.put(redactBytes(redact, bytes)),
    get: (hash) => blobs.get(hash),
  };
}
