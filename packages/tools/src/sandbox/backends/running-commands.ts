import type { MountStep } from "../mount-plan/mount-steps.ts";

/** A command of this process, from its plan to its end. */
export interface RunningCommand {
  readonly steps: readonly MountStep[];
  /** Its mounts are complete and checked. */
  mounted(): void;
  /** Resolves when the mounts of all commands that were planned earlier are complete. */
  othersMounted(): Promise<void>;
  ended(): void;
}

const running = new Map<RunningCommand, Promise<void>>();

/** Adds a command. The plans of later commands take its possible exchanges into account. */
export function registerCommand(steps: readonly MountStep[]): RunningCommand {
  const { promise, resolve } = Promise.withResolvers<void>();
  const earlier = [...running.values()];
  const command: RunningCommand = {
    steps,
    mounted: resolve,
    othersMounted: async () => void (await Promise.all(earlier)),
    ended() {
      resolve();
      running.delete(command);
    },
  };
  running.set(command, promise);
  return command;
}

/**
 * Whether a running command can exchange a name on the way to a mount point of these steps. It cannot rename its own
 * mounts and read-only entries.
 */
export function hasExchangeableMount(steps: readonly MountStep[]): boolean {
  const inWorkspaces = steps.filter((step) => "held" in step || step.kind === "hidden");
  return [...running.keys()].some((other) => {
    const byPath = new Map(other.steps.map((step) => [step.path, step.kind]));
    return inWorkspaces.some(({ path }) => namesOn(path).some((name) => canRename(byPath, name)));
  });
}

function canRename(byPath: ReadonlyMap<string, MountStep["kind"]>, path: string): boolean {
  if (byPath.has(path)) return false;
  const enclosing = namesOn(path).findLast((name) => byPath.has(name));
  return enclosing !== undefined && byPath.get(enclosing) === "write";
}

/** A path and every folder above it, the outermost first. */
function namesOn(path: string): string[] {
  const names = path.split("/").filter(Boolean);
  return names.map((_, i) => `/${names.slice(0, i + 1).join("/")}`);
}
