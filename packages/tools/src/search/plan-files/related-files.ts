import { isGenericName, kindOf, subjectOf } from "./file-kind.ts";
import { type RankedFile, sortedFiles } from "./rank-files.ts";

export interface Relations {
  /** The best files: what is related to them counts. */
  best: readonly RankedFile[];
  /** All files. */
  paths: readonly string[];
  /** For names of the best files: who imports them. */
  importers: ReadonlyMap<string, readonly string[]>;
  /** Else a test comes after what it tests. */
  aboutTests: boolean;
}

/** Of the score of a file, for its test and for those that import it. */
const shared = { test: 0.3, importer: 0.12 } as const;
/** Of the score of a file, for its test at most. */
const testMost = 0.95;

/** What the best files are about, by the names that others import them by. */
export function subjectsOf(best: readonly RankedFile[]): string[] {
  return [...new Set(best.flatMap(({ path }) => (isSubject(path) ? [subjectOf(path)] : [])))];
}

/** The ranking, where tests of the best files and those that import them share in what those have. */
export function withRelated(ranked: readonly RankedFile[], relations: Relations): RankedFile[] {
  const { best, paths, importers, aboutTests } = relations;
  const known = new Map(ranked.map((file) => [file.path, { ...file, reasons: [...file.reasons] }]));
  const share = (path: string, points: number, reason: string): RankedFile => {
    const file = known.get(path) ?? { path, score: 0, reasons: [] };
    file.score += points;
    file.reasons.push(reason);
    known.set(path, file);
    return file;
  };
  const importing = new Set<string>();
  for (const { path, score } of best.filter((file) => isSubject(file.path))) {
    const subject = subjectOf(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const test = nearestTo(
      path,
      // What is cheap to ask comes first: there may be many thousands.
      paths.filter((other) => isAbout(other, subject) && kindOf(other) === "test"),
    );
    if (test !== null) {
      const file = share(test, score * shared.test, `tests ${name}`);
      if (!aboutTests) file.score = Math.min(file.score, score * testMost);
    }
    for (const importer of importers.get(subject) ?? []) {
      if (importer === path || importer === test || importing.has(importer)) continue;
      importing.add(importer);
      share(importer, score * shared.importer, `imports ${name}`);
    }
  }
  return sortedFiles([...known.values()]);
}

function isSubject(path: string): boolean {
  return kindOf(path) === "source" && !isGenericName(subjectOf(path));
}

function isAbout(path: string, subject: string): boolean {
  return path.toLowerCase().includes(subject) && subjectOf(path) === subject;
}

/** The one with most folders in common: several packages may have a file of one name. */
function nearestTo(path: string, candidates: readonly string[]): string | null {
  const folders = path.split("/");
  const common = (other: string): number => {
    const names = other.split("/");
    const at = folders.findIndex((folder, i) => folder !== names[i]);
    return at === -1 ? folders.length : at;
  };
  return [...candidates].sort((a, b) => common(b) - common(a) || (a < b ? -1 : 1))[0] ?? null;
}
