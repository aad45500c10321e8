import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { BoundContent } from "@troupe/core/internal";
import type { CommandText } from "@troupe/core/tool";
import { joinFolder, singleText } from "../commands/file-effects/evaluate-line.ts";
import type { StartedProgram } from "../commands/file-effects/file-target.ts";
import { commandEffects } from "../commands/file-effects/line-effects.ts";
import { holdEntry, holdReal, readHeld } from "../workspace/held-folder.ts";
import { workspaceState } from "./workspace-state.ts";

/** A command that runs more files than this is bound to the state of the whole workspace. */
const filesMax = 64;
const bytesMax = 8 * 1024 * 1024;
const scriptDepthMax = 3;

/**
 * The content that a command runs: programs and scripts that its line names, with the files that say what a build tool
 * does. Where that cannot be told, it is the state of all files of the workspace. Installed programs do not count.
 *
 * @example
 * boundContent({ line: "sh build.sh" }, "/w"); // [{ path: "build.sh", digest: "…" }]
 */
export function boundContent(text: CommandText, workspace: string): BoundContent[] {
  const real = realOrNull(workspace);
  if (real === null) return [];
  const found: Found = { workspace: real, files: new Set(), isOpen: false };
  collect(text, { depth: 0, found });
  const files = found.files.size > filesMax ? [] : [...found.files].sort();
  const contents = files.map((path) => ({ path: shownPath(path, real), digest: digestOf(path) }));
  const isOpen = found.isOpen || found.files.size > filesMax;
  return isOpen ? [...contents, wholeWorkspace(real)] : contents;
}

function wholeWorkspace(workspace: string): BoundContent {
  const { digest, newest } = workspaceState(workspace);
  return { path: ".", digest, ...(newest === null ? {} : { newest }) };
}

interface Found {
  workspace: string;
  files: Set<string>;
  /** Whether the command can run any file of the workspace. */
  isOpen: boolean;
}

interface Collecting {
  depth: number;
  found: Found;
}

function collect(text: CommandText, at: Collecting): void {
  const { found } = at;
  const { workspace } = found;
  const effects = commandEffects(text, { folder: join(workspace, text.folder ?? "."), isFolder });
  if (effects.isUnclear) found.isOpen = true;
  for (const program of effects.programs) collectProgram(program, at);
}

/** Programs that run any text in the workspace: recipes with includes, tests, builds. */
const openPrograms: ReadonlySet<string> = new Set(
  (
    "ant bazel bundle cmake ctest deno gmake go gradle just lein mage make meson mix mvn ninja nox nx phpunit pytest rake " +
    "rspec sbt scons swift task tox turbo vitest jest mocha ava playwright webpack vite rollup esbuild gulp grunt eslint " +
    "tsx tsc pre-commit husky docker docker-compose podman"
  ).split(" "),
);

/** Programs that run the files among their arguments. */
const interpreters: ReadonlySet<string> = new Set(
  (
    ". source ash bash bun csh dash elixir fish gawk awk java julia ksh lua node nodejs osascript perl php pypy python " +
    "python2 python3 pwsh r ruby rscript sh tclsh ts-node zsh sed xargs env"
  ).split(" "),
);

const packageManagers: ReadonlySet<string> = new Set(["bun", "npm", "pnpm", "yarn"]);

function collectProgram({ program, args, folders }: StartedProgram, at: Collecting) {
  const { found } = at;
  const name = basename(program).toLowerCase();
  const places = folders ?? [];
  if (folders === null || openPrograms.has(name)) found.isOpen = true;
  if (program.includes("/")) for (const place of places) addFile(joinFolder(place, program), found);
  if (name === "cargo") addManifests(["Cargo.toml", "Cargo.lock", "build.rs"], places, at, isBuild(args));
  if (packageManagers.has(name)) collectPackage(args, places, at);
  if (name === "npx" || name === "bunx" || name === "pnpx") addManifests(["package.json"], places, at, false);
  if (interpreters.has(name)) collectArguments(name, args, places, found);
}

/** The files among the arguments of an interpreter. */
function collectArguments(name: string, args: StartedProgram["args"], places: readonly string[], found: Found) {
  if (args.some((arg) => arg === null || arg.some(({ isPattern }) => isPattern))) found.isOpen = true;
  const words = args.flatMap((arg) => arg ?? []).map(({ text }) => text);
  const values = words.map((text) => (text.startsWith("-") ? text.slice(text.indexOf("=") + 1) : text));
  for (const path of pathsOf(values, places)) if (isFile(path)) addFile(path, found);
  if (name.startsWith("py") && words.includes("-m")) addModule(words[words.indexOf("-m") + 1] ?? null, places, found);
  if (name.startsWith("node") && words.some((text) => /^(--test|--run|\.$)/.test(text))) found.isOpen = true;
  // A script that does not exist yet can be there when the command starts.
  const script = words.find((text) => !text.startsWith("-"));
  const looksLikePath = script !== undefined && /[./]/.test(script) && !/\s/.test(script);
  if (looksLikePath) for (const path of pathsOf([script], places)) addFile(path, found);
}

function pathsOf(names: readonly string[], places: readonly string[]): string[] {
  return places.flatMap((place) => names.map((name) => joinFolder(place, name)));
}

/** Whether a subcommand of cargo runs sources. */
function isBuild([first]: StartedProgram["args"]): boolean {
  return /^(b|build|r|run|t|test|bench|c|check|clippy|install|nextest)$/.test(singleText(first ?? null) ?? "build");
}

function addManifests(
  names: readonly string[],
  places: readonly string[],
  { found }: Collecting,
  isOpen: boolean,
): void {
  if (isOpen) found.isOpen = true;
  for (const place of places) for (const name of names) addFile(joinFolder(place, name), found);
}

/** A package manager runs the scripts of the nearest `package.json`. */
function collectPackage(args: StartedProgram["args"], places: readonly string[], at: Collecting): void {
  const names = args.map((arg) => singleText(arg)).filter((text) => text !== null && !text.startsWith("-"));
  const redirects = args.some((arg) => /^(-C|-w|--(prefix|dir|cwd|filter|workspace))/.test(singleText(arg) ?? "-C"));
  if (redirects) at.found.isOpen = true;
  for (const place of places) {
    const file = nearest("package.json", place, at.found.workspace);
    addFile(file, at.found);
    for (const line of scriptsOf(file, names.slice(0, 3).map(String))) {
      if (at.depth >= scriptDepthMax) at.found.isOpen = true;
      else collect({ line, folder: relativeTo(at.found.workspace, dirname(file)) }, { ...at, depth: at.depth + 1 });
    }
  }
}

/** The scripts with these names, and the scripts that run before and after them. */
function scriptsOf(file: string, names: readonly string[]): string[] {
  try {
    const { scripts = {} } = JSON.parse(contentOf(file)?.toString("utf8") ?? "{}") as {
      scripts?: Record<string, unknown>;
    };
    const wanted = names
      .flatMap((name) => [name === "t" ? "test" : name])
      .flatMap((name) => [`pre${name}`, name, `post${name}`]);
    const lifecycle = names.some((name) => /^(i|install|ci|add|publish|pack)$/.test(name))
      ? ["preinstall", "install", "postinstall", "prepare", "prepublishOnly", "prepack"]
      : [];
    return [...wanted, ...lifecycle].flatMap((name) =>
      Object.hasOwn(scripts, name) && typeof scripts[name] === "string" ? [scripts[name]] : [],
    );
  } catch {
    return [];
  }
}

function addModule(name: string | null, places: readonly string[], found: Found): void {
  if (name === null) return;
  const path = name.replaceAll(".", "/");
  for (const place of places) {
    if (isFile(join(place, `${path}.py`))) addFile(join(place, `${path}.py`), found);
    // A package of the workspace has many files.
    if (isFolder(join(place, path))) found.isOpen = true;
  }
  if (/^(pytest|unittest|tox|nox|build|pip)$/.test(name)) found.isOpen = true;
}

function nearest(name: string, folder: string, workspace: string): string {
  for (let at = folder; at.startsWith(workspace); at = dirname(at)) {
    if (isFile(join(at, name))) return join(at, name);
    if (at === workspace) break;
  }
  return join(folder, name);
}

function addFile(path: string, { workspace, files }: Found): void {
  if (path.startsWith(`${workspace}/`) || !isSystemPath(path)) files.add(path);
}

/** Folders that only the administrator of the machine changes, unless the workspace is below one. */
function isSystemPath(path: string): boolean {
  return /^\/(usr|bin|sbin|lib\w*|nix|opt|etc|proc|dev|sys|System|Library)(\/|$)/.test(path);
}

/** Changes with the content of a file, and with the file that its name leads to. */
function digestOf(path: string): string {
  const real = realOrNull(path);
  if (real === null) return "missing";
  const content = contentOf(path);
  const hash = createHash("sha256").update(`${real}\0`);
  if (content !== null) return hash.update(content).digest("hex");
  const stats = statSync(real, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "missing" : hash.update(`${stats.ino}:${stats.size}:${stats.ctimeNs}`).digest("hex");
}

/** The content of the file behind a path. It is read through its held folder, so no swapped folder leads elsewhere. */
function contentOf(path: string): Buffer | null {
  const real = realOrNull(path);
  if (real === null) return null;
  try {
    using folder = holdReal(dirname(real));
    if (folder === null) return null;
    using entry = holdEntry(folder, basename(real));
    return entry === null ? null : readHeld(entry, bytesMax);
  } catch {
    return null;
  }
}

function shownPath(path: string, workspace: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

function relativeTo(workspace: string, folder: string): string {
  return folder === workspace || !isAbsolute(folder) ? "." : folder.slice(workspace.length + 1);
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
