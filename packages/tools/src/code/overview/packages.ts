import { basename, dirname } from "node:path/posix";
import type { CodeFiles, CodeScope } from "../code-files.ts";
import { isGenerated, isTest } from "../file-roles.ts";
import type { Line } from "./fit-sections.ts";
import { manifestReaders } from "./manifests.ts";

/** A part of a repository that has a manifest of its own. */
export interface Package {
  /** `.` for the top. */
  folder: string;
  manifest: string;
  /** Null where it has none. */
  name: string | null;
  description: string | null;
  /** What else the manifest says, in a few words each. */
  facts: string[];
  /** Names of what it stands on. */
  dependencies: string[];
  /** Files that it is entered by, as they stand in it: what they are for, and the path within its folder. */
  entries: { use: string; path: string }[];
}

const manifestsMax = 200;
const manifestBytesMax = 256 * 1024;

/** The manifests of a repository, the top first. */
export async function readPackages(files: CodeFiles, scope: CodeScope, paths: readonly string[]): Promise<Package[]> {
  const manifests = paths
    .filter((path) => manifestReaders[basename(path)] && !isTest(path) && !isGenerated(path))
    .sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1))
    .slice(0, manifestsMax);
  return Promise.all(
    manifests.map(async (path) => {
      const text = await files.read(scope, path, manifestBytesMax);
      return { folder: dirname(path), manifest: basename(path), ...read(path, text) };
    }),
  );
}

type Said = Omit<Package, "folder" | "manifest">;

function read(path: string, text: string | null): Said {
  const nothing: Said = { name: null, description: null, facts: [], dependencies: [], entries: [] };
  try {
    return { ...nothing, ...manifestReaders[basename(path)]?.(text ?? "") };
  } catch {
    return { ...nothing, facts: ["cannot be read: not in its format"] };
  }
}

const factsLengthMax = 300;
const descriptionLengthMax = 110;
const dependenciesShown = 8;

/** The top says all; of a package below it matters what it is and which of its neighbours it stands on. */
export function showPackages(packages: readonly Package[]): Line[] {
  const own = new Set(packages.flatMap(({ name }) => name ?? []));
  return packages.map((one, rank) => {
    const said = one.description === null ? "" : ` — ${shortened(one.description, descriptionLengthMax)}`;
    const facts = [...(isTop(one) || !isNode(one) ? one.facts : []), ...usesOf(one, own)];
    const more = facts.length > 0 ? `; ${shortened(facts.join("; "), factsLengthMax)}` : "";
    return { text: `${placeOf(one)}: ${shortened(one.name ?? "no name", 80)}${said}${more}`, rank };
  });
}

function usesOf(one: Package, own: ReadonlySet<string>): string[] {
  const named = isTop(one) ? one.dependencies : one.dependencies.filter((dependency) => own.has(dependency));
  const shown = named.slice(0, dependenciesShown);
  const others = one.dependencies.length - shown.length;
  const uses = [...shown, ...(others > 0 ? [`${others} more`] : [])];
  return uses.length > 0 ? [`uses ${uses.join(", ")}`] : [];
}

function placeOf({ folder, manifest }: Package): string {
  if (folder === ".") return manifest;
  return manifest === "package.json" ? folder : `${folder}/${manifest}`;
}

function isTop({ folder }: Package): boolean {
  return folder === ".";
}

/** Whose scripts are much the same in every package. */
function isNode({ manifest }: Package): boolean {
  return manifest === "package.json";
}

/** On one line, whatever a manifest has in it. */
export function shortened(text: string, lengthMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line;
}

/** The package that a file belongs to: the one with the nearest manifest above it. */
export function packageOf(packages: readonly Package[], path: string): Package | null {
  const around = packages.filter(({ folder }) => folder === "." || path.startsWith(`${folder}/`));
  const depthOf = ({ folder }: Package): number => (folder === "." ? 0 : folder.length);
  return around.reduce<Package | null>((best, one) => (best && depthOf(best) >= depthOf(one) ? best : one), null);
}
