import { dirname, join, normalize } from "node:path/posix";
import type { OutlinedFile } from "./entry-points.ts";
import { type Package, packageOf } from "./packages.ts";

interface Importer {
  path: string;
  from: string;
}

/**
 * Counts the files that import a name from a file, or from something that may pass it on: a package's front door, a
 * folder's index. Modules are not resolved as a compiler would, only as far as paths tell.
 */
export function createImportCounts(
  outlines: readonly OutlinedFile[],
  packages: readonly Package[],
): (path: string, name: string) => number {
  const importers = new Map<string, Importer[]>();
  for (const { path, outline } of outlines) {
    for (const { name, from } of outline.imports) {
      for (const one of name === "*" ? namesIn(from) : [name]) {
        const list = importers.get(one) ?? [];
        importers.set(one, list);
        list.push({ path, from });
      }
    }
  }
  return (path, name) => {
    const own = packageOf(packages, path)?.name ?? null;
    const users = (importers.get(name) ?? []).filter(
      (importer) => importer.path !== path && mayMean(importer, path, own),
    );
    return new Set(users.map((user) => user.path)).size;
  };
}

/** `std::io::{Read, Write}`: some languages name what they take in the path itself. */
function namesIn(from: string): string[] {
  return from.includes("::") ? (from.match(/[\p{ID_Start}_][\p{ID_Continue}]*/gu) ?? []) : [];
}

function mayMean({ path, from }: Importer, target: string, packageName: string | null): boolean {
  const stem = stemOf(target);
  if (/^\.{1,2}(\/|$)/.test(from)) {
    const meant = stemOf(normalize(join(dirname(path), from)));
    return meant === stem || meant === dirname(target) || isFrontDoor(meant, target);
  }
  if (packageName !== null && (from === packageName || from.startsWith(`${packageName}/`))) return true;
  const words = from.split(/[^\p{ID_Continue}-]+/u).filter((word) => word !== "");
  // `pkg.module`, `.module` and `crate::module::Name` name the file or its folder; an empty one is the folder itself.
  return words.length === 0 || words.some((word) => word === nameOf(stem) || word === nameOf(dirname(target)));
}

/** Whether a module is an index of a folder that the file is in. */
function isFrontDoor(meant: string, target: string): boolean {
  const folder = dirname(meant);
  return /(^|\/)(index|mod|__init__)$/.test(meant) && (folder === "." || target.startsWith(`${folder}/`));
}

function stemOf(path: string): string {
  return path.replace(/\.(d\.)?[a-z]+$/, "");
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
