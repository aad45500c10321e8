import type { View, ViewStep } from "./view.ts";

export interface ScriptOptions {
  scratchBytesMax: number;
  /** Makes the loopback interface of the command's own network work; null where that network is the machine's. */
  loopback: string | null;
}

/**
 * The root of the new world while it is built: a folder that is on every machine, and that no world needs. The old root
 * stays where it is until then, since the programs that build are in it.
 */
const root = "/sys";

/**
 * A script for `sh` that builds a world in new namespaces, goes into it for good, gives up every right, and runs the
 * command that its arguments are.
 */
export function renderScript({ steps, folder, env }: View, { scratchBytesMax, loopback }: ScriptOptions): string {
  return [
    "set -e",
    // A namespace within this one would have rights of its own.
    "echo 0 > /proc/sys/user/max_user_namespaces",
    `mount -n -t tmpfs -o mode=755,nosuid,nodev tmpfs ${root}`,
    ...steps.map((step) => renderStep(step, scratchBytesMax)),
    renderReadOnly(steps),
    ...steps.filter(isMask).map(({ path }) => `mount -n -o remount,ro,nosuid,nodev tmpfs ${at(path)}`),
    `mount -n -o remount,ro,nosuid,nodev tmpfs ${root}`,
    ...(loopback === null ? [] : [`${loopback} || :`]),
    `cd ${root}`,
    "pivot_root . .",
    // The old root is now on top of the new one, and everything that hangs on it goes with it.
    "umount -n -l .",
    `cd ${quote(folder)}`,
    "unset OLDPWD",
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    'exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs -- "$@"',
  ].join("\n");
}

function renderStep(step: ViewStep, scratchBytesMax: number): string {
  const there = at(step.path);
  switch (step.kind) {
    case "read":
      // Refused where a mount has restrictions that it must keep: then it is done below, with them.
      return `${place(step)}\nmount -n -o rbind,ro ${quote(step.path)} ${there} 2>/dev/null || mount -n --rbind ${quote(step.path)} ${there}`;
    case "write":
      return `${place(step)}\nmount -n --rbind ${quote(step.path)} ${there}`;
    case "scratch":
      return `${place(step)}\nmount -n -t tmpfs -o mode=1777,nosuid,nodev,size=${scratchBytesMax} tmpfs ${there}`;
    case "folder":
      return place(step);
    case "hidden":
      return isMask(step)
        ? `mount -n -t tmpfs -o mode=755,nosuid,nodev tmpfs ${there}`
        : `mount -n -o bind,ro /dev/null ${there}`;
    case "link":
      return `mkdir -p ${at(parentOf(step.path))}; ln -s ${quote(step.target)} ${there}`;
    case "processes":
      // Read-only: root's own namespace has no right over the machine's settings, but the files of those are still root's.
      return `mkdir -p ${there}; mount -n -t proc -o ro,nosuid,nodev,noexec proc ${there}`;
    case "devices":
      return renderDevices(there);
  }
}

const devices: readonly string[] = ["null", "zero", "full", "random", "urandom", "tty"];

function renderDevices(there: string): string {
  return [
    `mkdir -p ${there}/pts ${there}/shm`,
    `for device in ${devices.join(" ")}; do : > ${there}/$device; mount -n --bind /dev/$device ${there}/$device; done`,
    `mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620,nosuid,noexec devpts ${there}/pts`,
    `ln -s pts/ptmx ${there}/ptmx; ln -s /proc/self/fd ${there}/fd`,
    `ln -s fd/0 ${there}/stdin; ln -s fd/1 ${there}/stdout; ln -s fd/2 ${there}/stderr`,
  ].join("\n");
}

/** A place to mount at, where there is none. */
function place(step: ViewStep): string {
  const there = at(step.path);
  if (!("type" in step) || step.type === "folder") return `[ -d ${there} ] || mkdir -p ${there}`;
  return `[ -e ${there} ] || { mkdir -p ${at(parentOf(step.path))}; : > ${there}; }`;
}

/**
 * Makes everything read-only that is not to be written: mounts within mounts as well, each with the restrictions that it
 * has. The deepest step that a mount is in decides.
 */
function renderReadOnly(steps: readonly ViewStep[]): string {
  const cases = steps
    .filter(({ kind }) => kind === "read" || kind === "write" || kind === "scratch")
    .toReversed()
    .map(({ kind, path }) => `${at(path)}|${at(path)}/*) want=${kind};;`);
  return [
    "while read -r _ _ _ _ where flags _; do",
    `case $where in *\\\\*) where=$(printf '%b.' "$where"); where=\${where%.};; esac`,
    "want=",
    "case $where in",
    ...cases,
    "esac",
    "case $want,$flags in",
    `read,rw*) mount -n -o "remount,bind,ro\${flags#rw}" "$where" < /dev/null;;`,
    "esac",
    "done < /proc/self/mountinfo",
  ].join("\n");
}

function isMask(step: ViewStep): boolean {
  return step.kind === "hidden" && step.type === "folder";
}

function at(path: string): string {
  return quote(`${root}${path}`);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** As one word of a shell, whatever is in it. */
export function quote(text: string): string {
  return /^[\w/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
