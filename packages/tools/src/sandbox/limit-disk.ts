import { setTimeout as delay } from "node:timers/promises";
import { formatBytes } from "@troupe/core/texts";
import { freeLimitOf, readVolumeSpace, type VolumeSpace } from "../disk/free-space.ts";
import type { SessionUsage } from "../disk/session-usage.ts";
import { writtenBytesIn } from "../disk/written-bytes.ts";
import { withNotice } from "./processes/command-output.ts";
import type { CommandResult, Sandbox, SandboxedCommand } from "./sandbox.ts";

export interface DiskLimits {
  /** Free space that has to stay, in MB. @default 512 MB, or a twentieth of a smaller volume */
  freeMb?: number | null;
  usage: Pick<SessionUsage, "leftOf" | "add" | "bytesMax">;
}

/** A fast disk writes this much per second. The next look comes before it could be full. */
const bytesPerMs = (4 * 1024 ** 3) / 1_000;
const lookMsMin = 50;
const lookMsMax = 1_000;
/** Less is not measured after a command: it would take longer than most commands. */
const countedBytesMin = 1024 ** 2;
/** Clocks of file systems lag behind by one tick of the kernel. */
const clockLagMs = 20;

/**
 * A sandbox that stops a command when its session has used its space, or when the disk of its workspace has less free space
 * than has to stay. It looks at the disk once per second, and more often if it could soon be full.
 *
 * A command has added at most the space that its volume has lost, and at most the size of the files that changed: the
 * smaller of both counts.
 */
export function limitDisk(sandbox: Sandbox, limits: DiskLimits): Sandbox {
  const { run } = sandbox;
  return {
    ...sandbox,
    run: (command) => (mayWrite(command) ? runWatched(run, command, limits) : run(command)),
  };
}

/** A layer of scopes without a folder allows no writing. */
function mayWrite({ writes }: SandboxedCommand): boolean {
  return writes.every((scope) => scope.length > 0);
}

async function runWatched(run: Sandbox["run"], command: SandboxedCommand, limits: DiskLimits): Promise<CommandResult> {
  const { workspace, session } = command;
  const start = await readVolumeSpace(workspace);
  // A missing workspace is refused by the sandbox itself. Some file systems have no size.
  if (start === null || start.totalBytes === 0) return run(command);
  const watched: Watched = { workspace, startMs: Date.now() - clockLagMs, startFreeBytes: start.freeBytes };
  const stop = new AbortController();
  const ended = new AbortController();
  let stopped: string | null = null;
  const watching = watch(watched, limits, session, ended.signal).then((reason) => {
    stopped = reason;
    if (reason !== null) stop.abort();
  });
  try {
    const result = await run({ ...command, signal: AbortSignal.any([command.signal, stop.signal]) });
    ended.abort();
    await watching;
    const isStopped = stopped !== null && result.reason === "aborted" && !command.signal.aborted;
    if (isStopped) return { ...result, reason: "disk", diskNote: stopped ?? "" };
    return result.code === 0 ? result : await withSpaceNotice(result, workspace, limits);
  } finally {
    ended.abort();
    await watching;
    if (session !== undefined) limits.usage.add(session, await addedBytes(watched, Number.POSITIVE_INFINITY));
  }
}

/** A fast command can fill a small disk before the next look. Then its failure gets the reason. */
async function withSpaceNotice(
  result: CommandResult,
  workspace: string,
  { freeMb = null }: DiskLimits,
): Promise<CommandResult> {
  const space = await readVolumeSpace(workspace);
  const reason = space && lowSpaceReason(space, freeMb);
  return reason === null ? result : withNotice(result, reason);
}

function lowSpaceReason(space: VolumeSpace, freeMb: number | null): string | null {
  const limitBytes = freeLimitOf(space, freeMb);
  if (space.freeBytes >= limitBytes) return null;
  const [free, limit] = [formatBytes(space.freeBytes), formatBytes(limitBytes)];
  return `the disk of the workspace has only ${free} free, and ${limit} have to stay free (disk.freeMb of policy.yaml)`;
}

interface Watched {
  workspace: string;
  startMs: number;
  startFreeBytes: number;
}

/** Resolves to the reason to stop the command, or to null when it has ended. Never rejects. */
async function watch(
  watched: Watched,
  { freeMb = null, usage }: DiskLimits,
  session: string | undefined,
  ended: AbortSignal,
): Promise<string | null> {
  const left = session === undefined ? Number.POSITIVE_INFINITY : usage.leftOf(session);
  // The space that the volume has to lose before the files are measured (again).
  let measuredFrom = left;
  for (let waitMs = lookMsMin; !ended.aborted; ) {
    await delay(waitMs, undefined, { signal: ended, ref: false }).catch(() => {});
    const space = ended.aborted ? null : await readVolumeSpace(watched.workspace);
    if (space === null) continue;
    const reason = lowSpaceReason(space, freeMb);
    if (reason !== null) return reason;
    if (watched.startFreeBytes - space.freeBytes > measuredFrom) {
      const added = await addedBytes(watched, left);
      if (added > left) {
        return `the calls of this session may add ${formatBytes(usage.bytesMax)} to this machine (disk.sessionMb of policy.yaml), and this command has written at least ${formatBytes(added)} of the ${formatBytes(Math.max(0, left))} that were left`;
      }
      measuredFrom += left - added;
    }
    waitMs = Math.min(lookMsMax, Math.max(lookMsMin, (space.freeBytes - freeLimitOf(space, freeMb)) / bytesPerMs));
  }
  return null;
}

/** The space that a command has added: the smaller of the volume's loss and the changed files. */
async function addedBytes({ workspace, startMs, startFreeBytes }: Watched, enoughBytes: number): Promise<number> {
  const space = await readVolumeSpace(workspace);
  const lost = space === null ? 0 : startFreeBytes - space.freeBytes;
  if (lost < countedBytesMin) return 0;
  return Math.min(lost, await writtenBytesIn(workspace, startMs, Math.min(lost, enoughBytes)));
}
