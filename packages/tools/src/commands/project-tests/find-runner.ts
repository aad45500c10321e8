import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { scriptWords } from "./package-script.ts";
import type { RunnerName } from "./runners.ts";

/** The program that runs a project's tests. */
export interface FoundRunner {
  name: RunnerName;
  /** The project's folder, relative to the workspace; `.` for the workspace itself. */
  folder: string;
  /** The reason for the choice, as text. */
  why: string;
  /** Arguments from the project's own test script. */
  projectArgs: string[];
  env: Record<string, string>;
}

/** The supported ways to run tests, as text for an error message. */
export const supportedRunners =
  "a test script or a runner (vitest, jest, mocha, ava, tap) in package.json, *.test.js files for node --test, go.mod, " +
  "Cargo.toml, pytest.ini or pytest in pyproject.toml, test_*.py files, and a Makefile with a target test";

/**
 * Finds the runner of the nearest project, from a folder up to the workspace.
 *
 * @param only the runner that the caller asks for

 */
export async function findRunner(
  workspace: string,
  from: string,
  only: RunnerName | null,
): Promise<FoundRunner | null> {
  const segments = from === "." ? [] : from.split("/");
  for (let depth = segments.length; depth >= 0; depth--) {
    const folder = segments.slice(0, depth).join("/") || ".";
    const folderFacts = await readProjectFolder(join(workspace, folder), depth === 0);
    for (const detect of detectors) {
      const found = await detect(folderFacts);
      if (found && (only === null || only === found.name)) return { projectArgs: [], env: {}, ...found, folder };
    }
  }
  if (only === null || only === "script") return null;
  return { name: only, folder: from, why: "asked for", projectArgs: only === "unittest" ? ["-s", "."] : [], env: {} };
}

interface ProjectFolder {
  path: string;
  /** Whether it is the workspace itself. */
  isTop: boolean;
  entries: readonly string[];
  read(name: string): Promise<string>;
}

type DetectedRunner = Pick<FoundRunner, "name" | "why"> & Partial<FoundRunner>;
type DetectRunner = (folder: ProjectFolder) => Promise<DetectedRunner | null>;

const fileCharactersMax = 1024 * 1024;

async function readProjectFolder(path: string, isTop: boolean): Promise<ProjectFolder> {
  const entries: string[] = await readdir(path).catch(() => []);
  const read = async (name: string): Promise<string> => {
    const file = join(path, name);
    const stats = entries.includes(name) ? await lstat(file).catch(() => null) : null;
    return stats?.isFile() && stats.size <= fileCharactersMax ? await readFile(file, "utf8").catch(() => "") : "";
  };
  return { path, isTop, entries, read };
}

const detectors: readonly DetectRunner[] = [
  detectPackageScript,
  detectNodeTests,
  detectGo,
  detectCargo,
  detectPytest,
  detectUnittest,
  detectMake,
];

const Package = z.object({
  scripts: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  devDependencies: z.record(z.string(), z.unknown()).default({}),
});

const nodeRunners: readonly RunnerName[] = ["vitest", "jest", "mocha", "ava", "tap"];

async function detectPackageScript({ read }: ProjectFolder): Promise<DetectedRunner | null> {
  const found = parsePackage(await read("package.json"));
  if (!found) return null;
  const { scripts, dependencies, devDependencies } = found;
  const script = scripts.test?.includes("no test specified") ? undefined : scripts.test;
  const words = script === undefined ? null : scriptWords(script);
  const why = `package.json: its test script is ${JSON.stringify(script)}`;
  const known = nodeRunners.find((name) => words?.program === name);
  if (words && known !== undefined) return { name: known, why, projectArgs: words.args, env: words.env };
  if (words?.program === "node" && words.args.includes("--test")) {
    return { name: "node", why, projectArgs: words.args, env: words.env };
  }
  const dependency = nodeRunners.find((name) => name in devDependencies || name in dependencies);
  if (dependency !== undefined && (script === undefined || script.includes(dependency))) {
    return { name: dependency, why: `package.json: it depends on ${dependency}` };
  }
  return script === undefined ? null : { name: "script", why, projectArgs: [script] };
}

function parsePackage(text: string): z.output<typeof Package> | null {
  try {
    return Package.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Test files alone count only at a project's root: tests in its subfolders have to run from there. */
const isProjectRoot = ({ isTop, entries }: ProjectFolder, manifests: readonly string[]): boolean =>
  isTop || manifests.some((name) => entries.includes(name));

async function detectNodeTests(folder: ProjectFolder): Promise<DetectedRunner | null> {
  if (!isProjectRoot(folder, ["package.json"])) return null;
  const file = await nameIn(folder, [".", "test", "tests"], /\.test\.[cm]?[jt]s$/);
  return file === null ? null : { name: "node", why: `there is ${file}, and no other runner` };
}

async function detectGo({ entries }: ProjectFolder): Promise<DetectedRunner | null> {
  return entries.includes("go.mod") ? { name: "go", why: "there is a go.mod" } : null;
}

async function detectCargo({ entries }: ProjectFolder): Promise<DetectedRunner | null> {
  return entries.includes("Cargo.toml") ? { name: "cargo", why: "there is a Cargo.toml" } : null;
}

async function detectPytest({ entries, read }: ProjectFolder): Promise<DetectedRunner | null> {
  const file = ["pytest.ini", "conftest.py", ".pytest.ini"].find((name) => entries.includes(name));
  if (file !== undefined) return { name: "pytest", why: `there is a ${file}` };
  for (const name of ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"]) {
    if (/\bpytest\b/.test(await read(name))) return { name: "pytest", why: `${name} names pytest` };
  }
  return null;
}

async function detectUnittest(project: ProjectFolder): Promise<DetectedRunner | null> {
  if (!isProjectRoot(project, ["pyproject.toml", "setup.py", "setup.cfg"])) return null;
  const file = await nameIn(project, [".", "tests", "test"], /^test\w*\.py$/);
  if (file === null) return null;
  const folder = file.includes("/") ? (file.split("/", 1)[0] ?? ".") : ".";
  return { name: "unittest", why: `there is ${file}, and no pytest is named`, projectArgs: ["-s", folder] };
}

async function detectMake({ read, entries }: ProjectFolder): Promise<DetectedRunner | null> {
  const name = ["GNUmakefile", "makefile", "Makefile"].find((candidate) => entries.includes(candidate));
  const hasTarget = name !== undefined && /^test\s*:/m.test(await read(name));
  return hasTarget ? { name: "make", why: `${name} has a target test` } : null;
}

/** The first file in one of these folders whose name matches. */
async function nameIn(
  { path, entries }: ProjectFolder,
  folders: readonly string[],
  pattern: RegExp,
): Promise<string | null> {
  for (const folder of folders) {
    const own: readonly string[] = folder === "." ? entries : await readdir(join(path, folder)).catch(() => []);
    const name = own.find((candidate) => pattern.test(candidate));
    if (name !== undefined) return folder === "." ? name : `${folder}/${name}`;
  }
  return null;
}
