import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Clock, RunFailure } from "@troupe/core";
import { startDeadlines, untilAborted } from "../http-client/deadlines.ts";
import type { ExtractedPage, ExtractInput } from "./extract-page.ts";

export interface PageReader {
  /** Throws a `RunFailure` if not even the plain text of a page can be extracted. */
  read(input: ExtractInput, signal: AbortSignal): Promise<ExtractedPage>;
}

export interface PageReaderOptions {
  clock: Clock;
  /** For each attempt. @default 8 s */
  timeoutMs?: number;
  /** @default 512 */
  memoryMb?: number;
}

/** A checkout runs the source (`.ts`), a package the compiled file (`.js`). */
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const program = fileURLToPath(new URL(`./extract-process.${extension}`, import.meta.url));

/** The reader ignores the rest of a larger page. */
const pageBytesMax = 5_000_000;

/** After a page of this size the process ends, because it would keep the memory. */
const largePageBytes = 1_000_000;

type Reply = { page: ExtractedPage } | { problem: string };

/**
 * Extracts pages in a process of its own, one after the other. This keeps the HTML parsers out of this process. A hostile
 * page can only exhaust the extract process: a worker thread that runs out of memory can crash its whole process.
 *
 * The process starts for the first page. It gets no environment, cannot write files and cannot start programs. The reader
 * kills it when a page takes too much time or memory, and extracts that page again as plain text. The process ends with
 * its parent and does not keep the parent alive.
 */
export function createPageReader({ clock, timeoutMs = 8_000, memoryMb = 512 }: PageReaderOptions): PageReader {
  let idle: ChildProcess | null = null;
  let lastRead: Promise<unknown> = Promise.resolve();

  const start = (): ChildProcess => {
    const child = startProcess(memoryMb);
    // Without a listener, an error of the idle process would crash this process.
    child
      .on("error", () => {})
      .on("exit", () => {
        if (idle === child) idle = null;
      });
    return child;
  };

  const attempt = async (input: ExtractInput, signal: AbortSignal): Promise<Reply> => {
    const child = idle ?? start();
    idle = null;
    setRef(child, true);
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const onMessage = (message: unknown): void => resolve(message as Reply);
    const onEnd = (): void => resolve({ problem: "it needs more memory than the limit" });
    const cancel = clock.after(timeoutMs, () => resolve({ problem: `it takes longer than ${timeoutMs} ms` }));
    child.once("message", onMessage).once("error", onEnd).once("exit", onEnd);
    child.send(input, () => {});
    try {
      const reply = await untilAborted(promise, signal);
      if ("page" in reply && input.bytes.length < largePageBytes) idle = child;
      return reply;
    } finally {
      cancel();
      child.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
      if (idle === child) setRef(child, false);
      else child.kill("SIGKILL");
    }
  };

  const readOne = async (input: ExtractInput, signal: AbortSignal): Promise<ExtractedPage> => {
    if (signal.aborted) throw signal.reason;
    const first = await attempt(input, signal);
    if ("page" in first) return first.page;
    const second = await attempt({ ...input, mode: "text" }, signal);
    if ("page" in second) return { ...second.page, note: `shown as plain text: ${first.problem}` };
    throw new RunFailure({
      type: "tool_error",
      message: `the page cannot be read: ${second.problem}; use format "raw" or another page`,
      recoverable: false,
    });
  };

  return {
    async read(input, caller) {
      using deadlines = startDeadlines(clock, caller);
      const bytes = input.bytes.subarray(0, pageBytesMax);
      const thisRead = lastRead.then(() => readOne({ ...input, bytes }, deadlines.signal));
      lastRead = thisRead.catch(() => {});
      const page = await untilAborted(thisRead, deadlines.signal);
      if (bytes.length === input.bytes.length) return page;
      const note = `only the first ${pageBytesMax} of ${input.bytes.length} bytes were read`;
      return { ...page, note: page.note === null ? note : `${page.note}; ${note}` };
    },
  };
}

function startProcess(memoryMb: number): ChildProcess {
  return fork(program, [], {
    env: {},
    execArgv: [
      `--max-old-space-size=${memoryMb}`,
      "--disallow-code-generation-from-strings",
      "--permission",
      "--allow-fs-read=*",
      "--allow-worker",
    ],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}

/** Sets whether the child keeps this process alive. */
function setRef(child: ChildProcess, isRef: boolean): void {
  if (isRef) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
