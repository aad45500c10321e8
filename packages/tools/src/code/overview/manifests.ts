import { parse } from "yaml";
import type { Package } from "./packages.ts";

type Said = Partial<Omit<Package, "folder" | "manifest">>;

/** What is read of each kind of manifest. Whatever they throw, the manifest is not in its format. */
export const manifestReaders: Readonly<Record<string, (text: string) => Said>> = {
  "package.json": readPackageJson,
  "pnpm-workspace.yaml": (text) => ({
    name: "pnpm workspace",
    facts: [`packages ${list(field(parse(text), "packages"))}`],
  }),
  "pyproject.toml": readPyproject,
  "go.mod": (text) => ({ name: /^module\s+(\S+)/m.exec(text)?.[1] ?? null, facts: found(text, /^go\s+(\S+)/m, "go") }),
  "Cargo.toml": readCargo,
  "pom.xml": (text) => ({
    name: /<artifactId>([^<]+)<\/artifactId>/.exec(text.replace(/<parent>[\s\S]*?<\/parent>/, ""))?.[1] ?? null,
  }),
  Makefile: (text) => ({ name: "make", facts: [`targets ${list(matches(text, /^([A-Za-z][\w.-]*)\s*:(?!=)/gm))}`] }),
};

function readPackageJson(text: string): Said {
  const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const scripts = Object.keys(record(field(manifest, "scripts")));
  const workspaces = field(manifest, "workspaces");
  const folders = Array.isArray(workspaces) ? workspaces : field(workspaces, "packages");
  return {
    name: string(field(manifest, "name")),
    description: string(field(manifest, "description")),
    facts: [
      ...(scripts.length > 0 ? [`scripts ${list(scripts)}`] : []),
      ...(Array.isArray(folders) ? [`workspaces ${list(folders)}`] : []),
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

/** By the name that they are imported by; of several conditions the one for everybody. */
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

/** Sections and keys of TOML, as far as a manifest's plain ones go. */
function readPyproject(text: string): Said {
  const project = tomlSection(text, "project") || tomlSection(text, "tool.poetry");
  const scripts = tomlKeys(tomlSection(text, "project.scripts") || tomlSection(text, "tool.poetry.scripts"));
  return {
    name: tomlString(project, "name"),
    description: tomlString(project, "description"),
    facts: [
      ...found(project, /^requires-python\s*=\s*["']([^"']+)/m, "python"),
      ...(scripts.length > 0 ? [`commands ${list(scripts)}`] : []),
      ...(/^\[tool\.pytest/m.test(text) ? ["tests with pytest"] : []),
    ],
  };
}

function readCargo(text: string): Said {
  const section = tomlSection(text, "package");
  const members = /members\s*=\s*\[([^\]]*)\]/.exec(tomlSection(text, "workspace"))?.[1] ?? "";
  const folders = matches(members, /["']([^"']+)["']/g);
  return {
    name: tomlString(section, "name") ?? (folders.length > 0 ? "cargo workspace" : null),
    description: tomlString(section, "description"),
    facts: folders.length > 0 ? [`members ${list(folders)}`] : [],
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

function found(text: string, pattern: RegExp, what: string): string[] {
  const value = pattern.exec(text)?.[1];
  return value ? [`${what} ${value}`] : [];
}

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => name ?? []))];
}

function list(values: unknown, countMax = 12): string {
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
