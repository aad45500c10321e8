import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Checks cheaply whether a build matches its sources; it runs before every `pnpm troupe`. The fingerprint holds path,
 * size and time of every source. Comparing only the newest time would miss a deleted file and a file restored with an
 * older time.
 */

/** Files outside the packages that a build depends on. */
const sharedInputs = ["package.json", "pnpm-lock.yaml", "turbo.json", "tsconfig.base.json", "scripts/bundle.ts"];
const notSources = new Set(["node_modules", "dist", ".turbo", "README.md"]);

export function stampFile(root: string): string {
  return join(root, "node_modules", ".cache", "troupe", "built");
}

export function isFresh(root: string): boolean {
  return readStamp(root) === fingerprint(root) && hasOutputs(root);
}

/** Returns a short fingerprint of the current sources. */
export function fingerprint(root: string): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    const stat = statSync(path, { throwIfNoEntry: false });
    hash.update(`${path}\0${stat?.size}\0${stat?.mtimeMs}\n`);
  };
  for (const name of sharedInputs) add(join(root, name));
  for (const folder of packageFolders(root)) eachSource(folder, add);
  return hash.digest("hex");
}

/** The folders of packages/ and apps/ that hold a package. */
export function packageFolders(root: string): string[] {
  return ["packages", "apps"].flatMap((group) => {
    if (!existsSync(join(root, group))) return [];
    const folders = readdirSync(join(root, group)).sort();
    return folders.map((name) => join(root, group, name)).filter((folder) => existsSync(join(folder, "package.json")));
  });
}

function eachSource(folder: string, visit: (path: string) => void): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (notSources.has(entry.name) || /\.test\.tsx?$/.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) eachSource(path, visit);
    else visit(path);
  }
}

/** Whether every file that a package promises in `exports` or `bin` is there; a package without any, its dist. */
function hasOutputs(root: string): boolean {
  return packageFolders(root).every((folder) => {
    const { exports, bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const promised = pathsIn([exports, bin]).filter((path) => path.startsWith("./dist/"));
    return (promised.length > 0 ? promised : ["dist"]).every((path) => existsSync(join(folder, path)));
  });
}

function pathsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(pathsIn);
}

function readStamp(root: string): string | undefined {
  try {
    return readFileSync(stampFile(root), "utf8");
  } catch {
    return undefined;
  }
}
