import type { MountPlan, MountStep } from "../mount-plan/mount-steps.ts";

export interface MountScriptOptions {
  scratchBytesMax: number;
  /** A command that brings up the loopback interface; null to leave it down, or with the machine's network. */
  loopback: string | null;
  /** Locked flags of the mount that a path is in, such as `noexec`: a bind mount of the path must keep them. */
  mountFlagsOf(path: string): readonly string[];
  /** The arguments that drop all rights and run the command behind them. @default `setpriv` of util-linux */
  finish?: readonly string[];
}

const setprivArguments: readonly string[] = [
  ...["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs", "--"],
];

/**
 * Mount point of the new root while the script builds it: a folder that every machine has and no command needs. The old
 * root stays in place until the end, because the script runs its programs.
 */
const root = "/sys";

/**
 * Renders a plan into a script for `sh` that builds the mounts in new namespaces, changes its root, drops all
 * capabilities, and runs the command in its arguments. Starting a program is slower than a mount, so the script groups
 * mounts into tables for `mount -a`.
 */
export function renderMountScript({ steps, folder, env }: MountPlan, options: MountScriptOptions): string {
  const { loopback, finish = setprivArguments } = options;
  const hiddenFolders = steps.filter((step) => isHiddenFolder(step) && containsOthers(step, steps));
  return [
    "set -e",
    // Inside a further user namespace the command would have capabilities again.
    "echo 0 > /proc/sys/user/max_user_namespaces",
    `mount -n -t tmpfs -o mode=755,nosuid,nodev tmpfs ${root}`,
    ...layersOf(steps).flatMap((layer) => renderLayer(layer, steps, options)),
    renderReadOnly(steps),
    ...hiddenFolders.map(({ path }) => `mount -n -o remount,ro,nosuid,nodev tmpfs ${at(path)}`),
    `mount -n -o remount,ro,nosuid,nodev tmpfs ${root}`,
    ...(loopback === null ? [] : [`${loopback} || :`]),
    `cd ${root}`,
    "pivot_root . .",
    // The old root is now mounted on top of the new one. Unmounting it removes all mounts below it too.
    "umount -n -l .",
    `cd ${quote(folder)}`,
    "unset OLDPWD",
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `exec ${finish.map(quote).join(" ")} "$@"`,
  ].join("\n");
}

/** Groups of steps that can be mounted together: no step of a group needs a mount point in a folder that another mounts. */
function layersOf(steps: readonly MountStep[]): MountStep[][] {
  const layers: MountStep[][] = [];
  for (const step of steps) {
    const depth = steps.filter((other) => isMountedEmpty(other) && isInside(step.path, other.path)).length;
    layers[depth] ??= [];
    layers[depth].push(step);
  }
  return layers.filter(Boolean);
}

function renderLayer(layer: readonly MountStep[], steps: readonly MountStep[], options: MountScriptOptions): string[] {
  const needsMountPoint = layer.filter((step) => !hasEntries(enclosingStep(step, steps)));
  const table = layer.flatMap((step) => mountsOf(step, steps, options));
  const folders = needsMountPoint.flatMap((step) => {
    if (step.kind === "devices") return [step.path, `${step.path}/pts`, `${step.path}/shm`];
    return [isFile(step) || step.kind === "link" ? parentOf(step.path) : step.path];
  });
  return [
    ...(folders.length > 0 ? [`mkdir -p -- ${[...new Set(folders)].map(at).join(" ")}`] : []),
    ...needsMountPoint.filter(isFile).map(({ path }) => `: > ${at(path)}`),
    ...needsMountPoint.flatMap((step) => (step.kind === "devices" ? deviceMountPoints(step.path) : [])),
    ...linksOf(needsMountPoint),
    ...(table.length > 0 ? [`cat > ${root}/.mounts <<'${tableEnd}'`, ...table, tableEnd] : []),
    ...(table.length > 0 ? [`mount -n -a -T ${root}/.mounts`, `rm ${root}/.mounts`] : []),
  ];
}

const tableEnd = "-- end of the mounts --";

/** The lines of a mount table in the format of `fstab`. */
function mountsOf(step: MountStep, steps: readonly MountStep[], options: MountScriptOptions): string[] {
  const line = (source: string, path: string, type: string, ...flags: readonly (string | number)[]): string =>
    [escapeField(source), escapeField(`${root}${path}`), type, flags.join(","), "0", "0"].join(" ");
  const { path } = step;
  switch (step.kind) {
    case "read":
    case "write": {
      const flags = ["rbind", step.kind === "read" ? "ro" : "rw", "nosuid", "nodev", ...options.mountFlagsOf(path)];
      return [line(path, path, "none", ...new Set(flags))];
    }
    case "scratch":
      return [line("tmpfs", path, "tmpfs", "mode=1777", "nosuid", "nodev", `size=${options.scratchBytesMax}`)];
    case "hidden":
      if (isFile(step)) return [line("/dev/null", path, "none", "bind", "ro", "nosuid")];
      return [
        line("tmpfs", path, "tmpfs", "mode=755", "nosuid", "nodev", ...(containsOthers(step, steps) ? [] : ["ro"])),
      ];
    case "processes":
      // Read-only: root in a namespace has no right over the machine's settings, but still owns their files in /proc.
      return [line("proc", path, "proc", "ro", "nosuid", "nodev", "noexec")];
    case "devices":
      return [
        ...devices.map((name) => line(`/dev/${name}`, `${path}/${name}`, "none", "bind")),
        line("devpts", `${path}/pts`, "devpts", "newinstance", "ptmxmode=0666", "mode=620", "nosuid", "noexec"),
      ];
    case "folder":
    case "link":
      return [];
  }
}

const devices: readonly string[] = ["null", "zero", "full", "random", "urandom", "tty"];

function deviceMountPoints(path: string): string[] {
  const folder = at(path);
  return [
    ...devices.map((name) => `: > ${at(`${path}/${name}`)}`),
    `ln -s pts/ptmx ${folder}/ptmx`,
    `cp -P /dev/fd /dev/stdin /dev/stdout /dev/stderr ${folder}/`,
  ];
}

/** Most links of a system have the name of their target. One `ln` makes all of these. */
function linksOf(steps: readonly MountStep[]): string[] {
  const links = steps.filter((step) => step.kind === "link");
  const sameName = links.filter(({ path, target }) => parentOf(path) === "" && nameOf(path) === nameOf(target));
  const others = links.filter((link) => !sameName.includes(link));
  return [
    ...(sameName.length > 0 ? [`ln -s -t ${root} -- ${sameName.map(({ target }) => quote(target)).join(" ")}`] : []),
    ...others.map(({ path, target }) => `ln -s -- ${quote(target)} ${at(path)}`),
  ];
}

/**
 * Makes mounts inside read-only folders read-only, since `rbind,ro` affects only the top mount. Each keeps its flags. The
 * deepest step that contains a mount decides.
 */
function renderReadOnly(steps: readonly MountStep[]): string {
  const cases = steps
    .filter((step) => isBind(step) || step.kind === "scratch" || step.kind === "hidden")
    .toReversed()
    .map(({ kind, path }) => `${at(path)}|${at(path)}/*) want=${kind};;`);
  return [
    "while read -r _ _ _ _ where flags _; do",
    `case $where in ${root}/*) ;; *) continue;; esac`,
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

/** The nearest step above a step. */
function enclosingStep({ path }: MountStep, steps: readonly MountStep[]): MountStep | undefined {
  return steps.filter((other) => other.kind !== "folder" && isInside(path, other.path)).at(-1);
}

function isBind(step: MountStep | undefined): boolean {
  return step?.kind === "read" || step?.kind === "write";
}

/** Whether a step mounts something with entries of its own, which can be mount points. */
function hasEntries(step: MountStep | undefined): boolean {
  return isBind(step) || step?.kind === "processes";
}

function isHiddenFolder(step: MountStep): boolean {
  return step.kind === "hidden" && step.type === "folder";
}

/** Whether the step mounts an empty folder. */
function isMountedEmpty(step: MountStep): boolean {
  return step.kind === "scratch" || isHiddenFolder(step);
}

function isFile(step: MountStep): boolean {
  return "type" in step && step.type === "file";
}

function containsOthers({ path }: MountStep, steps: readonly MountStep[]): boolean {
  return steps.some((other) => isInside(other.path, path));
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function at(path: string): string {
  return quote(`${root}${path}`);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** In a mount table, blanks end a field. */
function escapeField(text: string): string {
  return text.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** Quotes any text as one word of a shell. */
export function quote(text: string): string {
  return /^[\w/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
