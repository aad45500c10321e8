import { basename, dirname } from "node:path/posix";
import { type CodeFiles, type CodeScope, isGenerated, isTest } from "../code-files.ts";
import { type RankedLine, shorten } from "./fit-sections.ts";

/** A part of a repository with its own manifest. */
export interface Package {
  /** `.` for the top folder. */
  folder: string;
  manifest: string;
  /** Null where the manifest gives none. */
  name: string | null;
  description: string | null;
  /** Other facts of the manifest, in a few words each. */
  facts: string[];
  /** Names of the packages that it depends on. */
  dependencies: string[];
  /** Files that the manifest names as entry points, relative to its folder. */
  entries: { use: string; path: string }[];
}

type ManifestFields = Omit<Package, "folder" | "manifest">;
type ManifestReader = (text: string) => Partial<ManifestFields> | Promise<Partial<ManifestFields>>;

const manifestsMax = 200;
const manifestBytesMax = 256 * 1024;

/** Reads the manifests of a repository, the top folder first. */
export async function readPackages(files: CodeFiles, scope: CodeScope, paths: readonly string[]): Promise<Package[]> {
  const manifests = paths
    .filter((path) => manifestReaders[basename(path)] && !isTest(path) && !isGenerated(path))
    .sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1))
    .slice(0, manifestsMax);
  return Promise.all(
    manifests.map(async (path) => {
      const text = await files.read(scope, path, manifestBytesMax);
      return { folder: dirname(path), manifest: basename(path), ...(await readManifest(path, text)) };
    }),
  );
}

async function readManifest(path: string, text: string | null): Promise<ManifestFields> {
  const empty: ManifestFields = { name: null, description: null, facts: [], dependencies: [], entries: [] };
  try {
    return { ...empty, ...(await manifestReaders[basename(path)]?.(text ?? "")) };
  } catch {
    return { ...empty, facts: ["cannot be read: invalid format"] };
  }
}

/** The package of a file: the one with the nearest manifest above it. */
export function packageOf(packages: readonly Package[], path: string): Package | null {
  const around = packages.filter(({ folder }) => folder === "." || path.startsWith(`${folder}/`));
  const depthOf = ({ folder }: Package): number => (folder === "." ? 0 : folder.length);
  return around.reduce<Package | null>((best, one) => (best && depthOf(best) >= depthOf(one) ? best : one), null);
}

const factsLengthMax = 300;
const descriptionLengthMax = 110;
const dependenciesShown = 8;

/** Shows everything of the top package. Of packages below it, shows their purpose and their dependencies on each other. */
export function formatPackages(packages: readonly Package[]): RankedLine[] {
  const own = new Set(packages.flatMap(({ name }) => name ?? []));
  return packages.map((one, rank) => {
    const description = one.description === null ? "" : ` — ${shorten(one.description, descriptionLengthMax)}`;
    const facts = [...(isTop(one) || !isNode(one) ? one.facts : []), ...describeDependencies(one, own)];
    const more = facts.length > 0 ? `; ${shorten(facts.join("; "), factsLengthMax)}` : "";
    return { text: `${locationOf(one)}: ${shorten(one.name ?? "no name", 80)}${description}${more}`, rank };
  });
}

function describeDependencies(one: Package, own: ReadonlySet<string>): string[] {
  const named = isTop(one) ? one.dependencies : one.dependencies.filter((dependency) => own.has(dependency));
  const shown = named.slice(0, dependenciesShown);
  const others = one.dependencies.length - shown.length;
  const uses = [...shown, ...(others > 0 ? [`${others} more`] : [])];
  return uses.length > 0 ? [`uses ${uses.join(", ")}`] : [];
}

function locationOf({ folder, manifest }: Package): string {
  if (folder === ".") return manifest;
  return manifest === "package.json" ? folder : `${folder}/${manifest}`;
}

function isTop({ folder }: Package): boolean {
  return folder === ".";
}

/** The scripts of Node packages are not shown, because they are similar in every package. */
function isNode({ manifest }: Package): boolean {
  return manifest === "package.json";
}

/** A reader throws when the manifest has an invalid format. */
const manifestReaders: Readonly<Record<string, ManifestReader>> = {
  "package.json": readPackageJson,
  "pnpm-workspace.yaml": readPnpmWorkspace,
  "pyproject.toml": readPyproject,
  "go.mod": (text) => ({
    name: /^module\s+(\S+)/m.exec(text)?.[1] ?? null,
    facts: matchedFact(text, /^go\s+(\S+)/m, "go"),
  }),
  "Cargo.toml": readCargo,
  "pom.xml": (text) => ({
    name: /<artifactId>([^<]+)<\/artifactId>/.exec(text.replace(/<parent>[\s\S]*?<\/parent>/, ""))?.[1] ?? null,
  }),
  Makefile: (text) => ({
    name: "make",
    facts: [`targets ${joinNames(matches(text, /^([A-Za-z][\w.-]*)\s*:(?!=)/gm))}`],
  }),
};

async function readPnpmWorkspace(text: string): Promise<Partial<ManifestFields>> {
  // Loaded at first use: most calls need no YAML.
  const { parse } = await import("yaml");
  return { name: "pnpm workspace", facts: [`packages ${joinNames(field(parse(text), "packages"))}`] };
}

function readPackageJson(text: string): Partial<ManifestFields> {
  const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const scripts = Object.keys(record(field(manifest, "scripts")));
  const workspaces = field(manifest, "workspaces");
  const folders = Array.isArray(workspaces) ? workspaces : field(workspaces, "packages");
  return {
    name: string(field(manifest, "name")),
    description: string(field(manifest, "description")),
    facts: [
      ...(scripts.length > 0 ? [`scripts ${joinNames(scripts)}`] : []),
      ...(Array.isArray(folders) ? [`workspaces ${joinNames(folders)}`] : []),
    ],
    dependencies: Object.keys(record(field(manifest, "dependencies"))),
    entries: entriesOf(manifest),
  };
}

function entriesOf(manifest: unknown): Package["entries"] {
  const bin = field(manifest, "bin");
  const programs = typeof bin === "string" ? { [string(field(manifest, "name")) ?? "bin"]: bin } : record(bin);
  const exported = Object.entries(exportsOf(field(manifest, "exports")));
  const main = string(field(manifest, "main")) ?? string(field(manifest, "module"));
  const modules = exported.length > 0 || main === null ? exported : [[".", main] as const];
  return [
    ...Object.entries(programs).map(([name, path]) => ({ use: `command ${name}`, path: string(path) ?? "" })),
    ...modules.map(([name, path]) => ({ use: name === "." ? "import" : `import ${name}`, path })),
  ].filter(({ path }) => path !== "" && !path.endsWith(".json"));
}

/** Exported paths by import name. Of several conditions, the default one. */
function exportsOf(exports: unknown): Record<string, string> {
  const target = (value: unknown): string =>
    string(value) ??
    string(field(value, "default")) ??
    string(field(value, "import")) ??
    string(field(field(value, "import"), "default")) ??
    "";
  const entries = Object.entries(record(exports));
  if (entries.some(([name]) => name.startsWith("."))) {
    return Object.fromEntries(entries.map(([name, value]) => [name, target(value)]));
  }
  return exports === undefined ? {} : { ".": target(exports) };
}

/** Supports the plain sections and keys of TOML that manifests use. */
function readPyproject(text: string): Partial<ManifestFields> {
  const project = tomlSection(text, "project") || tomlSection(text, "tool.poetry");
  const scripts = tomlKeys(tomlSection(text, "project.scripts") || tomlSection(text, "tool.poetry.scripts"));
  return {
    name: tomlString(project, "name"),
    description: tomlString(project, "description"),
    facts: [
      ...matchedFact(project, /^requires-python\s*=\s*["']([^"']+)/m, "python"),
      ...(scripts.length > 0 ? [`commands ${joinNames(scripts)}`] : []),
      ...(/^\[tool\.pytest/m.test(text) ? ["tests with pytest"] : []),
    ],
  };
}

function readCargo(text: string): Partial<ManifestFields> {
  const section = tomlSection(text, "package");
  const members = /members\s*=\s*\[([^\]]*)\]/.exec(tomlSection(text, "workspace"))?.[1] ?? "";
  const folders = matches(members, /["']([^"']+)["']/g);
  return {
    name: tomlString(section, "name") ?? (folders.length > 0 ? "cargo workspace" : null),
    description: tomlString(section, "description"),
    facts: folders.length > 0 ? [`members ${joinNames(folders)}`] : [],
  };
}

function tomlSection(text: string, name: string): string {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => line.trim() === `[${name}]`);
  if (start < 0) return "";
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[[\w."-]+\]/.test(line));
  return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join("\n");
}

function tomlString(section: string, key: string): string | null {
  return new RegExp(`^${key}\\s*=\\s*(?:"([^"\\n]*)"|'([^'\\n]*)')`, "m").exec(section)?.slice(1).find(Boolean) ?? null;
}

function tomlKeys(section: string): string[] {
  return matches(section, /^([\w.-]+)\s*=/gm);
}

function matchedFact(text: string, pattern: RegExp, what: string): string[] {
  const value = pattern.exec(text)?.[1];
  return value ? [`${what} ${value}`] : [];
}

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => name ?? []))];
}

function joinNames(values: unknown, countMax = 12): string {
  const names = Array.isArray(values) ? values.map(String) : [];
  return `${names.slice(0, countMax).join(", ")}${names.length > countMax ? ", …" : ""}`;
}

function field(value: unknown, name: string): unknown {
  return record(value)[name];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function string(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
