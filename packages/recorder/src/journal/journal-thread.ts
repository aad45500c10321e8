import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { DatabaseError, type DatabaseProblem, toDatabaseProblem } from "../database/database-error.ts";
import { type JournalStore, openJournalStore, type RestoredJournalFile } from "./journal-store.ts";
import type { Command, FromThread, ThreadReply, WriteResult } from "./thread-messages.ts";

export interface JournalThreadData {
  file: string;
  restored?: RestoredJournalFile;
}

/** The journal's own thread. Only this thread waits for the disk. */

if (parentPort) open(parentPort, workerData as JournalThreadData);

function open(port: MessagePort, { file, restored }: JournalThreadData): void {
  const send = (message: FromThread): void => port.postMessage(message);
  try {
    const store = openJournalStore(file, restored);
    send({ kind: "ready", tail: store.tail(), journalId: store.journalId() });
    serve(port, store, send);
  } catch (thrown) {
    send({ kind: "refused", problem: problemOf(thrown) });
    port.close();
  }
}

function serve(port: MessagePort, store: JournalStore, send: (message: FromThread) => void): void {
  port.on("message", (first: Command) => {
    const group = [first, ...receiveQueued(port)];
    send({ kind: "answers", answers: [...writeGroup(store, group), ...readGroup(store, group)] });
    const close = group.find((command) => command.kind === "close");
    if (!close) return;
    store.close();
    send({ kind: "answers", answers: [{ id: close.id, value: null }] });
    port.close();
  });
}

/** Commands that arrived while the last group was written. */
function receiveQueued(port: MessagePort): Command[] {
  const commands: Command[] = [];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) commands.push(next.message);
  return commands;
}

/** Writes a group in one transaction, which waits for the disk once. */
function writeGroup(store: JournalStore, group: readonly Command[]): ThreadReply[] {
  const commands = group.filter((command) => command.kind === "write");
  if (commands.length === 0) return [];
  try {
    const results = store.write(commands.flatMap(({ writes }) => writes));
    let next = 0;
    return commands.map(({ id, writes }) => {
      const value: WriteResult[] = results.slice(next, next + writes.length);
      next += writes.length;
      return { id, value };
    });
  } catch (thrown) {
    const problem = problemOf(thrown);
    return commands.map(({ id }) => ({ id, problem }));
  }
}

/** Reads come after the commit, so that they never return an item that is not stored. */
function readGroup(store: JournalStore, group: readonly Command[]): ThreadReply[] {
  return group
    .filter((command) => command.kind === "read")
    .map(({ id, read }) => {
      try {
        return { id, value: store.read(read) };
      } catch (thrown) {
        return { id, problem: problemOf(thrown) };
      }
    });
}

function problemOf(thrown: unknown): DatabaseProblem {
  return thrown instanceof DatabaseError ? thrown.problem : toDatabaseProblem(thrown, "the journal", "");
}
