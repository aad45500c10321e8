import type { Line } from "./fit-sections.ts";

interface Folder {
  files: string[];
  folders: Map<string, Folder>;
  /** All below. */
  count: number;
}

const filesNamedMax = 12;

/** Folders with the number of files in them; those that hold nothing but one other folder stand on its line. */
export function folderTree(paths: readonly string[], { root, depth }: { root: string; depth: number }): Line[] {
  const prefix = root === "." ? "" : `${root}/`;
  const top = emptyFolder();
  for (const path of paths) add(top, path.startsWith(prefix) ? path.slice(prefix.length) : path);
  const lines = linesOf(top, { level: 0, depth });
  const named = top.files.slice(0, filesNamedMax).join(", ");
  const more = top.files.length > filesNamedMax ? `, … ${top.files.length - filesNamedMax} more` : "";
  return top.files.length > 0 ? [...lines, { text: `files here: ${named}${more}`, rank: 0 }] : lines;
}

function emptyFolder(): Folder {
  return { files: [], folders: new Map(), count: 0 };
}

function add(top: Folder, path: string): void {
  const segments = path.split("/");
  const name = segments.pop() ?? path;
  let folder = top;
  folder.count += 1;
  for (const segment of segments) {
    const next = folder.folders.get(segment) ?? emptyFolder();
    folder.folders.set(segment, next);
    next.count += 1;
    folder = next;
  }
  folder.files.push(name);
}

function linesOf(folder: Folder, { level, depth }: { level: number; depth: number }): Line[] {
  if (level >= depth) return [];
  return [...folder.folders].flatMap(([name, found]) => {
    const { label, inner } = joined(name, found);
    const beyond = level + 1 >= depth && inner.folders.size > 0 ? ` in ${inner.folders.size} more folders` : "";
    // Of one level the full folders say more than the small ones.
    const rank = level * 100_000 - Math.min(inner.count, 99_999);
    const line = { text: `${"  ".repeat(level)}${label}/ ${inner.count}${beyond}`, rank };
    return [line, ...linesOf(inner, { level: level + 1, depth })];
  });
}

/** `src/main/java` is one line where nothing else is in any of them. */
function joined(name: string, folder: Folder): { label: string; inner: Folder } {
  let label = name;
  let inner = folder;
  while (inner.files.length === 0 && inner.folders.size === 1) {
    const [only] = inner.folders;
    if (!only) break;
    label = `${label}/${only[0]}`;
    inner = only[1];
  }
  return { label, inner };
}
