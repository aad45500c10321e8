import { type MessagePort, parentPort, receiveMessageOnPort } from "node:worker_threads";
import { DatabaseError, type DatabaseProblem, toDatabaseProblem } from "../database/database-error.ts";
import { type JournalStore, openJournalStore } from "./journal-store.ts";
import type { Command, FromThread, OpenFile, ThreadReply, WriteResult } from "./thread-messages.ts";

/** The journal's own thread. Only this thread waits for the disk. It has one file at a time. */

if (parentPort) serve(parentPort);

function serve(port: MessagePort): void {
  const send = (message: FromThread): void => port.postMessage(message);
  port.once("message", (message: OpenFile) => {
    const store = open(message, send);
    if (store === null) port.close();
    else serveFile(port, store, send);
  });
}

function open({ file, restored }: OpenFile, send: (message: FromThread) => void): JournalStore | null {
  try {
    const store = openJournalStore(file, restored);
    send({ kind: "ready", tail: store.tail(), journalId: store.journalId() });
    return store;
  } catch (thrown) {
    send({ kind: "refused", problem: problemOf(thrown) });
    return null;
  }
}

function serveFile(port: MessagePort, store: JournalStore, send: (message: FromThread) => void): void {
  port.on("message", function answer(first: Command) {
    const group = [first, ...receiveQueued(port)];
    send({ kind: "answers", answers: [...writeGroup(store, group), ...readGroup(store, group)] });
    const close = group.find((command) => command.kind === "close");
    if (!close) return;
    store.close();
    port.off("message", answer);
    serve(port);
    send({ kind: "answers", answers: [{ id: close.id, value: null }] });
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
