import type { Worker } from "node:worker_threads";
import { TroupeError } from "@troupe/core";
import { toTroupeError } from "../database/troupe-error.ts";
import { releaseJournalWorker } from "./journal-worker.ts";
import type { FromThread, Read, ReadResults, ThreadReply, Write, WriteResult } from "./thread-messages.ts";

export interface JournalThread {
  /** Position of the newest item when the file was opened. */
  readonly tailAtOpen: number;
  readonly journalId: string;
  write(write: Write): Promise<WriteResult>;
  read<R extends Read>(read: R): Promise<ReadResults[R["kind"]]>;
  /** Ends the thread after all earlier writes. Idempotent. */
  close(): Promise<void>;
}

export interface ThreadListener {
  /** Receives the writes of one commit in feed order, before the writers get their results. */
  onStored(writes: readonly { write: Write; result: WriteResult }[]): void;
  /** The thread has ended. Writes without a result may or may not be stored. */
  onCrash(error: TroupeError): void;
  /** The file may not store anything correctly any more. Every later call is rejected. */
  onBroken?(error: TroupeError): void;
}

interface PendingRequest {
  write: Write | null;
  resolve: (value: never) => void;
  reject: (error: TroupeError) => void;
}

/** Resolves once the thread has opened the file. */
export async function connectToThread(worker: Worker, file: string, listener: ThreadListener): Promise<JournalThread> {
  const { tail: tailAtOpen, journalId } = await opened(worker, file);
  const pending = new Map<number, PendingRequest[]>();
  let nextId = 0;
  let tick: PendingRequest[] = [];
  let closing: Promise<void> | null = null;
  let ended: TroupeError | null = null;
  let isBroken = false;

  const settle = (reply: ThreadReply): void => {
    const requests = pending.get(reply.id) ?? [];
    pending.delete(reply.id);
    if ("problem" in reply) {
      if (reply.problem.fatal) {
        isBroken = true;
        listener.onBroken?.(toTroupeError(reply.problem));
      }
      for (const { reject } of requests) reject(toTroupeError(reply.problem));
      return;
    }
    const single = requests[0]?.write === null;
    const values = single ? [reply.value] : (reply.value as WriteResult[]);
    if (!single) publish(requests, values as WriteResult[]);
    for (const [i, { resolve }] of requests.entries()) resolve(values[i] as never);
  };

  const publish = (requests: readonly PendingRequest[], results: readonly WriteResult[]): void => {
    listener.onStored(
      requests.flatMap(({ write }, i) => {
        const result = results[i];
        return write && result ? [{ write, result }] : [];
      }),
    );
  };

  const end = (error: TroupeError): void => {
    if (ended) return;
    ended = error;
    const unsettled = [...pending.values()].flat().concat(tick);
    pending.clear();
    tick = [];
    for (const { reject } of unsettled) reject(error);
    if (!closing) listener.onCrash(error);
  };

  const onMessage = (message: FromThread): void => {
    if (message.kind === "answers") for (const answer of message.answers) settle(answer);
  };
  const onError = (cause: unknown): void => end(crashed(file, cause));
  const onExit = (): void => end(closing ? closedError() : crashed(file));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);

  const sendTick = (): void => {
    if (tick.length === 0) return;
    nextId += 1;
    pending.set(nextId, tick);
    worker.postMessage({ id: nextId, kind: "write", writes: tick.map(({ write }) => write) });
    tick = [];
  };

  const request = <T>(message: { kind: "close" } | { kind: "read"; read: Read }): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (ended) return reject(ended);
      nextId += 1;
      pending.set(nextId, [{ write: null, resolve, reject }]);
      worker.postMessage({ id: nextId, ...message });
    });

  const shutDown = async (): Promise<void> => {
    sendTick();
    if (ended) return;
    await request<null>({ kind: "close" }).catch(() => {});
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    if (isBroken) await worker.terminate();
    else if (!ended) releaseJournalWorker(worker);
    end(closedError());
  };

  return {
    tailAtOpen,
    journalId,
    write(write) {
      if (ended) return Promise.reject(ended);
      if (closing) return Promise.reject(closedError());
      return new Promise<WriteResult>((resolve, reject) => {
        // All writes of one turn of the event loop are sent together.
        if (tick.length === 0) setImmediate(sendTick);
        tick.push({ write, resolve, reject });
      });
    },
    read(read) {
      if (closing) return Promise.reject(closedError());
      return request({ kind: "read", read });
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

function opened(worker: Worker, file: string): Promise<Extract<FromThread, { kind: "ready" }>> {
  return new Promise((resolve, reject) => {
    const stopListening = (): void => void worker.off("error", onError).off("exit", onExit);
    const onError = (cause: unknown): void => reject(crashed(file, cause));
    const onExit = (): void => reject(crashed(file));
    worker.once("error", onError).once("exit", onExit);
    worker.once("message", (message: FromThread) => {
      stopListening();
      if (message.kind === "ready") resolve(message);
      else if (message.kind === "refused") reject(toTroupeError(message.problem));
    });
  });
}

function closedError(): TroupeError {
  return new TroupeError("CLOSED", "the journal is closed");
}

function crashed(file: string, cause?: unknown): TroupeError {
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  return new TroupeError("INTERNAL", `the thread that writes ${file} ended${reason}`, {
    fix: "start troupe again: unfinished runs resume from the journal",
    cause,
  });
}
