import { mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

/** A workspace with symlinks that lead outside, and a protected folder beside it. */
export interface EscapeWorkspace {
  workspace: string;
  /** All that is there, inside and outside, with its content. */
  contents(): Promise<Record<string, string>>;
}

export async function createEscapeWorkspace(folder: string): Promise<EscapeWorkspace> {
  const workspace = path.join(folder, "workspace");
  const outside = path.join(folder, "outside");
  await mkdir(path.join(workspace, "folder"), { recursive: true });
  await mkdir(outside);
  await writeFile(path.join(workspace, "notes.md"), "hello\n");
  await writeFile(path.join(workspace, "folder", "inside.txt"), "inside\n");
  await writeFile(path.join(outside, "secret.txt"), "secret\n");
  await symlink(outside, path.join(workspace, "out"));
  await symlink(path.join(outside, "secret.txt"), path.join(workspace, "secret-link"));
  await symlink(path.join(folder, "nothing"), path.join(workspace, "nowhere"));
  return { workspace, contents: () => contentsOf(folder) };
}

async function contentsOf(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = found.map(async (entry) => {
    const file = path.join(entry.parentPath, entry.name);
    const shown = path.relative(folder, file);
    if (entry.isSymbolicLink()) return [shown, `→ ${path.relative(folder, await readlink(file))}`];
    return [shown, entry.isDirectory() ? "folder" : await readFile(file, "utf8")];
  });
  return Object.fromEntries(await Promise.all(contents));
}
