/** Files by what has been done to them. */
export interface ChangedFiles {
  filesCreated: string[];
  filesModified: string[];
  /** Those that are gone: in neither of the other lists. */
  filesDeleted: string[];
}

/** What was touched before, and now: a file that is deleted leaves the lists of those that are there, and back. */
export function withFiles(known: ChangedFiles, added: ChangedFiles): ChangedFiles {
  const { filesCreated, filesModified, filesDeleted } = added;
  return {
    filesCreated: union(without(known.filesCreated, filesDeleted), filesCreated),
    filesModified: union(without(known.filesModified, filesDeleted), filesModified),
    filesDeleted: union(without(known.filesDeleted, [...filesCreated, ...filesModified]), filesDeleted),
  };
}

function union(a: string[], b: readonly string[]): string[] {
  return b.every((item) => a.includes(item)) ? a : [...new Set([...a, ...b])];
}

function without(list: string[], gone: readonly string[]): string[] {
  return list.some((item) => gone.includes(item)) ? list.filter((item) => !gone.includes(item)) : list;
}
