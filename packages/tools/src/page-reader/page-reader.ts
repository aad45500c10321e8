import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Clock, RunFailure } from "@troupe/core";
import { startStopwatch, untilAborted } from "../http-client/deadlines.ts";
import type { PageContent, PageJob } from "./page-job.ts";

export interface PageReader {
  /** Throws a `RunFailure` where not even the text of a page can be had. */
  read(job: PageJob, signal: AbortSignal): Promise<PageContent>;
}

export interface PageReaderOptions {
  clock: Clock;
  /** For one try. @default 8 s */
  timeoutMs?: number;
  /** @default 512 */
  memoryMb?: number;
}

/** The source is loaded as it is from a checkout (`.ts`), and compiled from a package (`.js`). */
const program = fileURLToPath(
  new URL(`./extract-process${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/** Of a larger one, the beginning is read. */
const pageBytesMax = 5_000_000;

/** After a page of such a size the process is not used again: what it has taken of memory it would keep. */
const largeBytes = 1_000_000;

type Answer = { page: PageContent } | { problem: string };

/**
 * Reads pages in a process of its own, one after the other. A thread would not do: one that runs out of memory can take
 * the whole process with it, whatever its limits are. It is started for the first page, has no variables of the
 * environment, may write no file and start no program, is killed when a page takes too much time or memory, ends with the
 * process that started it, and keeps none alive that has nothing else to do. A page that was too much is read again as
 * plain text.
 */
export function createPageReader({ clock, timeoutMs = 8_000, memoryMb = 512 }: PageReaderOptions): PageReader {
  let idle: ChildProcess | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const start = (): ChildProcess => {
    const child = startProcess(memoryMb);
    // It may end while nobody waits for it, and somebody has to hear of that.
    child
      .on("error", () => {})
      .on("exit", () => {
        if (idle === child) idle = null;
      });
    return child;
  };

  const attempt = async (job: PageJob, signal: AbortSignal): Promise<Answer> => {
    const child = idle ?? start();
    idle = null;
    setAwaited(child, true);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const heard = (answer: unknown): void => resolve(answer as Answer);
    const ended = (): void => resolve({ problem: "it needs more memory than a page may have" });
    const cancel = clock.after(timeoutMs, () => resolve({ problem: `it takes longer than ${timeoutMs} ms` }));
    child.once("message", heard).once("error", ended).once("exit", ended);
    child.send(job, () => {});
    try {
      const answer = await untilAborted(promise, signal);
      if ("page" in answer && job.bytes.length < largeBytes) idle = child;
      return answer;
    } finally {
      cancel();
      child.off("message", heard).off("error", ended).off("exit", ended);
      if (idle === child) setAwaited(child, false);
      else child.kill("SIGKILL");
    }
  };

  const readOne = async (job: PageJob, signal: AbortSignal): Promise<PageContent> => {
    if (signal.aborted) throw signal.reason;
    const first = await attempt(job, signal);
    if ("page" in first) return first.page;
    const second = await attempt({ ...job, want: "text" }, signal);
    if ("page" in second) return { ...second.page, note: `the page is plain text here: ${first.problem}` };
    throw new RunFailure({
      type: "tool_error",
      message: `the page cannot be read: ${second.problem}; ask for format "raw", or for another page`,
      recoverable: false,
    });
  };

  return {
    async read(job, caller) {
      using watch = startStopwatch(clock, caller);
      const bytes = job.bytes.subarray(0, pageBytesMax);
      const mine = last.then(() => readOne({ ...job, bytes }, watch.signal));
      last = mine.catch(() => {});
      const page = await untilAborted(mine, watch.signal);
      if (bytes.length === job.bytes.length) return page;
      const cut = `only the first ${pageBytesMax} of its ${job.bytes.length} bytes were read`;
      return { ...page, note: page.note === null ? cut : `${page.note}; ${cut}` };
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
    // What it has to say of a page is in its answer; its other words are for nobody.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}

/** Whether this process stays alive for it. */
function setAwaited(child: ChildProcess, isAwaited: boolean): void {
  if (isAwaited) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
