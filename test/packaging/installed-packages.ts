/**
 * Unpacks the tarballs of all packages, once for all tests: users install tarballs, not the checkout. One project has everything.
 * From it, each package gets a project with its own dependencies and no others. In the long run npm installs the project. In the
 * normal run its libraries are those that npm has installed for the bundle, and npm checks that they satisfy each manifest.
 */
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CommandResult, run } from "../../scripts/lib/command.ts";
import { packageFolders } from "../../scripts/lib/freshness.ts";
import { root } from "../../scripts/lib/project.ts";
import { isLong } from "../harness/long.ts";
import type { InstalledBundle } from "./installed-bundle.ts";
import { largeTempFolder, npmCheckTree, npmInstall, succeed, userEnvironment } from "./npm.ts";

export interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  exports: Record<string, string | Record<string, string>>;
  bin?: Record<string, string>;
}

export const installTimeoutMs = 240_000;

/** Every package, by the name of its folder. */
export const manifests = new Map(packageFolders(root).map((folder) => [basename(folder), readManifest(folder)]));

export interface InstalledPackages {
  /** A project with all packages and their optional parts, as after `npm install @troupe/cli`. */
  everything: Project;
  /** A project with one package and its dependencies. */
  alone(name: string): Project;
  /** The folder with the projects of all packages, each below its name. */
  together: Project;
  /** How many packages the project of a package has. */
  libraryCount(name: string): number;
  /** A project with one package, and with optional parts of it that the user has added. */
  withParts(name: string, parts: readonly string[]): Promise<Project>;
  remove(): Promise<void>;
}

export interface Project {
  folder: string;
  home: string;
  /** The folder of an installed package. */
  packageFolder(name: string): string;
  write(file: string, content: string): void;
  /** Runs a command here, with an empty home. Only npm's settings of the machine (its registry) are kept. */
  run(command: string[], env?: NodeJS.ProcessEnv): Promise<CommandResult>;
}

export async function installPackages(bundle: InstalledBundle): Promise<InstalledPackages> {
  const temporary = largeTempFolder("troupe-packaging-");
  const install = async ({ folder, home }: Project, names: readonly string[], others: readonly string[]) => {
    const files = names.map((name) => tarballOf(name, bundle));
    await npmInstall({ folder, home, words: [...files, ...others] });
  };
  const everything = createProject(join(temporary, "everything"));
  if (isLong) await install(everything, [...manifests.keys()], [nodeTypes]);
  else await layOut(everything, bundle);
  return {
    everything,
    alone(name) {
      const project = createProject(join(temporary, "alone", name));
      if (!existsSync(join(project.folder, "node_modules"))) linkAlone(everything.folder, project.folder, name);
      return project;
    },
    together: createProject(join(temporary, "alone")),
    libraryCount: (name) => librariesOf(everything.folder, name).size,
    async withParts(name, parts) {
      const project = createProject(join(temporary, "installed", name));
      if (isLong) await install(project, [...siblingsOf(name)], parts);
      else linkAlone(everything.folder, project.folder, name, parts);
      return project;
    },
    remove: () => rm(temporary, { recursive: true, force: true }),
  };
}

const devDependencies = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies;
const nodeTypesVersion: string = devDependencies["@types/node"];
const nodeTypes = `@types/node@${nodeTypesVersion}`;

function tarballOf(name: string, { tarballs }: InstalledBundle): string {
  const manifest = manifestOf(name);
  return join(tarballs, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`);
}

/** The same files as after `npm install`. npm needs six seconds of the processor for them, and less than one to check them. */
async function layOut(project: Project, bundle: InstalledBundle): Promise<void> {
  linkLibraries(bundle.libraries, project.folder);
  copyNodeTypes(join(project.folder, "node_modules", "@types", "node"));
  const names = [...manifests.keys()];
  const unpacked = names.flatMap((name) => [tarballOf(name, bundle), project.packageFolder(name)]);
  await succeed(run(["sh", "-c", unpack, "sh", ...unpacked], { output: "capture" }));
  const ours = names.map((name) => [manifestOf(name).name, manifestOf(name).version]);
  const dependencies = { ...Object.fromEntries(ours), "@types/node": nodeTypesVersion };
  project.write("package.json", JSON.stringify({ ...consumer, dependencies }));
  await npmCheckTree(project);
}

/** One shell for all: a process that this large one starts costs more than `tar` itself. Its words are tarballs and folders. */
const unpack = `while [ $# -gt 0 ]; do mkdir -p "$2" && tar -xzf "$1" -C "$2" --strip-components 1 || exit 1; shift 2; done`;

/** A user adds the types of Node. These are the checkout's own. */
function copyNodeTypes(into: string): void {
  const types = realpathSync(join(root, "node_modules", "@types", "node"));
  cpSync(types, into, { recursive: true });
  const undici = realpathSync(join(types, "..", "..", "undici-types"));
  cpSync(undici, join(into, "node_modules", "undici-types"), { recursive: true });
}

function manifestOf(name: string): Manifest {
  const manifest = manifests.get(name);
  if (!manifest) throw new Error(`no package is called ${name}`);
  return manifest;
}

/** A package and the packages of this repository that it needs. */
function siblingsOf(name: string, found: Set<string> = new Set()): Set<string> {
  found.add(name);
  for (const [sibling, manifest] of manifests) {
    const isNeeded = Object.hasOwn(manifestOf(name).dependencies ?? {}, manifest.name);
    if (isNeeded && !found.has(sibling)) siblingsOf(sibling, found);
  }
  return found;
}

const consumer = { name: "consumer", version: "1.0.0", private: true, type: "module" };

function createProject(folder: string): Project {
  const home = `${folder}-home`;
  mkdirSync(folder, { recursive: true });
  mkdirSync(home, { recursive: true });
  const write = (file: string, content: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  if (!existsSync(join(folder, "package.json"))) write("package.json", JSON.stringify(consumer));
  return {
    ...{ folder, home },
    packageFolder: (name) => join(folder, "node_modules", manifestOf(name).name),
    write,
    run: (command, more = {}) =>
      run(command, { cwd: folder, output: "capture", env: { ...userEnvironment(home), ...more } }),
  };
}

/** Links the files of a package and of what it depends on. Optional parts are left out, as npm does. */
function linkAlone(from: string, into: string, name: string, parts: readonly string[] = []): void {
  for (const path of librariesOf(from, name, parts)) linkFolder(join(from, path), join(into, path));
}

/** The paths of a package, of other packages, and of what they depend on. */
function librariesOf(from: string, name: string, others: readonly string[] = []): Set<string> {
  const found = new Set<string>();
  for (const root of [manifestOf(name).name, "@types/node", ...others]) collect(from, `node_modules/${root}`, found);
  return found;
}

function collect(from: string, path: string, found: Set<string>): void {
  if (found.has(path)) return;
  found.add(path);
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = manifestAt(from, path);
  const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta[peer]?.optional);
  for (const dependency of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
    // npm leaves out programs for other platforms.
    const place = placesOf(path, dependency).find((each) => existsSync(join(from, each, "package.json")));
    if (place) collect(from, place, found);
  }
}

const manifestsRead = new Map<string, Manifest>();

/** Of an installed package, which does not change while the tests run. */
function manifestAt(from: string, path: string): Manifest {
  const folder = join(from, path);
  const manifest = manifestsRead.get(folder) ?? readManifest(folder);
  manifestsRead.set(folder, manifest);
  return manifest;
}

/** Where Node looks for a dependency of the package at this path, the nearest folder first. */
function placesOf(path: string, dependency: string): string[] {
  const above = path.split("/node_modules/").slice(0, -1);
  const folders = [path, ...above.map((_, i) => above.slice(0, above.length - i).join("/node_modules/"))];
  return [...folders.map((folder) => `${folder}/node_modules/${dependency}`), `node_modules/${dependency}`];
}

/** Links what came from the registry. The packages of this repository come from their tarballs. */
function linkLibraries(from: string, into: string): void {
  const ours = new Set([...manifests.values()].map(({ name }) => name));
  for (const entry of readdirSync(from)) {
    const names = entry.startsWith("@") ? readdirSync(join(from, entry)).map((name) => `${entry}/${name}`) : [entry];
    for (const name of names) {
      if (!name.startsWith(".") && !ours.has(name)) linkTree(join(from, name), join(into, "node_modules", name));
    }
  }
}

/** Links the files of one package, without the packages inside it. */
function linkFolder(from: string, into: string): void {
  linkTree(from, into, (name) => name !== "node_modules");
}

function linkTree(from: string, into: string, isWanted: (name: string) => boolean = () => true): void {
  mkdirSync(into, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!isWanted(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(into, entry.name)];
    if (entry.isDirectory()) linkTree(source, target, isWanted);
    else linkSync(source, target);
  }
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** The sum of the sizes of all files, in MB. */
export function sizeMb(folder: string): number {
  return bytesIn(folder) / 1_000_000;
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesIn(path) : lstatSync(path).size);
  }, 0);
}
