import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { DatabaseError, type DatabaseProblem, toDatabaseProblem } from "../database/problem.ts";
import type { Answer, Command, FromThread, WriteResult } from "./messages.ts";
import { type JournalStore, openJournalStore, type RestoredJournalFile } from "./store.ts";

export interface JournalThreadData {
  file: string;
  restored?: RestoredJournalFile;
}

/** The journal's own thread: its commits wait for the disk, and nobody else does. */

if (parentPort) open(parentPort, workerData as JournalThreadData);

function open(port: MessagePort, { file, restored }: JournalThreadData): void {
  const say = (message: FromThread): void => port.postMessage(message);
  try {
    const store = openJournalStore(file, restored);
    say({ kind: "ready", tail: store.tail(), journalId: store.journalId() });
    serve(port, store, say);
  } catch (thrown) {
    say({ kind: "refused", problem: problemOf(thrown) });
    port.close();
  }
}

function serve(port: MessagePort, store: JournalStore, say: (message: FromThread) => void): void {
  port.on("message", (first: Command) => {
    const group = [first, ...waiting(port)];
    say({ kind: "answers", answers: [...writeGroup(store, group), ...readGroup(store, group)] });
    const close = group.find((command) => command.kind === "close");
    if (!close) return;
    store.close();
    say({ kind: "answers", answers: [{ id: close.id, value: null }] });
    port.close();
  });
}

/** What arrived while the last group was on its way to the disk. */
function waiting(port: MessagePort): Command[] {
  const commands: Command[] = [];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) commands.push(next.message);
  return commands;
}

/** All writes of a group are one transaction, and one wait for the disk. */
function writeGroup(store: JournalStore, group: readonly Command[]): Answer[] {
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

/** Reads come after the commit: they never show what might still fail to be stored. */
function readGroup(store: JournalStore, group: readonly Command[]): Answer[] {
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
