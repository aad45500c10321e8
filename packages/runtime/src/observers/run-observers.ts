import type { Entry, Logger, RunRequest, ToolCall } from "@troupe/core";
import { canonicalCall, type ObserverSpec } from "@troupe/core/internal";
import type { ObserverFiles, Observers } from "./observer.ts";

export interface RunObserversOptions {
  request: RunRequest;
  /** The observers that the definition of the run declares. */
  specs: readonly ObserverSpec[];
  observers: Observers;
  files: ObserverFiles;
  logger: Logger;
  /** Whether words of the request make a delegation mandatory. @default false */
  isDelegating?: boolean;
  /** The folder of the run; null while it is not open. */
  workspace(): string | null;
}

/** An observer that takes longer is reported. It goes on, and later calls wait behind it. */
const waitingMax = 1_000;

/**
 * The observers of one run. They see outcomes that are durable, in the order of the journal, and one call after the other.
 * The run does not wait for them. Their errors are logged.
 */
export class RunObservers {
  readonly #options: RunObserversOptions;
  readonly #calls = new Map<number, readonly ToolCall[]>();
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: RunObserversOptions) {
    this.#options = options;
  }

  /** Takes a durable entry: a new one, or one that a later host finds in the journal. Never throws. */
  note(entry: Entry): void {
    if (this.#options.specs.length === 0) return;
    if (entry.kind === "model.replied") this.#calls.set(entry.step, entry.reply.calls);
    if (entry.kind !== "tool.finished") return;
    if (this.#waiting >= waitingMax) {
      this.#log(new Error(`${waitingMax} calls wait to be observed`), "a call was not observed");
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#observe(entry))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Resolves when every call so far was observed. */
  idle(): Promise<void> {
    return this.#last;
  }

  async #observe(entry: Extract<Entry, { kind: "tool.finished" }>): Promise<void> {
    const { specs, observers, request, files, logger, isDelegating = false, workspace: folderOf } = this.#options;
    const { step, call, tool, outcome, at } = entry;
    const args = canonicalArgs(this.#calls.get(step)?.[call]);
    const workspace = folderOf();
    if (workspace === null) return;
    const observed = { key: `${request.run}/${step}/${call}`, tool, args, outcome, at };
    for (const { name, params } of specs) {
      try {
        const observer = Object.hasOwn(observers, name) ? observers[name] : undefined;
        if (!observer)
          throw new Error(`no observer is called "${name}"; there are: ${Object.keys(observers).join(", ")}`);
        await observer(observed, { workspace, request, isDelegating, files, logger, params });
      } catch (error) {
        this.#log(error, `the observer ${name} failed`);
      }
    }
  }

  #log(err: unknown, message: string): void {
    const { logger, request } = this.#options;
    logger.warn({ session: request.session, run: request.run, err }, message);
  }
}

/** Null if this host observes no calls, and in a replay, which writes no files. */
export function createRunObservers(
  {
    observers,
    logger,
    replay,
  }: { observers?: { named: Observers; files: ObserverFiles }; logger: Logger; replay?: object },
  run: Pick<RunObserversOptions, "request" | "specs" | "isDelegating" | "workspace">,
): RunObservers | null {
  if (!observers || replay || run.specs.length === 0) return null;
  return new RunObservers({ ...run, observers: observers.named, files: observers.files, logger });
}

function canonicalArgs(call: ToolCall | undefined): ToolCall["args"] {
  return call ? canonicalCall(call, () => false).args : null;
}
