import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { packageFolders } from "./lib/freshness.ts";
import { type ImportSite, importsOf } from "./lib/imports.ts";
import { root } from "./lib/project.ts";
import { isFatal, type KnownCycles, readRatchet, shrunk, writeRatchet } from "./lib/ratchet.ts";

/**
 * Which package may import which. Everything of packages/ and apps/ stands here; test/ and scripts/ may see everything
 * and are not looked at. To allow an arrow, change this table, and ARCHITECTURE.md with it.
 */
const arrows: Record<string, Arrows> = {
  // Core has no I/O: no Node modules, and only npm packages that compute.
  core: { mayImport: [], outsideOnly: ["@noble/hashes", "uuidv7", "xstate", "yaml", "zod"] },
  recorder: { mayImport: ["core"] },
  models: { mayImport: ["core"] },
  tools: { mayImport: ["core"], testsMayImport: ["models"] },
  nats: { mayImport: ["core"] },
  roles: { mayImport: ["core"] },
  connectors: { mayImport: ["core"] },
  runtime: { mayImport: ["core"], testsMayImport: ["models", "tools"] },
  troupe: { mayImport: ["connectors", "core", "recorder", "runtime", "roles", "models", "tools", "nats"] },
  cli: {
    mayImport: ["connectors", "core", "recorder", "runtime", "roles", "models", "tools", "nats", "troupe", "dashboard"],
  },
  // The dashboard reaches the daemon over HTTP alone: the build erases the types that it imports from core. The texts that it
  // shares with the command line import nothing.
  dashboard: { mayImport: ["core"], typesOnly: true, valuesFrom: ["@troupe/core/texts"] },
};

interface Arrows {
  mayImport: string[];
  /** Only tests import these: they are dev dependencies. */
  testsMayImport?: string[];
  typesOnly?: boolean;
  /** Entries whose values a package with `typesOnly` may import. */
  valuesFrom?: string[];
  outsideOnly?: string[];
}

const scope = "@troupe/";
/** The one package without the scope. */
const frontDoor = "troupe";

/** Test code is not shipped, so it may import anything. */
const testFile = /\.(test|test-helper|fixture)\.tsx?$|\/src\/testing\//;

interface Workspace {
  name: string;
  folder: string;
  manifest: Manifest;
  files: WorkspaceFile[];
}

interface WorkspaceFile {
  path: string;
  imports: ImportSite[];
}

interface Manifest {
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Every import, and every dependency of a package.json, against the arrows. One line of text for each violation. */
export function findViolations(checkout: string, workspaces = readWorkspaces(checkout)): string[] {
  return workspaces.flatMap((workspace) => {
    if (!arrows[workspace.name]) return [`${workspace.name} has no row in the table of scripts/arrows.ts`];
    return [
      ...dependencyViolations(workspace).map(
        (problem) => `${relative(checkout, join(workspace.folder, "package.json"))}: ${problem}`,
      ),
      ...workspace.files.flatMap((file) =>
        fileViolations(file, workspace, workspaces).map((problem) => `${relative(checkout, file.path)}${problem}`),
      ),
    ];
  });
}

/** Imports between top folders of one package that close a cycle. */
export interface FolderCycles {
  /** Cycles that exist at run time. */
  values: FolderImport[];
  /** Imports that close a cycle only together with imports of types. */
  types: FolderImport[];
}

export interface FolderImport {
  /** `package: folder -> folder` */
  name: string;
  /** Every place of such an import, as `file:line`. */
  sites: string[];
}

/** Tests and files beside the folders of `src` are not looked at: an index file may import everything. */
export function findFolderCycles(checkout: string, workspaces = readWorkspaces(checkout)): FolderCycles {
  const cycles: FolderCycles = { values: [], types: [] };
  for (const workspace of workspaces) {
    const all = folderImports(checkout, workspace);
    const values = closingImports(all.filter(({ typeOnly }) => !typeOnly));
    const named = (edges: FolderEdge[]): FolderImport[] => {
      const sites = Map.groupBy(edges, ({ from, to }) => `${workspace.name}: ${from} -> ${to}`);
      return [...sites].map(([name, found]) => ({ name, sites: found.map(({ site }) => site) }));
    };
    const known = named(values);
    cycles.values.push(...known);
    cycles.types.push(...named(closingImports(all)).filter(({ name }) => !known.some((cycle) => cycle.name === name)));
  }
  return cycles;
}

interface FolderEdge {
  from: string;
  to: string;
  typeOnly: boolean;
  site: string;
}

function folderImports(checkout: string, { folder, files }: Workspace): FolderEdge[] {
  const sources = join(folder, "src");
  const topFolder = (path: string): string | null => {
    const [top, ...rest] = relative(sources, path).split(sep);
    return top && top !== ".." && rest.length > 0 ? top : null;
  };
  return files
    .filter(({ path }) => !testFile.test(path))
    .flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier, line, typeOnly }) => {
        const from = topFolder(path);
        const to = specifier.startsWith(".") ? topFolder(resolve(dirname(path), specifier)) : null;
        if (!from || !to || from === to) return [];
        return [{ from, to, typeOnly, site: `${relative(checkout, path)}:${line}` }];
      }),
    );
}

/** The imports whose target leads back to their source. */
function closingImports(edges: FolderEdge[]): FolderEdge[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const reachable = new Map([...targets.keys()].map((folder) => [folder, reachableFrom(folder, targets)]));
  return edges.filter(({ from, to }) => reachable.get(to)?.has(from));
}

function reachableFrom(folder: string, targets: Map<string, Set<string>>): Set<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of targets.get(next) ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      open.push(target);
    }
  }
  return reached;
}

/** A line for each import that the ratchet does not know, with its places, and one where the ratchet can be lowered. */
export function cycleDifferences(allowed: KnownCycles, cycles: FolderCycles): string[] {
  return (["values", "types"] as const).flatMap((kind) => {
    const names = new Set(cycles[kind].map(({ name }) => name));
    // A value import that became a type import is still the same import.
    const known = kind === "values" ? allowed.values : [...allowed.values, ...allowed.types];
    const fresh = cycles[kind].filter(({ name }) => !known.includes(name));
    const gone = allowed[kind].filter((name) => !names.has(name));
    return [
      ...fresh.map(({ name, sites }) => `${name} closes a cycle of ${kind}: ${sites.join(", ")}`),
      ...gone.map((name) => `${name} no longer closes a cycle of ${kind}. Record it: pnpm lint:lower`),
    ];
  });
}

function readWorkspaces(checkout: string): Workspace[] {
  return packageFolders(checkout).map(readWorkspace);
}

function readWorkspace(folder: string): Workspace {
  return {
    name: basename(folder),
    folder,
    manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
    files: sourceFiles(join(folder, "src")).map((path) => ({
      path,
      imports: importsOf(path, readFileSync(path, "utf8")),
    })),
  };
}

function dependencyViolations(workspace: Workspace): string[] {
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = workspace.manifest;
  const shipped = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  const all = new Set([...shipped, ...Object.keys(devDependencies ?? {})]);
  const arrowsOf = [...all]
    .filter(isOurs)
    .map((name) => arrowViolation(name, workspace, { isTest: !shipped.includes(name) }));
  const outside = shipped.filter((name) => !isOurs(name)).map((name) => outsideViolation(name, workspace));
  return [...arrowsOf, ...outside].filter((problem) => problem !== null);
}

function sourceFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .sort()
    .map((path) => join(folder, path));
}

function fileViolations(file: WorkspaceFile, workspace: Workspace, workspaces: Workspace[]): string[] {
  return file.imports.flatMap((site) => {
    const problem = importViolation(site, file.path, workspace, workspaces);
    return problem === null ? [] : [`:${site.line}: ${problem}`];
  });
}

function importViolation(site: ImportSite, file: string, workspace: Workspace, all: Workspace[]): string | null {
  const { specifier } = site;
  if (/^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..") {
    const inside = `${resolve(dirname(file), specifier)}${sep}`.startsWith(`${workspace.folder}${sep}`);
    return inside && !specifier.startsWith("/") ? null : `"${specifier}" leaves the package: import it by its name`;
  }
  const isTest = testFile.test(file);
  if (isOurs(specifier)) return workspaceViolation(site, workspace, all, { isTest });
  return isTest ? null : (outsideViolation(specifier, workspace) ?? undeclaredViolation(specifier, workspace));
}

/** An import of a sibling: an allowed arrow, for types where only they are, and through its front door. */
function workspaceViolation(
  { specifier, typeOnly }: ImportSite,
  from: Workspace,
  all: Workspace[],
  kind: { isTest: boolean },
): string | null {
  const arrow = arrowViolation(specifier, from, kind);
  if (arrow) return arrow;
  const name = packageName(specifier);
  const { typesOnly = false, valuesFrom = [] } = arrows[from.name] ?? {};
  if (typesOnly && !typeOnly && !kind.isTest && !valuesFrom.includes(specifier)) {
    return `${from.name} imports only types from ${name}: write \`import type\``;
  }
  const entry = `.${specifier.slice(name.length)}`;
  const exported = all.find((workspace) => workspace.name === shortName(name))?.manifest.exports ?? {};
  return Object.hasOwn(exported, entry) ? null : `"${specifier}" is not among the \`exports\` of ${name}`;
}

function arrowViolation(specifier: string, from: Workspace, { isTest }: { isTest: boolean }): string | null {
  const target = shortName(packageName(specifier));
  if (target === from.name) return `${from.name} imports itself by name: use a relative path`;
  const { mayImport = [], testsMayImport = [] } = arrows[from.name] ?? {};
  const allowed = isTest ? [...mayImport, ...testsMayImport] : mayImport;
  return allowed.includes(target)
    ? null
    : `${from.name} may not import ${target} (it may: ${allowed.join(", ") || "none"})`;
}

function outsideViolation(specifier: string, from: Workspace): string | null {
  const allowed = arrows[from.name]?.outsideOnly;
  if (!allowed || allowed.includes(packageName(specifier))) return null;
  const what = isBuiltin(specifier) ? "which is Node's" : `and of the registry only ${allowed.join(", ")}`;
  return `${from.name} may not import ${specifier}, ${what}`;
}

/** A package installs everything that it imports. A bundled import may be a dev dependency. */
function undeclaredViolation(specifier: string, { name, manifest }: Workspace): string | null {
  if (isBuiltin(specifier) || specifier.startsWith("virtual:")) return null;
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
  const bundled = arrows[name]?.typesOnly ? devDependencies : {};
  const declared = { ...dependencies, ...peerDependencies, ...optionalDependencies, ...bundled };
  const wanted = packageName(specifier);
  return Object.hasOwn(declared, wanted) ? null : `${wanted} is not among the dependencies of ${name}`;
}

function isOurs(specifier: string): boolean {
  return specifier.startsWith(scope) || packageName(specifier) === frontDoor;
}

function shortName(name: string): string {
  return name === frontDoor ? frontDoor : name.slice(scope.length);
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function main(): void {
  const workspaces = readWorkspaces(root);
  const cycles = findFolderCycles(root, workspaces);
  const ratchet = readRatchet(root);
  if (process.argv.includes("--update")) {
    const namesOf = (kind: keyof FolderCycles): string[] => cycles[kind].map(({ name }) => name).sort();
    ratchet.folderCycles = shrunk(ratchet.folderCycles, { values: namesOf("values"), types: namesOf("types") });
    writeRatchet(root, ratchet);
  }
  const allowed = ratchet.folderCycles ?? { values: [], types: [] };
  const problems = [...findViolations(root, workspaces), ...cycleDifferences(allowed, cycles)];
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.some(isFatal)) process.exitCode = 1;
  else {
    const { values, types } = cycles;
    process.stdout.write(
      `arrows hold; ${values.length} imports close cycles of folders, ${types.length} more by types\n`,
    );
  }
}

if (import.meta.main) main();
