import type { MountPlan, MountStep } from "../mount-plan/mount-steps.ts";

export interface MountScriptOptions {
  scratchBytesMax: number;
  /** A command that brings up the loopback interface; null to leave it down, or with the machine's network. */
  loopback: string | null;
  /** Locked flags of the mount that a path is in, such as `noexec`: a bind mount of the path must keep them. */
  mountFlagsOf(path: string): readonly string[];
  /** The arguments that carry out the last steps and run the command behind them. @default programs of util-linux */
  finish?: (end: SandboxEnd) => readonly string[];
}

/**
 * The last steps of a sandbox. One program that makes system calls carries them out faster than a program for each step.
 * Then it drops all rights.
 */
export interface SandboxEnd {
  /** Mount point of the new root. */
  root: string;
  /** Links to make. Paths are those of the old root. */
  links: readonly { path: string; target: string }[];
  /** The table of mounts, which is removed. */
  tableFile: string;
  /** Empty file systems that become read-only. */
  readOnly: readonly string[];
  /** Working folder in the new root. */
  folder: string;
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
  const { loopback, finish } = options;
  const hiddenFolders = steps.filter((step) => isHiddenFolder(step) && containsOthers(step, steps));
  const links = linksOf(steps.filter((step) => !hasEntries(enclosingStep(step, steps))));
  const readOnly = [...hiddenFolders.map(({ path }) => `${root}${path}`), root];
  const end: SandboxEnd = { root, links, tableFile, readOnly, folder };
  return [
    "set -e",
    // Inside a further user namespace the command would have capabilities again.
    "echo 0 > /proc/sys/user/max_user_namespaces",
    // Beside the mounts: it is a program of its own.
    ...(loopback === null ? [] : [`{ ${loopback} || :; } < /dev/null &`]),
    `mount -n -t tmpfs -o mode=755,nosuid,nodev tmpfs ${root}`,
    ...layersOf(steps).flatMap((layer) => renderLayer(layer, steps, options)),
    renderReadOnly(steps),
    ...(loopback === null ? [] : ["wait"]),
    ...(finish ? [] : renderEnd(end)),
    "unset PWD OLDPWD",
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `exec ${(finish?.(end) ?? setprivArguments).map(quote).join(" ")} "$@"`,
  ].join("\n");
}

/** The last steps by programs of util-linux, except those that drop the rights. */
function renderEnd({ links, tableFile: file, readOnly, root: to, folder }: SandboxEnd): string[] {
  return [
    ...links.map(({ path, target }) => `ln -s -- ${quote(target)} ${quote(path)}`),
    `rm -f ${file}`,
    ...readOnly.map((path) => `mount -n -o remount,ro,nosuid,nodev tmpfs ${quote(path)}`),
    `cd ${to}`,
    "pivot_root . .",
    // The old root is now mounted on top of the new one. Unmounting it removes all mounts below it too.
    "umount -n -l .",
    `cd ${quote(folder)}`,
  ];
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
    // Written by the shell itself, and removed at the end.
    ...(table.length > 0 ? [`printf '%s\\n' ${table.map(quote).join(" ")} > ${tableFile}`] : []),
    ...(table.length > 0 ? [`mount -n -a -T ${tableFile}`] : []),
  ];
}

const tableFile = `${root}/.mounts`;

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
  return devices.map((name) => `: > ${at(`${path}/${name}`)}`);
}

/** As on every machine. */
const deviceLinks: Readonly<Record<string, string>> = {
  ptmx: "pts/ptmx",
  fd: "/proc/self/fd",
  stdin: "/proc/self/fd/0",
  stdout: "/proc/self/fd/1",
  stderr: "/proc/self/fd/2",
};

function linksOf(steps: readonly MountStep[]): SandboxEnd["links"] {
  return steps.flatMap((step) => {
    if (step.kind === "link") return [{ path: `${root}${step.path}`, target: step.target }];
    if (step.kind !== "devices") return [];
    return Object.entries(deviceLinks).map(([name, target]) => ({ path: `${root}${step.path}/${name}`, target }));
  });
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
    "readOnly() {",
    "where=$5 flags=$6",
    `case $where in ${root}/*) ;; *) return 0;; esac`,
    `case $where in *\\\\*) where=$(printf '%b.' "$where"); where=\${where%.};; esac`,
    "want=",
    "case $where in",
    ...cases,
    "esac",
    "case $want,$flags in",
    `read,rw*) mount -n -o "remount,bind,ro\${flags#rw}" "$where" < /dev/null;;`,
    "esac",
    "}",
    // A shell reads a file byte by byte, and the output of a program at once.
    "set -f; IFS='",
    "'",
    "for line in $(cat /proc/self/mountinfo); do IFS=' '; readOnly $line; done",
    "unset IFS; set +f",
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

/** In a mount table, blanks end a field. */
function escapeField(text: string): string {
  return text.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** Quotes any text as one word of a shell. */
export function quote(text: string): string {
  return /^[\w/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
