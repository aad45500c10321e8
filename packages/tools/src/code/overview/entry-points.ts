import { basename, dirname, join, normalize } from "node:path/posix";
import type { Outline } from "../syntax/queries.ts";
import type { Line } from "./fit-sections.ts";
import { type Package, shortened } from "./packages.ts";

export interface OutlinedFile {
  path: string;
  outline: Outline;
}

interface Known {
  packages: readonly Package[];
  outlines: readonly OutlinedFile[];
  paths: readonly string[];
}

/** Where one comes in: what manifests name, then programs, then files that are called as entries are. */
export function entryPoints({ packages, outlines, paths }: Known): Line[] {
  const existing = new Set(paths);
  const named = packages.flatMap(({ folder, name, entries }) =>
    entries.map(({ use, path }) => ({
      place: sourceOf(normalize(join(folder, path)), existing),
      use: shortened(`${use} of ${name ?? folder}`, 100),
    })),
  );
  const programs = outlines
    .filter(({ outline }) => outline.program)
    .map(({ path }) => ({ place: path, use: "program" }));
  const usual = outlines
    .filter(({ path }) => usualNames.test(basename(path)) && path.split("/").length <= 4)
    .map(({ path }) => ({ place: path, use: "by its name" }));
  const seen = new Set<string>();
  const all = [...named, ...programs, ...usual].filter(({ place, use }) => {
    // A place that a manifest names twice is told twice; what is only guessed is not told again.
    const isKnown = seen.has(use === "program" || use === "by its name" ? place : `${place} ${use}`);
    seen.add(place).add(`${place} ${use}`);
    return !isKnown;
  });
  return all.map(({ place, use }, rank) => ({ text: `${place} (${use})`, rank }));
}

const usualNames = /^(index|main|mod|lib|app|server|cli|__main__|__init__|manage)\.[a-z]+$/;

/** The source that a built file is made of, where it can be found: `dist/index.js` is made of `src/index.ts`. */
export function sourceOf(path: string, existing: ReadonlySet<string>): string {
  if (existing.has(path)) return path;
  const stem = path.replace(/\.[cm]?js$|\.d\.[cm]?ts$/, "");
  const folders = [dirname(stem), dirname(stem).replace(/(^|\/)(dist|build|lib|out)(\/|$)/, "$1src$3")];
  const candidates = [...new Set(folders)].flatMap((folder) =>
    ["ts", "tsx", "mts", "js", "mjs"].map((extension) => normalize(`${folder}/${basename(stem)}.${extension}`)),
  );
  return candidates.find((candidate) => existing.has(candidate)) ?? `${path} (built)`;
}
