import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { packageFolders } from "./lib/freshness.ts";
import { type ImportSite, importsOf } from "./lib/imports.ts";
import { root } from "./lib/project.ts";

/**
 * Which package may import which. Everything of packages/ and apps/ stands here; test/ and scripts/ may see everything
 * and are not looked at. To allow an arrow, change this table, and ARCHITECTURE.md with it.
 */
const arrows: Record<string, { mayImport: string[]; typesOnly?: boolean; outsideOnly?: string[] }> = {
  // No I/O: no Node, and of the registry only what computes.
  core: { mayImport: [], outsideOnly: ["@noble/hashes", "xstate", "zod"] },
  recorder: { mayImport: ["core"] },
  runtime: { mayImport: ["core"] },
  roles: { mayImport: ["core"] },
  cli: { mayImport: ["core", "recorder", "runtime", "roles", "dashboard"] },
  // It speaks to the daemon over HTTP alone: what it shares with core is erased when it is built.
  dashboard: { mayImport: ["core"], typesOnly: true },
};

const scope = "@troupe/";

interface Workspace {
  name: string;
  folder: string;
  manifest: Manifest;
}

interface Manifest {
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Every import, and every dependency of a package.json, against the arrows. One line of text for each violation. */
export function findViolations(checkout: string): string[] {
  const workspaces = packageFolders(checkout).map(readWorkspace);
  return workspaces.flatMap((workspace) => {
    if (!arrows[workspace.name]) return [`${workspace.name} has no row in the table of scripts/arrows.ts`];
    const at = (file: string): string => relative(checkout, join(workspace.folder, file));
    return [
      ...dependencyViolations(workspace).map((problem) => `${at("package.json")}: ${problem}`),
      ...sourceFiles(join(workspace.folder, "src")).flatMap((file) =>
        fileViolations(file, workspace, workspaces).map((problem) => `${relative(checkout, file)}${problem}`),
      ),
    ];
  });
}

function readWorkspace(folder: string): Workspace {
  return {
    name: basename(folder),
    folder,
    manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
  };
}

function dependencyViolations(workspace: Workspace): string[] {
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = workspace.manifest;
  const shipped = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  const all = new Set([...shipped, ...Object.keys(devDependencies ?? {})]);
  const arrowsOf = [...all].filter((name) => name.startsWith(scope)).map((name) => arrowViolation(name, workspace));
  const outside = shipped.filter((name) => !name.startsWith(scope)).map((name) => outsideViolation(name, workspace));
  return [...arrowsOf, ...outside].filter((problem) => problem !== null);
}

function sourceFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .sort()
    .map((path) => join(folder, path));
}

function fileViolations(file: string, workspace: Workspace, workspaces: Workspace[]): string[] {
  return importsOf(file, readFileSync(file, "utf8")).flatMap((site) => {
    const problem = importViolation(site, file, workspace, workspaces);
    return problem === null ? [] : [`:${site.line}: ${problem}`];
  });
}

function importViolation(site: ImportSite, file: string, workspace: Workspace, all: Workspace[]): string | null {
  const { specifier } = site;
  if (/^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..") {
    const inside = `${resolve(dirname(file), specifier)}${sep}`.startsWith(`${workspace.folder}${sep}`);
    return inside && !specifier.startsWith("/") ? null : `"${specifier}" leaves the package: import it by its name`;
  }
  if (specifier.startsWith(scope)) return workspaceViolation(site, workspace, all);
  // What only tests use is not shipped.
  return /\.(test|test-helper|fixture)\.tsx?$|\/src\/testing\//.test(file)
    ? null
    : (outsideViolation(specifier, workspace) ?? undeclaredViolation(specifier, workspace));
}

/** An import of a sibling: an allowed arrow, for types where only they are, and through its front door. */
function workspaceViolation({ specifier, typeOnly }: ImportSite, from: Workspace, all: Workspace[]): string | null {
  const arrow = arrowViolation(specifier, from);
  if (arrow) return arrow;
  const name = packageName(specifier);
  if (arrows[from.name]?.typesOnly && !typeOnly) {
    return `${from.name} imports only types from ${name}: write \`import type\``;
  }
  const entry = `.${specifier.slice(name.length)}`;
  const exported = all.find((workspace) => `${scope}${workspace.name}` === name)?.manifest.exports ?? {};
  return Object.hasOwn(exported, entry) ? null : `"${specifier}" is not among the \`exports\` of ${name}`;
}

function arrowViolation(specifier: string, from: Workspace): string | null {
  const target = packageName(specifier).slice(scope.length);
  if (target === from.name) return `${from.name} imports itself by name: use a relative path`;
  const allowed = arrows[from.name]?.mayImport ?? [];
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

/** What a package imports it must install as well; what a bundle contains may be a dev dependency. */
function undeclaredViolation(specifier: string, { name, manifest }: Workspace): string | null {
  if (isBuiltin(specifier) || specifier.startsWith("virtual:")) return null;
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
  const bundled = arrows[name]?.typesOnly ? devDependencies : {};
  const declared = { ...dependencies, ...peerDependencies, ...optionalDependencies, ...bundled };
  const wanted = packageName(specifier);
  return Object.hasOwn(declared, wanted) ? null : `${wanted} is not among the dependencies of ${name}`;
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

if (import.meta.main) {
  const violations = findViolations(root);
  for (const violation of violations) process.stderr.write(`${violation}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
