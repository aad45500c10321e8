import { RunFailure, type RunRequest } from "@troupe/core";
import { type CollectedFiles, type RunFolder, sharedFolder } from "@troupe/core/internal";
import { retryUntilDone } from "../retry-until-done.ts";
import type { RunDeps } from "../run-deps.ts";

type RunWorkspaceDeps = Pick<RunDeps, "folders" | "replay" | "clock" | "logger">;

/** The folder of a run on this host's disk. It is opened before the first effect that needs it, as the journal says. */
export class RunWorkspace {
  readonly #deps: RunWorkspaceDeps;
  readonly #request: RunRequest;
  readonly #isResumed: boolean;
  /** Reference of the newest folder state in the journal. */
  #folderRef: string | null = null;
  #folder: RunFolder | null = null;
  #opening: Promise<void> | null = null;

  constructor(deps: RunWorkspaceDeps, request: RunRequest, { isResumed }: { isResumed: boolean }) {
    this.#deps = deps;
    this.#request = request;
    this.#isResumed = isResumed;
    const { mode = "shared" } = request.workspace;
    // A replay touches no files.
    if (deps.replay) this.#folder = deps.replay.folderOf(request);
    else if (mode === "shared" && !deps.folders) this.#folder = sharedFolder(request.workspace.path);
  }

  get isOpen(): boolean {
    return this.#folder !== null;
  }

  /** The open folder. Call it only after `open` has resolved. */
  get folder(): RunFolder {
    return this.#folder ?? sharedFolder(this.#request.workspace.path);
  }

  /** Whether the run shares its folder, so the host collects nothing at its end. */
  get isShared(): boolean {
    return !this.#deps.folders || (this.#request.workspace.mode ?? "shared") === "shared";
  }

  /** Remembers the newest folder state in the journal. */
  noteFolderRef(folderRef: string): void {
    this.#folderRef = folderRef;
  }

  /** Throws a `RunFailure` if the folder cannot exist. Other failures are retried until the signal aborts. */
  async open(signal: AbortSignal): Promise<void> {
    if (this.#folder) return;
    this.#opening ??= this.#openOnce(signal).finally(() => {
      this.#opening = null;
    });
    await this.#opening;
  }

  async #openOnce(signal: AbortSignal): Promise<void> {
    const { folders } = this.#deps;
    if (!folders) throw noFolders(this.#request);
    const state = { journaled: this.#folderRef, isResumed: this.#isResumed };
    this.#folder = await this.#retry(() => folders.open(this.#request, state), "its folder could not be made", signal);
  }

  /** Collects the files that return to the parent with the response. Never throws: a failure becomes a warning. */
  async collect(signal: AbortSignal): Promise<CollectedFiles> {
    const { folders } = this.#deps;
    const nothing: CollectedFiles = { artifacts: [], warnings: [] };
    if (!folders) return nothing;
    try {
      const finish = () => folders.finish(this.#request, { journaled: this.#folderRef });
      return (await this.#retry(finish, "its folder could not be finished", signal)) ?? nothing;
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      return { artifacts: [], warnings: [`the files in its folder could not be collected: ${error.message}`] };
    }
  }

  /** Deletes an isolated folder. The run calls it after every end, also after a cancel. */
  async remove(): Promise<void> {
    const { session, run } = this.#request;
    const logFailure = (err: unknown): void =>
      this.#deps.logger.warn({ session, run, err }, "its folder could not be removed");
    await this.#deps.folders?.remove(this.#request).catch(logFailure);
  }

  /** Retries everything but a `RunFailure`, which it throws. Resolves to null after an abort. */
  async #retry<T>(action: () => Promise<T>, failure: string, signal: AbortSignal): Promise<T | null> {
    let result: { value: T } | { failure: RunFailure } | null = null;
    const tryOnce = async (): Promise<void> => {
      try {
        result = { value: await action() };
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        result = { failure: error };
      }
    };
    await retryUntilDone(tryOnce, `${failure}; trying again`, { deps: this.#deps, request: this.#request, signal });
    const found = result as { value: T } | { failure: RunFailure } | null;
    if (found && "failure" in found) throw found.failure;
    return found?.value ?? null;
  }
}

function noFolders({ workspace: { mode } }: RunRequest): RunFailure {
  const folder = mode === "worktree" ? "a git worktree" : "an isolated folder";
  return new RunFailure({
    type: "params",
    message: `this agent works in ${folder}, and this host has no run folders: set \`folders\` of its HostDeps (createRunFolders of @troupe/tools)`,
    recoverable: false,
  });
}
