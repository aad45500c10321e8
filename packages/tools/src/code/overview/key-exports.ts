import type { Definition } from "../syntax/queries.ts";
import type { OutlinedFile } from "./entry-points.ts";
import type { Line } from "./fit-sections.ts";
import { createImportCounts } from "./import-counts.ts";
import { type Package, packageOf, shortened } from "./packages.ts";

interface Ranked {
  path: string;
  definition: Definition;
  /** How many files import it. */
  uses: number;
  score: number;
}

const perPackageMax = 60;
const signatureLengthMax = 130;
const valueLengthMax = 60;

/** What each package gives to others, most imported first; packages take turns. */
export function keyExports(known: { packages: readonly Package[]; outlines: readonly OutlinedFile[] }): Line[] {
  const { packages, outlines } = known;
  const usesOf = createImportCounts(outlines, packages);
  const listed = new Set(outlines.flatMap(({ outline }) => outline.exports.map(({ name }) => name)));
  const groups = new Map<string, Ranked[]>();
  for (const { path, outline } of outlines) {
    const folder = packageOf(packages, path)?.folder ?? ".";
    const group = groups.get(folder) ?? [];
    groups.set(folder, group);
    for (const definition of firstOfEach(outline.definitions)) {
      const uses = usesOf(path, definition.name);
      group.push({ path, definition, uses, score: scoreOf(definition, uses, listed) });
    }
  }
  const ordered = [...groups]
    .filter(([, ranked]) => ranked.length > 0)
    .map(([folder, ranked]) => ({ folder, best: ranked.sort(byScore).slice(0, perPackageMax) }))
    .sort((a, b) => totalOf(b.best) - totalOf(a.best) || (a.folder < b.folder ? -1 : 1));
  return ordered.flatMap(({ folder, best }) => showPackage(folder, best, packages, ordered.length > 1));
}

/** Overloads and reopened interfaces are told once. */
function firstOfEach(definitions: readonly Definition[]): Definition[] {
  const seen = new Set<string>();
  return definitions.filter(({ exported, container, name }) => {
    if (!exported || container !== null || seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function showPackage(folder: string, best: readonly Ranked[], packages: readonly Package[], hasHead: boolean): Line[] {
  const name = packages.find((one) => one.folder === folder && one.name !== null)?.name ?? folder;
  const place = folder === "." || name === folder ? "" : ` (${folder})`;
  const head = hasHead ? [{ text: `${shortened(name, 80)}${place}:`, rank: 0 }] : [];
  const prefix = folder === "." ? "" : `${folder}/`;
  return [
    ...head,
    ...best.map(({ path, definition, uses }, i) => {
      const used = uses > 0 ? `, in ${uses} ${uses === 1 ? "file" : "files"}` : "";
      const where = `${path.slice(prefix.length)}:${definition.line}`;
      return { text: `${hasHead ? "  " : ""}${bareSignature(definition)} [${where}${used}]`, rank: 1 + i };
    }),
  ];
}

/** Without the words that all of them have; of a value, only how it begins. */
function bareSignature({ signature, kind }: Definition): string {
  const bare = signature.replace(/^(export |default |declare |public |pub |async |function |def |func |fn )+/, "");
  return shortened(bare, kind === "constant" || kind === "variable" ? valueLengthMax : signatureLengthMax);
}

function scoreOf({ documented, kind, name }: Definition, uses: number, listed: ReadonlySet<string>): number {
  const isCallable = kind === "function" || kind === "class";
  return uses * 4 + (listed.has(name) ? 2 : 0) + (isCallable ? 2 : 0) + (documented ? 1 : 0);
}

function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.definition.line - b.definition.line);
}

function totalOf(ranked: readonly Ranked[]): number {
  return ranked.reduce((sum, { uses }) => sum + uses, 0);
}
