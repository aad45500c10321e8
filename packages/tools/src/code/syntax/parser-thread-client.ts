import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { RunFailure } from "@troupe/core";
import type { Answers, ParseRequest, ThreadMessage, Unparsed } from "./queries.ts";

/** A thread that parses. It answers one question after another. */
export interface SyntaxThread {
  /** A file that takes the thread down, or too long, costs its own answer: the thread has ended then. */
  ask(question: Omit<ParseRequest, "id">, timeoutMs: number): Promise<Answers[keyof Answers] | Unparsed>;
  ended(): boolean;
  end(): Promise<void>;
}

/** The source is loaded as it is from a checkout (`.ts`), and compiled from a package (`.js`). */
const parserUrl = new URL(`./parser-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

const startTimeoutMs = 60_000;

export async function connectToThread(url: URL = parserUrl): Promise<SyntaxThread> {
  const worker = new Worker(url, {
    name: "troupe-syntax",
    // Neither the process's own flags nor its secrets.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  let hasEnded = false;
  worker.on("error", () => {});
  worker.on("exit", () => {
    hasEnded = true;
  });
  await started(worker);
  let nextId = 0;

  const end = async (): Promise<void> => {
    hasEnded = true;
    await worker.terminate();
  };

  return {
    ended: () => hasEnded,
    end,
    async ask(question, timeoutMs) {
      nextId += 1;
      worker.ref();
      const answer = answered(worker, nextId, timeoutMs);
      worker.postMessage({ ...question, id: nextId }, [question.bytes.buffer]);
      const found = await answer;
      // Idle, it keeps no process alive.
      worker.unref();
      if (found.isLost) await end();
      return found.answer;
    },
  };
}

async function started(worker: Worker): Promise<void> {
  try {
    const signal = AbortSignal.timeout(startTimeoutMs);
    const exited = once(worker, "exit", { signal }).then(() => {
      throw new Error("it ended at once");
    });
    await Promise.race([once(worker, "message", { signal }), exited]);
  } catch (cause) {
    await worker.terminate();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new RunFailure(
      { type: "tool_error", message: `the parser could not be started: ${why}`, recoverable: true },
      { cause },
    );
  }
}

/** Whatever comes first: the answer, the thread's end, or the end of patience. */
function answered(
  worker: Worker,
  id: number,
  timeoutMs: number,
): Promise<{ answer: Answers[keyof Answers] | Unparsed; isLost: boolean }> {
  return new Promise((resolve) => {
    const settle = (answer: Answers[keyof Answers] | Unparsed, isLost: boolean): void => {
      clearTimeout(timer);
      worker.off("message", onMessage);
      worker.off("exit", onExit);
      resolve({ answer, isLost });
    };
    const onMessage = (message: ThreadMessage): void => {
      if (message.kind === "ready" || message.id !== id) return;
      if (message.kind === "answer") settle(message.answer, false);
      else settle({ problem: `the parser broke down on it (${message.problem})` }, true);
    };
    const onExit = (): void => settle({ problem: "the parser broke down on it" }, true);
    const timer = setTimeout(() => settle({ problem: `it took over ${timeoutMs} ms` }, true), timeoutMs);
    worker.on("message", onMessage);
    worker.on("exit", onExit);
  });
}
