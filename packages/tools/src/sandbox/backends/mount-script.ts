import type { View, ViewStep } from "../mount-plan/mount-plan.ts";

export interface ScriptOptions {
  scratchBytesMax: number;
  /** A command that makes the command's own loopback interface work; null where there is none, or the network is the machine's. */
  loopback: string | null;
  /** Restrictions of the mount that a path of the machine is in, which a view of it has to keep: such as `noexec`. */
  restrictionsOf(path: string): readonly string[];
}

/**
 * The root of the new world while it is built: a folder that is on every machine, and that no world needs. The old root
 * stays where it is until then, since the programs that build are in it.
 */
const root = "/sys";

/**
 * A script for `sh` that builds a world in new namespaces, goes into it for good, gives up every right, and runs the
 * command that its arguments are. To start a program takes longer than to mount something: what can be mounted together
 * is one table for `mount`.
 */
export function renderScript({ steps, folder, env }: View, options: ScriptOptions): string {
  const { loopback } = options;
  const masksToClose = steps.filter((step) => isMask(step) && holdsOthers(step, steps));
  return [
    "set -e",
    // A namespace within this one would have rights of its own.
    "echo 0 > /proc/sys/user/max_user_namespaces",
    `mount -n -t tmpfs -o mode=755,nosuid,nodev tmpfs ${root}`,
    ...layersOf(steps).flatMap((layer) => renderLayer(layer, steps, options)),
    renderReadOnly(steps),
    ...masksToClose.map(({ path }) => `mount -n -o remount,ro,nosuid,nodev tmpfs ${at(path)}`),
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

/** Steps that can be taken together, since nothing of theirs has to be made in something empty that another one mounts. */
function layersOf(steps: readonly ViewStep[]): ViewStep[][] {
  const layers: ViewStep[][] = [];
  for (const step of steps) {
    const depth = steps.filter((other) => isEmpty(other) && isInside(step.path, other.path)).length;
    layers[depth] ??= [];
    layers[depth].push(step);
  }
  return layers.filter(Boolean);
}

function renderLayer(layer: readonly ViewStep[], steps: readonly ViewStep[], options: ScriptOptions): string[] {
  const missing = layer.filter((step) => !isBind(around(step, steps)));
  const table = layer.flatMap((step) => mountsOf(step, steps, options));
  const folders = missing.flatMap((step) => {
    if (step.kind === "devices") return [step.path, `${step.path}/pts`, `${step.path}/shm`];
    return [isFile(step) || step.kind === "link" ? parentOf(step.path) : step.path];
  });
  return [
    ...(folders.length > 0 ? [`mkdir -p -- ${[...new Set(folders)].map(at).join(" ")}`] : []),
    ...missing.filter(isFile).map(({ path }) => `: > ${at(path)}`),
    ...missing.flatMap((step) => (step.kind === "devices" ? placesOfDevices(step.path) : [])),
    ...linksOf(missing),
    ...(table.length > 0 ? [`cat > ${root}/.mounts <<'${tableEnd}'`, ...table, tableEnd] : []),
    ...(table.length > 0 ? [`mount -n -a -T ${root}/.mounts`, `rm ${root}/.mounts`] : []),
  ];
}

const tableEnd = "-- end of the mounts --";

/** The lines of a table of mounts, as `fstab` has them. */
function mountsOf(step: ViewStep, steps: readonly ViewStep[], options: ScriptOptions): string[] {
  const line = (source: string, path: string, type: string, ...flags: readonly (string | number)[]): string =>
    [escapeField(source), escapeField(`${root}${path}`), type, flags.join(","), "0", "0"].join(" ");
  const { path } = step;
  switch (step.kind) {
    case "read":
    case "write": {
      const flags = ["rbind", step.kind === "read" ? "ro" : "rw", "nosuid", "nodev", ...options.restrictionsOf(path)];
      return [line(path, path, "none", ...new Set(flags))];
    }
    case "scratch":
      return [line("tmpfs", path, "tmpfs", "mode=1777", "nosuid", "nodev", `size=${options.scratchBytesMax}`)];
    case "hidden":
      if (isFile(step)) return [line("/dev/null", path, "none", "bind", "ro", "nosuid")];
      return [line("tmpfs", path, "tmpfs", "mode=755", "nosuid", "nodev", ...(holdsOthers(step, steps) ? [] : ["ro"]))];
    case "processes":
      // Read-only: root's own namespace has no right over the machine's settings, but the files of those are still root's.
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

function placesOfDevices(path: string): string[] {
  const there = at(path);
  return [
    ...devices.map((name) => `: > ${at(`${path}/${name}`)}`),
    `ln -s pts/ptmx ${there}/ptmx`,
    `cp -P /dev/fd /dev/stdin /dev/stdout /dev/stderr ${there}/`,
  ];
}

/** Most links of a system are called as what they lead to: those of one folder are made at once. */
function linksOf(steps: readonly ViewStep[]): string[] {
  const links = steps.filter((step) => step.kind === "link");
  const alike = links.filter(({ path, target }) => parentOf(path) === "" && nameOf(path) === nameOf(target));
  const others = links.filter((link) => !alike.includes(link));
  return [
    ...(alike.length > 0 ? [`ln -s -t ${root} -- ${alike.map(({ target }) => quote(target)).join(" ")}`] : []),
    ...others.map(({ path, target }) => `ln -s -- ${quote(target)} ${at(path)}`),
  ];
}

/**
 * Makes read-only what is mounted within something read-only, each with the restrictions that it has. The deepest step
 * that a mount is in decides.
 */
function renderReadOnly(steps: readonly ViewStep[]): string {
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

/** The step whose place a step is in: the nearest one above it. */
function around({ path }: ViewStep, steps: readonly ViewStep[]): ViewStep | undefined {
  return steps.filter((other) => other.kind !== "folder" && isInside(path, other.path)).at(-1);
}

function isBind(step: ViewStep | undefined): boolean {
  return step?.kind === "read" || step?.kind === "write";
}

function isMask(step: ViewStep): boolean {
  return step.kind === "hidden" && step.type === "folder";
}

/** Whether it is mounted with nothing in it. */
function isEmpty(step: ViewStep): boolean {
  return step.kind === "scratch" || isMask(step);
}

function isFile(step: ViewStep): boolean {
  return "type" in step && step.type === "file";
}

function holdsOthers({ path }: ViewStep, steps: readonly ViewStep[]): boolean {
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

/** In a table of mounts, blanks end a field. */
function escapeField(text: string): string {
  return text.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** As one word of a shell, whatever is in it. */
export function quote(text: string): string {
  return /^[\w/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
