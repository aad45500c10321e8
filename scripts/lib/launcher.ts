import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The launcher: a small file named `troupe` in a folder of the PATH, which runs the command line of one checkout. It
 * replaces its own process, so the working folder, streams, terminal, signals and exit code are those of the program.
 */

/** The second line of each launcher. A file without it belongs to another program. */
const marker = "troupe launcher, written by `pnpm setup-cli`, for the checkout ";

/** A refusal that the user can act on. */
export class LauncherError extends Error {
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

export interface LauncherPlace {
  /** Folder of the launcher. */
  folder: string;
  platform: NodeJS.Platform;
}

/** The file of the launcher. Windows starts only files with a known extension. */
export function launcherFile({ folder, platform }: LauncherPlace): string {
  return join(folder, platform === "win32" ? "troupe.cmd" : "troupe");
}

/** The result of an installation, with the checkout whose launcher it replaced. */
export interface Installed {
  change: "created" | "unchanged" | "replaced";
  /** Null for none and for a file of another program. */
  previousCheckout: string | null;
}

/**
 * Writes the launcher. A second call changes nothing. Throws `LauncherError` for a file of another program, unless
 * `force` is set, and always for a folder.
 */
export function installLauncher(place: LauncherPlace, options: { checkout: string; force: boolean }): Installed {
  const file = launcherFile(place);
  const text = launcherText(options.checkout, place.platform);
  const present = readPresent(file);
  if (present.kind === "folder") throw new LauncherError(`${file} is a folder`, `move it away: mv ${file} ${file}.old`);
  if (present.kind === "foreign" && !options.force) {
    throw new LauncherError(
      `${file} belongs to another program; it was not overwritten`,
      "npx -y pnpm@12 setup-cli --force   (overwrites it), or --dir DIR for another folder",
    );
  }
  const previousCheckout = present.kind === "launcher" ? present.checkout : null;
  if (present.kind === "launcher" && present.text === text) {
    chmodSync(file, 0o755);
    return { change: "unchanged", previousCheckout };
  }
  mkdirSync(place.folder, { recursive: true });
  // The rename replaces a link itself, not its target, and a running launcher keeps its old file.
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, text, { mode: 0o755 });
  chmodSync(temporary, 0o755);
  renameSync(temporary, file);
  return { change: present.kind === "absent" ? "created" : "replaced", previousCheckout };
}

/** Removes the launcher of any checkout. False if there is none. Throws `LauncherError` for another program's file. */
export function removeLauncher(place: LauncherPlace): boolean {
  const file = launcherFile(place);
  const present = readPresent(file);
  if (present.kind === "absent") return false;
  if (present.kind !== "launcher") {
    throw new LauncherError(`${file} is not a launcher of a checkout; it was not removed`, `look at it: ls -l ${file}`);
  }
  rmSync(file);
  return true;
}

type Present =
  | { kind: "absent" }
  | { kind: "folder" }
  | { kind: "foreign" }
  | { kind: "launcher"; text: string; checkout: string };

/** A link is foreign: `npm install --global` creates one. */
function readPresent(file: string): Present {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats) return { kind: "absent" };
  if (stats.isDirectory()) return { kind: "folder" };
  if (!stats.isFile()) return { kind: "foreign" };
  const text = readFileSync(file, "utf8");
  const [, second = ""] = text.split(/\r?\n/);
  const start = second.indexOf(marker);
  return start < 0 ? { kind: "foreign" } : { kind: "launcher", text, checkout: second.slice(start + marker.length) };
}

/** The text of the launcher of a checkout. */
export function launcherText(checkout: string, platform: NodeJS.Platform): string {
  if (/[\r\n]/.test(checkout))
    throw new LauncherError("the path of the checkout has a line break", "rename its folder");
  return platform === "win32" ? commandText(checkout) : shellText(checkout);
}

/** A leftover INIT_CWD would send the program to another working folder than the caller's. */
function shellText(checkout: string): string {
  return `#!/bin/sh
# ${marker}${checkout}
checkout='${checkout.replaceAll("'", "'\\''")}'
node="$checkout/node_modules/.bin/node"
if [ ! -f "$checkout/scripts/troupe.ts" ]; then
  echo "error: the checkout of troupe is no longer at $checkout" >&2
  echo "fix:   run this in its new folder: npx -y pnpm@12 setup-cli" >&2
  exit 3
fi
if [ ! -x "$node" ]; then
  echo "error: the checkout of troupe in $checkout has no Node of its own" >&2
  echo "fix:   cd $checkout && npx -y pnpm@12 install" >&2
  exit 3
fi
unset INIT_CWD
exec "$node" -r "$checkout/scripts/require-node.cjs" "$checkout/scripts/troupe.ts" "$@"
`;
}

function commandText(checkout: string): string {
  const lines = [
    "@echo off",
    `rem ${marker}${checkout}`,
    "setlocal",
    `set "checkout=${checkout.replaceAll("%", "%%")}"`,
    'set "node=%checkout%\\node_modules\\node\\bin\\node.exe"',
    'if not exist "%checkout%\\scripts\\troupe.ts" (',
    '  >&2 echo error: the checkout of troupe is no longer at "%checkout%"',
    "  >&2 echo fix:   run this in its new folder: npx -y pnpm@12 setup-cli",
    "  exit /b 3",
    ")",
    'if not exist "%node%" (',
    '  >&2 echo error: the checkout of troupe in "%checkout%" has no Node of its own',
    "  >&2 echo fix:   run this in its folder: npx -y pnpm@12 install",
    "  exit /b 3",
    ")",
    'set "INIT_CWD="',
    '"%node%" -r "%checkout%\\scripts\\require-node.cjs" "%checkout%\\scripts\\troupe.ts" %*',
    "exit /b %errorlevel%",
  ];
  return `${lines.join("\r\n")}\r\n`;
}
