import { delimiter, dirname } from "node:path";
import type { View } from "../mount-plan/mount-plan.ts";
import { firstPidPipe, type Launch, planPipe, starter } from "../processes/launch.ts";
import { limitWords, type ProcessLimits } from "../processes/limits.ts";
import type { Programs } from "../programs.ts";
import { type BwrapOptions, renderBwrap } from "./bubblewrap.ts";
import { renderScript, type ScriptOptions } from "./mount-script.ts";

/** How a command gets into a world of its own. */
export type Enter = (view: View, argv: readonly string[]) => Pick<Launch, "argv" | "env" | "plan">;

/** By way of bubblewrap. */
export function enterByBwrap({ bwrap, prlimit }: Programs, options: BwrapOptions & { limits: ProcessLimits }): Enter {
  const inside = [...limitWords(prlimit, options.limits), "/bin/sh", "-c", starter({ stays: false }), "sh"];
  const words = [bwrap, "--info-fd", String(firstPidPipe), "--args", String(planPipe), "--", ...inside];
  return (view, argv) => ({
    argv: [...words, ...argv],
    env: {},
    plan: renderBwrap(view, options).join("\0"),
  });
}

export interface UnshareOptions extends ScriptOptions {
  network: boolean;
  limits: ProcessLimits;
}

/**
 * By way of util-linux. The first namespace gives the right to make the others. That the kernel ends a process with its
 * parent is forgotten when it gets rights, so that it has to be asked for within; and whose parent has ended before it
 * asked ends by itself.
 */
export function enterByUnshare(programs: Programs, options: UnshareOptions): Enter {
  const { unshare, setpriv, mount, umount, pivot_root, prlimit } = programs;
  const namespaces = ["--mount", "--pid", "--ipc", "--uts", ...(options.network ? [] : ["--net"])];
  const inside = [...limitWords(prlimit, options.limits), "/bin/sh", "-c", starter({ stays: true }), "sh"];
  const folders = new Set([mount, umount, pivot_root, setpriv].map((program) => dirname(program)));
  const words = [
    ...[unshare, "--user", "--map-current-user", "--keep-caps", "--"],
    ...[setpriv, "--pdeathsig", "KILL", "--"],
    ...["/bin/sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"', String(process.pid)],
    ...[unshare, ...namespaces, "--fork", "--kill-child=SIGKILL", "--"],
    ...["/bin/sh", "-c", `eval "$(cat <&${planPipe})"`, "sh", ...inside],
  ];
  const env = { PATH: [...folders, "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(delimiter) };
  return (view, argv) => ({
    argv: [...words, ...argv],
    env,
    plan: `${tellFirstPid}\n${renderScript(view, options)}\n`,
  });
}

/** `/proc` is still the machine's, and so is the id in it. */
const tellFirstPid = [
  "read -r pid rest < /proc/self/stat",
  `echo "$pid" >&${firstPidPipe}`,
  `exec ${firstPidPipe}>&- ${planPipe}<&-`,
].join("\n");
