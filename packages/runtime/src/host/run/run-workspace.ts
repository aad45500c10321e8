import { RunFailure, type RunRequest } from "@troupe/core";
import { type CollectedFiles, type RunFolder, sharedFolder } from "@troupe/core/internal";
import { untilDone } from "../retry-until-done.ts";
import type { RunDeps } from "../run-deps.ts";

type RunWorkspaceDeps = Pick<RunDeps, "folders" | "replay" | "clock" | "logger">;

/**
 * Where a run works on this host's disk: opened when something is first to be done there, as its journal says that it is.
 */
export class RunWorkspace {
  readonly #deps: RunWorkspaceDeps;
  readonly #request: RunRequest;
  readonly #isResumed: boolean;
  #journaled: string | null = null;
  #folder: RunFolder | null = null;
  #opening: Promise<void> | null = null;

  constructor(deps: RunWorkspaceDeps, request: RunRequest, { isResumed }: { isResumed: boolean }) {
    this.#deps = deps;
    this.#request = request;
    this.#isResumed = isResumed;
    const { mode = "shared" } = request.workspace;
    // Where a session runs again from its record, nothing is touched.
    if (deps.replay || (mode === "shared" && !deps.folders)) this.#folder = sharedFolder(request.workspace.path);
  }

  /** Whether there is nothing to wait for. */
  get isOpen(): boolean {
    return this.#folder !== null;
  }

  /** Only once it is open. */
  get folder(): RunFolder {
    return this.#folder ?? sharedFolder(this.#request.workspace.path);
  }

  /** Whether nothing can come back of it with the run's response. */
  get isOthers(): boolean {
    return !this.#deps.folders || (this.#request.workspace.mode ?? "shared") === "shared";
  }

  /** What the journal says of it last. */
  note(folderRef: string): void {
    this.#journaled = folderRef;
  }

  /** Throws a `RunFailure` where it cannot be had; what may pass is waited out, for as long as anybody wants it. */
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
    const facts = { journaled: this.#journaled, isResumed: this.#isResumed };
    this.#folder = await this.#insist(() => folders.open(this.#request, facts), "its folder could not be made", signal);
  }

  /** What comes back of it with the run's response. Never throws: what cannot be had is a warning. */
  async finish(signal: AbortSignal): Promise<CollectedFiles> {
    const { folders } = this.#deps;
    const nothing: CollectedFiles = { artifacts: [], warnings: [] };
    if (!folders) return nothing;
    try {
      const finish = () => folders.finish(this.#request, { journaled: this.#journaled });
      return (await this.#insist(finish, "its folder could not be finished", signal)) ?? nothing;
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      return { artifacts: [], warnings: [`what it left in its folder could not be brought back: ${error.message}`] };
    }
  }

  async remove(): Promise<void> {
    const { session, run } = this.#request;
    const failed = (err: unknown): void =>
      this.#deps.logger.warn({ session, run, err }, "its folder could not be removed");
    await this.#deps.folders?.remove(this.#request).catch(failed);
  }

  /** Tries again what fails for no reason of the folder's; null where nobody wants it any more. */
  async #insist<T>(act: () => Promise<T>, failed: string, signal: AbortSignal): Promise<T | null> {
    let result: { value: T } | { refused: RunFailure } | null = null;
    const tryOnce = async (): Promise<void> => {
      try {
        result = { value: await act() };
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        result = { refused: error };
      }
    };
    await untilDone(tryOnce, `${failed}; trying again`, { deps: this.#deps, request: this.#request, signal });
    const found = result as { value: T } | { refused: RunFailure } | null;
    if (found && "refused" in found) throw found.refused;
    return found?.value ?? null;
  }
}

function noFolders({ workspace: { mode } }: RunRequest): RunFailure {
  return new RunFailure({
    type: "params",
    message: `this agent works ${mode === "worktree" ? "in a git worktree" : "in a folder of its own"}, and this troupe has no place for such folders: give its world some (createRunFolders)`,
    recoverable: false,
  });
}
