import { dirname, join, normalize } from "node:path/posix";
import type { Definition, Outline } from "../syntax/queries.ts";
import { type RankedLine, shorten } from "./fit-sections.ts";
import { type Package, packageOf } from "./manifests.ts";

export interface OutlinedFile {
  path: string;
  outline: Outline;
}

interface ScoredExport {
  path: string;
  definition: Definition;
  /** Number of files that import it. */
  uses: number;
  score: number;
}

const perPackageMax = 60;
const signatureLengthMax = 130;
const valueLengthMax = 60;

/** The exports of each package, most imported first. */
export function listKeyExports({
  packages,
  outlines,
}: {
  packages: readonly Package[];
  outlines: readonly OutlinedFile[];
}): RankedLine[] {
  const usesOf = createImportCounter(outlines, packages);
  const listed = new Set(outlines.flatMap(({ outline }) => outline.exports.map(({ name }) => name)));
  const byPackage = new Map<string, ScoredExport[]>();
  for (const { path, outline } of outlines) {
    const folder = packageOf(packages, path)?.folder ?? ".";
    const scored = byPackage.get(folder) ?? [];
    byPackage.set(folder, scored);
    for (const definition of exportedOnce(outline.definitions)) {
      const uses = usesOf(path, definition.name);
      scored.push({ path, definition, uses, score: scoreOf(definition, uses, listed) });
    }
  }
  const ordered = [...byPackage]
    .filter(([, scored]) => scored.length > 0)
    .map(([folder, scored]) => ({ folder, best: scored.sort(byScore).slice(0, perPackageMax) }))
    .sort((a, b) => totalUses(b.best) - totalUses(a.best) || (a.folder < b.folder ? -1 : 1));
  return ordered.flatMap(({ folder, best }) => formatExports(folder, best, packages, ordered.length > 1));
}

/** The exported definitions, with overloads and merged interfaces once. */
function exportedOnce(definitions: readonly Definition[]): Definition[] {
  const seen = new Set<string>();
  return definitions.filter(({ exported, container, name }) => {
    if (!exported || container !== null || seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function formatExports(
  folder: string,
  best: readonly ScoredExport[],
  packages: readonly Package[],
  hasHead: boolean,
): RankedLine[] {
  const name = packages.find((one) => one.folder === folder && one.name !== null)?.name ?? folder;
  const location = folder === "." || name === folder ? "" : ` (${folder})`;
  const head = hasHead ? [{ text: `${shorten(name, 80)}${location}:`, rank: 0 }] : [];
  const prefix = folder === "." ? "" : `${folder}/`;
  return [
    ...head,
    ...best.map(({ path, definition, uses }, i) => {
      const used = uses > 0 ? `, in ${uses} ${uses === 1 ? "file" : "files"}` : "";
      const position = `${path.slice(prefix.length)}:${definition.line}`;
      return { text: `${hasHead ? "  " : ""}${shortSignature(definition)} [${position}${used}]`, rank: 1 + i };
    }),
  ];
}

/** The signature without keywords such as `export`. */
function shortSignature({ signature, kind }: Definition): string {
  const bare = signature.replace(/^(export |default |declare |public |pub |async |function |def |func |fn )+/, "");
  return shorten(bare, kind === "constant" || kind === "variable" ? valueLengthMax : signatureLengthMax);
}

function scoreOf({ documented, kind, name }: Definition, uses: number, listed: ReadonlySet<string>): number {
  const isCallable = kind === "function" || kind === "class";
  return uses * 4 + (listed.has(name) ? 2 : 0) + (isCallable ? 2 : 0) + (documented ? 1 : 0);
}

function byScore(a: ScoredExport, b: ScoredExport): number {
  return b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.definition.line - b.definition.line);
}

function totalUses(scored: readonly ScoredExport[]): number {
  return scored.reduce((sum, { uses }) => sum + uses, 0);
}

interface Importer {
  path: string;
  from: string;
}

/**
 * Returns a function that counts the files that import a name from a file, or from a module that may re-export it: the
 * index of a package or folder. It compares paths and does not resolve modules as a compiler does.
 */
function createImportCounter(
  outlines: readonly OutlinedFile[],
  packages: readonly Package[],
): (path: string, name: string) => number {
  const importers = new Map<string, Importer[]>();
  for (const { path, outline } of outlines) {
    for (const { name, from } of outline.imports) {
      for (const imported of name === "*" ? namesInPath(from) : [name]) {
        const list = importers.get(imported) ?? [];
        importers.set(imported, list);
        list.push({ path, from });
      }
    }
  }
  return (path, name) => {
    const packageName = packageOf(packages, path)?.name ?? null;
    const users = (importers.get(name) ?? []).filter(
      (importer) => importer.path !== path && mayImport(importer, path, packageName),
    );
    return new Set(users.map((user) => user.path)).size;
  };
}

/** Some languages name the imported items in the path: `std::io::{Read, Write}`. */
function namesInPath(from: string): string[] {
  return from.includes("::") ? (from.match(/[\p{ID_Start}_][\p{ID_Continue}]*/gu) ?? []) : [];
}

function mayImport({ path, from }: Importer, target: string, packageName: string | null): boolean {
  const stem = stemOf(target);
  if (/^\.{1,2}(\/|$)/.test(from)) {
    const imported = stemOf(normalize(join(dirname(path), from)));
    return imported === stem || imported === dirname(target) || isIndexAbove(imported, target);
  }
  if (packageName !== null && (from === packageName || from.startsWith(`${packageName}/`))) return true;
  const words = from.split(/[^\p{ID_Continue}-]+/u).filter((word) => word !== "");
  // `pkg.module`, `.module` and `crate::module::Name` name the file or its folder. An empty path names the folder.
  return (
    words.length === 0 || words.some((word) => word === lastSegment(stem) || word === lastSegment(dirname(target)))
  );
}

/** True for the index of a folder that contains the file. */
function isIndexAbove(imported: string, target: string): boolean {
  const folder = dirname(imported);
  return /(^|\/)(index|mod|__init__)$/.test(imported) && (folder === "." || target.startsWith(`${folder}/`));
}

function stemOf(path: string): string {
  return path.replace(/\.(d\.)?[a-z]+$/, "");
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
