/**
 * Packs every package and installs the tarballs with npm, once for all tests: users install tarballs, not the checkout.
 * One npm installation has everything. From it, each package gets a project with its own dependencies and no others.
 * In the normal run npm finds the libraries that it has installed for the bundle, because their thousands of files cost most.
 */
import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CommandResult, pnpmCommand, run } from "../../scripts/lib/command.ts";
import { packageFolders } from "../../scripts/lib/freshness.ts";
import { root } from "../../scripts/lib/project.ts";
import { isLong } from "../harness/long.ts";
import { largeTempFolder, npmInstall, succeed, userEnvironment } from "./npm.ts";

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

/** @param libraries a folder with libraries that npm has installed, and with packages of this repository */
export async function installPackages(libraries: string): Promise<InstalledPackages> {
  const temporary = largeTempFolder("troupe-packaging-");
  const tarballs = join(temporary, "tarballs");
  const pack = ["--recursive", "--filter", "./packages/*", "--filter", "./apps/*", "pack", "--pack-destination"];
  await succeed(run([...pnpmCommand(), ...pack, tarballs], { output: "capture" }));

  const install = async ({ folder, home }: Project, names: readonly string[], others: readonly string[]) => {
    const files = names.map((name) => join(tarballs, tarballOf(name)));
    await npmInstall({ folder, home, words: [...files, ...others] });
  };
  const everything = createProject(join(temporary, "everything"));
  if (!isLong) linkLibraries(libraries, everything.folder);
  await install(everything, [...manifests.keys()], [nodeTypes]);
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
const nodeTypes = `@types/node@${devDependencies["@types/node"]}`;

function tarballOf(name: string): string {
  const manifest = manifestOf(name);
  return `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
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

function createProject(folder: string): Project {
  const home = `${folder}-home`;
  mkdirSync(folder, { recursive: true });
  mkdirSync(home, { recursive: true });
  const write = (file: string, content: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  const manifest = { name: "consumer", version: "1.0.0", private: true, type: "module" };
  if (!existsSync(join(folder, "package.json"))) write("package.json", JSON.stringify(manifest));
  return {
    ...{ folder, home },
    packageFolder: (name) => join(folder, "node_modules", manifestOf(name).name),
    write,
    run: (command, more = {}) =>
      run(command, { cwd: folder, output: "capture", env: { ...userEnvironment(home), ...more } }),
  };
}

type Lock = Record<string, Manifest>;

/** Links the files of a package and of what it depends on. Optional parts are left out, as npm does. */
function linkAlone(from: string, into: string, name: string, parts: readonly string[] = []): void {
  // npm leaves out programs for other platforms.
  for (const path of librariesOf(from, name, parts)) {
    if (existsSync(join(from, path))) linkFolder(join(from, path), join(into, path));
  }
}

/** The paths of a package, of other packages, and of what they depend on. */
function librariesOf(from: string, name: string, others: readonly string[] = []): Set<string> {
  const { packages }: { packages: Lock } = JSON.parse(readFileSync(join(from, "package-lock.json"), "utf8"));
  const found = new Set<string>();
  for (const root of [manifestOf(name).name, "@types/node", ...others])
    collect(packages, `node_modules/${root}`, found);
  return found;
}

function collect(packages: Lock, path: string, found: Set<string>): void {
  const manifest = packages[path];
  if (!manifest || found.has(path)) return;
  found.add(path);
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta[peer]?.optional);
  for (const dependency of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
    const place = placesOf(path, dependency).find((each) => packages[each]);
    if (place) collect(packages, place, found);
  }
}

/** Where Node looks for a dependency of the package at this path, the nearest folder first. */
function placesOf(path: string, dependency: string): string[] {
  const above = path.split("/node_modules/").slice(0, -1);
  const folders = [path, ...above.map((_, i) => above.slice(0, above.length - i).join("/node_modules/"))];
  return [...folders.map((folder) => `${folder}/node_modules/${dependency}`), `node_modules/${dependency}`];
}

/** Links what came from the registry. npm itself installs all packages of this repository, from their tarballs. */
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
