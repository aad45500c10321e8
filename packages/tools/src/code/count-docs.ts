import { dirname } from "node:path/posix";
import type { Asked } from "./code-files.ts";
import { languageOf } from "./languages/languages.ts";
import type { Definition, Outline } from "./syntax/queries.ts";

export interface DocsCount {
  documented: number;
  total: number;
  /** Worst first. */
  folders: FolderDocs[];
}

export interface FolderDocs {
  folder: string;
  documented: number;
  total: number;
  missing: { path: string; line: number; kind: string; name: string }[];
}

/** Counts exports where they are defined: a list that exports them again adds none. */
export function countDocs(answers: Asked<Outline>["answers"]): DocsCount {
  const folders = new Map<string, FolderDocs>();
  for (const { path, answer } of answers) {
    if ("problem" in answer) continue;
    const folder = folders.get(dirname(path)) ?? { folder: dirname(path), documented: 0, total: 0, missing: [] };
    folders.set(folder.folder, folder);
    for (const { definition, documented } of subjectsOf(path, answer)) {
      folder.total += 1;
      if (documented) folder.documented += 1;
      else folder.missing.push({ path, line: definition.line, kind: definition.kind, name: fullName(definition) });
    }
  }
  const counted = [...folders.values()].filter(({ total }) => total > 0).sort(byWorst);
  return {
    documented: counted.reduce((sum, { documented }) => sum + documented, 0),
    total: counted.reduce((sum, { total }) => sum + total, 0),
    folders: counted,
  };
}

/** What ought to be documented, each name once: overloads, and getters beside setters, share a comment. */
function subjectsOf(path: string, { definitions }: Outline): { definition: Definition; documented: boolean }[] {
  const classes = new Set(definitions.filter(({ kind }) => kind === "class").map(fullName));
  const subjects = new Map<string, { definition: Definition; documented: boolean }>();
  for (const definition of definitions) {
    if (!isSubject(path, definition, classes)) continue;
    const known = subjects.get(fullName(definition));
    if (known) known.documented ||= definition.documented;
    else subjects.set(fullName(definition), { definition, documented: definition.documented });
  }
  return [...subjects.values()];
}

const kinds = new Set(["function", "class", "interface", "type", "enum"]);

function isSubject(path: string, definition: Definition, classes: ReadonlySet<string>): boolean {
  const { exported, kind, container, name, signature } = definition;
  if (!exported) return false;
  if (kind === "method") {
    // What is overridden is documented where it comes from; constructors and the like by their class.
    const isOwn = container !== null && classes.has(container) && !/\boverride\b/.test(signature);
    return isOwn && name !== "constructor" && !/^__.*__$/.test(name);
  }
  // A docstring is nothing that a value of Python can have.
  if (kind === "constant" || kind === "variable") return container === null && languageOf(path)?.id !== "python";
  return kinds.has(kind);
}

function fullName({ container, name }: Definition): string {
  return container === null ? name : `${container}.${name}`;
}

function byWorst(a: FolderDocs, b: FolderDocs): number {
  return (
    a.documented / a.total - b.documented / b.total ||
    b.missing.length - a.missing.length ||
    (a.folder < b.folder ? -1 : 1)
  );
}
