import { once } from "node:events";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { RunFailure } from "@troupe/core";
import { loadOptional } from "@troupe/core/internal";
import type { ParseRequest, SyntaxResult, ThreadMessage, Unparsed } from "./queries.ts";

/** A thread that parses one file after another. */
export interface ParserThread {
  /** Never rejects. A file that crashes the thread or takes too long gives an `Unparsed`, and the thread ends. */
  parse(request: Omit<ParseRequest, "id">, timeoutMs: number): Promise<SyntaxResult | Unparsed>;
  hasEnded(): boolean;
  end(): Promise<void>;
}

/** A checkout loads the source (`.ts`), a package the compiled file (`.js`). */
const parserUrl = new URL(`./parser-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

const startTimeoutMs = 60_000;

/** Throws `MISSING_PACKAGE` if the parser is not installed. */
export async function connectParserThread(url: URL = parserUrl): Promise<ParserThread> {
  // The thread would fail too, but its error reaches this thread as text only.
  await loadOptional("@vscode/tree-sitter-wasm@0.3", () =>
    createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"),
  );
  const worker = new Worker(url, {
    name: "troupe-syntax",
    // The thread gets neither the flags of the process nor its secrets.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  let hasEnded = false;
  worker.on("error", () => {});
  worker.on("exit", () => {
    hasEnded = true;
  });
  await waitUntilReady(worker);
  let nextId = 0;

  const end = async (): Promise<void> => {
    hasEnded = true;
    await worker.terminate();
  };

  return {
    hasEnded: () => hasEnded,
    end,
    async parse(request, timeoutMs) {
      nextId += 1;
      worker.ref();
      const reply = waitForResult(worker, nextId, timeoutMs);
      worker.postMessage({ ...request, id: nextId }, [request.bytes.buffer]);
      const { result, isBroken } = await reply;
      // An idle thread must not keep the process alive.
      worker.unref();
      if (isBroken) await end();
      return result;
    },
  };
}

async function waitUntilReady(worker: Worker): Promise<void> {
  try {
    const signal = AbortSignal.timeout(startTimeoutMs);
    const exited = once(worker, "exit", { signal }).then(() => {
      throw new Error("the thread ended at once");
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

/** Waits for the result, the end of the thread, or the time limit. */
function waitForResult(
  worker: Worker,
  id: number,
  timeoutMs: number,
): Promise<{ result: SyntaxResult | Unparsed; isBroken: boolean }> {
  return new Promise((resolve) => {
    const settle = (result: SyntaxResult | Unparsed, isBroken: boolean): void => {
      clearTimeout(timer);
      worker.off("message", onMessage);
      worker.off("exit", onExit);
      resolve({ result, isBroken });
    };
    const onMessage = (message: ThreadMessage): void => {
      if (message.kind === "ready" || message.id !== id) return;
      if (message.kind === "result") settle(message.result, false);
      else settle({ problem: `the parser failed on it (${message.problem})` }, true);
    };
    const onExit = (): void => settle({ problem: "the parser failed on it" }, true);
    const timer = setTimeout(() => settle({ problem: `parsing took over ${timeoutMs} ms` }, true), timeoutMs);
    worker.on("message", onMessage);
    worker.on("exit", onExit);
  });
}
