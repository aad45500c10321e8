import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { isWithin } from "../../workspace/workspace-path.ts";
import { firstPidPipe, setupPipe, starterScript } from "../processes/launch.ts";
import { type ProcessLimits, prlimitArguments } from "../processes/resource-limits.ts";
import type { Programs } from "../programs.ts";
import { enterArguments, finishArguments, type KernelGuard } from "../system-calls/kernel-guard.ts";
import { type MountScriptOptions, quote, renderMountScript } from "./mount-script.ts";
import type { RenderLaunch } from "./run-in-namespaces.ts";
import { unescapeField } from "./verify-sandbox.ts";

export interface UnshareOptions extends Omit<MountScriptOptions, "finish" | "mountFlagsOf"> {
  network: boolean;
  limits: ProcessLimits;
  guard: KernelGuard;
  /** Reads the machine's mounts, for each command: file systems come and go. */
  readMountFlags(): MountScriptOptions["mountFlagsOf"];
}

/**
 * Launches commands by the `unshare` of util-linux, which runs a script of mounts. The outer user namespace grants the
 * right to create the others.
 */
export function unshareLaunch(programs: Programs, options: UnshareOptions): RenderLaunch {
  const { unshare, setpriv, mount, umount, pivot_root, prlimit } = programs;
  const { guard, limits } = options;
  const namespaces = ["--mount", "--pid", "--ipc", "--uts", ...(options.network ? [] : ["--net"])];
  const starter = ["/bin/sh", "-c", starterScript({ isFirst: true }), "sh"];
  const finish = finishArguments(guard, limits);
  const inside = [...(finish === null ? prlimitArguments(prlimit, limits) : []), ...starter];
  const programFolders = new Set([mount, umount, pivot_root, setpriv].map((program) => dirname(program)));
  const user = [unshare, "--user", "--map-current-user", "--keep-caps", "--"];
  const others = [
    ...[unshare, ...namespaces, "--fork", "--kill-child=SIGKILL", "--"],
    ...["/bin/sh", "-c", `eval "$(cat <&${setupPipe})"`, "sh"],
  ];
  const env = { PATH: [...programFolders, "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(delimiter) };
  return (plan, argv, group) => ({
    argv: [
      // The process dies with its parent. Gaining capabilities resets that request, so it is made after the first step.
      ...(guard.launcher === null
        ? [...enterArguments(guard, { group }), ...user, ...dieWithParent(setpriv)]
        : [...user, ...enterArguments(guard, { group, parentPid: process.pid })]),
      ...others,
      ...inside,
      ...argv,
    ],
    env,
    setup: `${reportFirstPid}\n${renderMountScript(plan, { ...options, mountFlagsOf: options.readMountFlags(), ...(finish ? { finish } : {}) })}\n`,
  });
}

/** A parent that died before the request would go unnoticed: the script checks that its parent is this process. */
function dieWithParent(setpriv: string): string[] {
  const check = ["/bin/sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"', String(process.pid)];
  return [setpriv, "--pdeathsig", "KILL", "--", ...check];
}

/** Runs before the new `/proc` is mounted, so that the reported pid is the machine's. */
const reportFirstPid = [
  "read -r pid rest < /proc/self/stat",
  `echo "$pid" >&${firstPidPipe}`,
  `exec ${firstPidPipe}>&- ${setupPipe}<&-`,
].join("\n");

/**
 * The command that brings up the loopback interface of a new network namespace: tests start servers. Null if neither
 * `ip` nor `perl` is installed. Bubblewrap does this itself.
 */
export function findLoopbackCommand({ ip, perl }: Programs): string | null {
  if (ip !== "") return `${quote(ip)} link set lo up`;
  if (perl === "") return null;
  // 0x8914 is SIOCSIFFLAGS; the flags 0x41 are UP and RUNNING.
  const script = 'socket(S, 2, 2, 0); $request = pack("a16 s x22", "lo", 0x41); ioctl(S, 0x8914, $request)';
  return `${quote(perl)} -e ${quote(script)}`;
}

/** Mount flags that a user namespace may not remove from a mount that it binds. */
const lockedFlags: readonly string[] = ["noexec", "nosuid", "nodev"];

/** Reads the machine's mounts. The returned function gives the locked flags of the mount that a path is in. */
export function readMountFlags(): (path: string) => readonly string[] {
  const lines = readMountinfo().split("\n");
  const mounts = lines
    .map((line) => line.split(" "))
    .map(([, , , , at = "", flags = ""]) => ({ at: unescapeField(at), flags: flags.split(",") }))
    .filter(({ at }) => at !== "");
  const none: { at: string; flags: string[] } = { at: "", flags: [] };
  return (path) => {
    const enclosing = mounts.filter(({ at }) => isWithin(at, path));
    const nearest = enclosing.reduce((best, mount) => (mount.at.length >= best.at.length ? mount : best), none);
    return lockedFlags.filter((flag) => nearest.flags.includes(flag));
  };
}

function readMountinfo(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}
