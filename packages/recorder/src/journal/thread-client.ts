import { Worker } from "node:worker_threads";
import { TroupeError } from "@troupe/core";
import { toTroupeError } from "../database/troupe-error.ts";
import type { Answer, FromThread, Read, ReadResults, Write, WriteResult } from "./messages.ts";
import type { RestoredJournalFile } from "./store.ts";
import type { JournalThreadData } from "./thread.ts";

export interface JournalThread {
  /** Position of the newest item when the file was opened. */
  readonly tailAtOpen: number;
  readonly journalId: string;
  write(write: Write): Promise<WriteResult>;
  read<R extends Read>(read: R): Promise<ReadResults[R["kind"]]>;
  /** Ends the thread once everything before is stored. Idempotent. */
  close(): Promise<void>;
}

export interface ThreadListener {
  /** What one commit stored, in feed order, called before any of its writers hears of it. */
  onStored(writes: readonly { write: Write; result: WriteResult }[]): void;
  /** The thread is gone: nothing that was not confirmed is known to be stored, and nothing more will be. */
  onCrash(error: TroupeError): void;
}

interface Waiting {
  write: Write | null;
  resolve: (value: never) => void;
  reject: (error: TroupeError) => void;
}

/** The source is loaded as it is from a checkout (`.ts`), and compiled from a package (`.js`). */
const threadUrl = new URL(`./thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

export function spawnJournalThread(file: string, restored?: RestoredJournalFile): Worker {
  // Without the process's own flags: a preload with a relative path would not be found from another working folder.
  const workerData: JournalThreadData = restored ? { file, restored } : { file };
  return new Worker(threadUrl, { workerData, name: "troupe-journal", execArgv: [] });
}

/** Resolves when the thread has opened the file. */
export async function connectToThread(worker: Worker, file: string, listener: ThreadListener): Promise<JournalThread> {
  const { tail: tailAtOpen, journalId } = await opened(worker, file);
  const waiting = new Map<number, Waiting[]>();
  let nextId = 0;
  let tick: Waiting[] = [];
  let closing: Promise<void> | null = null;
  let ended: TroupeError | null = null;

  const settle = (answer: Answer): void => {
    const asked = waiting.get(answer.id) ?? [];
    waiting.delete(answer.id);
    if ("problem" in answer) {
      for (const { reject } of asked) reject(toTroupeError(answer.problem));
      return;
    }
    const single = asked[0]?.write === null;
    const values = single ? [answer.value] : (answer.value as WriteResult[]);
    if (!single) tell(asked, values as WriteResult[]);
    for (const [i, { resolve }] of asked.entries()) resolve(values[i] as never);
  };

  const tell = (asked: readonly Waiting[], results: readonly WriteResult[]): void => {
    listener.onStored(
      asked.flatMap(({ write }, i) => {
        const result = results[i];
        return write && result ? [{ write, result }] : [];
      }),
    );
  };

  const end = (error: TroupeError): void => {
    if (ended) return;
    ended = error;
    const lost = [...waiting.values()].flat().concat(tick);
    waiting.clear();
    tick = [];
    for (const { reject } of lost) reject(error);
    if (!closing) listener.onCrash(error);
  };

  worker.on("message", (message: FromThread) => {
    if (message.kind === "answers") for (const answer of message.answers) settle(answer);
  });
  worker.on("error", (cause) => end(crashed(file, cause)));
  worker.on("exit", () => end(closing ? closedError() : crashed(file)));

  const sendTick = (): void => {
    if (tick.length === 0) return;
    nextId += 1;
    waiting.set(nextId, tick);
    worker.postMessage({ id: nextId, kind: "write", writes: tick.map(({ write }) => write) });
    tick = [];
  };

  const ask = <T>(message: { kind: "close" } | { kind: "read"; read: Read }): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (ended) return reject(ended);
      nextId += 1;
      waiting.set(nextId, [{ write: null, resolve, reject }]);
      worker.postMessage({ id: nextId, ...message });
    });

  const shutDown = async (): Promise<void> => {
    sendTick();
    if (ended) return;
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    await ask<null>({ kind: "close" }).catch(() => {});
    await exited;
  };

  return {
    tailAtOpen,
    journalId,
    write(write) {
      if (ended) return Promise.reject(ended);
      if (closing) return Promise.reject(closedError());
      return new Promise<WriteResult>((resolve, reject) => {
        // All writes of one turn of the event loop travel together.
        if (tick.length === 0) setImmediate(sendTick);
        tick.push({ write, resolve, reject });
      });
    },
    read(read) {
      if (closing) return Promise.reject(closedError());
      return ask({ kind: "read", read });
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

function opened(worker: Worker, file: string): Promise<Extract<FromThread, { kind: "ready" }>> {
  return new Promise((resolve, reject) => {
    worker.once("error", (cause) => reject(crashed(file, cause)));
    worker.once("exit", () => reject(crashed(file)));
    worker.once("message", (message: FromThread) => {
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
