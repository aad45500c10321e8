import type { Effect, RunSpec } from "@troupe/core/internal";
import { needsFolder } from "../effects/effect.ts";
import type { HostDeps } from "../host-deps.ts";
import { sleep } from "../retry-until-done.ts";
import type { EffectsOwner } from "./run-effects.ts";

/** Time between two looks at the disk. */
const lookEveryMs = 1_000;

export interface SpaceScope {
  deps: Pick<HostDeps, "clock" | "diskSpace" | "replay">;
  pin: Pick<RunSpec, "tools">;
  /** The folder that the run works in. */
  folder: string;
  /** Whether the run's own folder has to be filled first. */
  opensFolder: boolean;
  publish: EffectsOwner["publish"];
  signal: AbortSignal;
  /** Called once if the effect has to wait. */
  onWait(): void;
}

/**
 * Waits until the disks of this host have enough free space for an effect that may write: a tool call that does not only
 * read, or the first effect of a run with a folder of its own. The run holds no slot meanwhile, and its time limit counts.
 *
 * @returns whether it had to wait
 */
export async function waitForSpace(effect: Effect, scope: SpaceScope): Promise<boolean> {
  const { deps, folder, publish, signal } = scope;
  const { diskSpace, clock, replay } = deps;
  if (!diskSpace || replay || !mayWrite(effect, scope)) return false;
  let isWaiting = false;
  while (!signal.aborted) {
    const shortage = await diskSpace.shortageAt(folder);
    if (shortage === null) break;
    if (!isWaiting) {
      isWaiting = true;
      scope.onWait();
      publish({ kind: "disk.waiting", waiting: true, message: shortage.message });
    }
    await sleep(lookEveryMs, clock, signal);
  }
  if (isWaiting && !signal.aborted) publish({ kind: "disk.waiting", waiting: false, message: "" });
  return isWaiting;
}

function mayWrite(effect: Effect, { pin, opensFolder }: SpaceScope): boolean {
  if (opensFolder && needsFolder(effect.kind)) return true;
  if (effect.kind !== "callTool") return false;
  const { name } = effect.toolCall;
  // A call of an unknown tool is refused without an effect.
  return pin.tools.some((tool) => tool.name === name && tool.effect !== "read");
}
