import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { scriptWords } from "./package-script.ts";
import type { RunnerName } from "./runners.ts";

/** Which program runs a project's tests. */
export interface FoundRunner {
  name: RunnerName;
  /** Of the project, relative to the workspace; `.` for the workspace itself. */
  folder: string;
  /** How it was found out, in words. */
  why: string;
  /** What the project itself gives it. */
  own: string[];
  env: Record<string, string>;
}

/** What is looked for, in words for whoever has none of it. */
export const lookedFor =
  "a test script or a runner (vitest, jest, mocha, ava, tap) in package.json, *.test.js files for node --test, go.mod, " +
  "Cargo.toml, pytest.ini or pytest in pyproject.toml, test_*.py files, and a Makefile with a target test";

/**
 * The runner of the project that a folder is in: of the nearest folder up to the workspace that has one.
 *
 * @param only look for this one
 */
export async function findRunner(
  workspace: string,
  from: string,
  only: RunnerName | null,
): Promise<FoundRunner | null> {
  const segments = from === "." ? [] : from.split("/");
  for (let depth = segments.length; depth >= 0; depth--) {
    const folder = segments.slice(0, depth).join("/") || ".";
    const place = await placeOf(join(workspace, folder), depth === 0);
    for (const look of looks) {
      const found = await look(place);
      if (found && (only === null || only === found.name)) return { own: [], env: {}, ...found, folder };
    }
  }
  if (only === null || only === "script") return null;
  return { name: only, folder: from, why: "asked for", own: only === "unittest" ? ["-s", "."] : [], env: {} };
}

interface Place {
  path: string;
  /** The workspace itself. */
  isTop: boolean;
  names: readonly string[];
  read(name: string): Promise<string>;
}

type Found = Pick<FoundRunner, "name" | "why"> & Partial<FoundRunner>;
type Look = (place: Place) => Promise<Found | null>;

const fileCharactersMax = 1024 * 1024;

async function placeOf(path: string, isTop: boolean): Promise<Place> {
  const names: string[] = await readdir(path).catch(() => []);
  const read = async (name: string): Promise<string> => {
    const file = join(path, name);
    const stats = names.includes(name) ? await lstat(file).catch(() => null) : null;
    return stats?.isFile() && stats.size <= fileCharactersMax ? await readFile(file, "utf8").catch(() => "") : "";
  };
  return { path, isTop, names, read };
}

const looks: readonly Look[] = [inPackage, inNodeFiles, inGo, inCargo, inPytest, inPythonFiles, inMakefile];

const Package = z.object({
  scripts: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  devDependencies: z.record(z.string(), z.unknown()).default({}),
});

const ofNode: readonly RunnerName[] = ["vitest", "jest", "mocha", "ava", "tap"];

async function inPackage({ read }: Place): Promise<Found | null> {
  const found = parsePackage(await read("package.json"));
  if (!found) return null;
  const { scripts, dependencies, devDependencies } = found;
  const script = scripts.test?.includes("no test specified") ? undefined : scripts.test;
  const words = script === undefined ? null : scriptWords(script);
  const why = `package.json: its test script is ${JSON.stringify(script)}`;
  const known = ofNode.find((name) => words?.program === name);
  if (words && known !== undefined) return { name: known, why, own: words.args, env: words.env };
  if (words?.program === "node" && words.args.includes("--test")) {
    return { name: "node", why, own: words.args, env: words.env };
  }
  const dependency = ofNode.find((name) => name in devDependencies || name in dependencies);
  if (dependency !== undefined && (script === undefined || script.includes(dependency))) {
    return { name: dependency, why: `package.json: it depends on ${dependency}` };
  }
  return script === undefined ? null : { name: "script", why, own: [script] };
}

function parsePackage(text: string): z.output<typeof Package> | null {
  try {
    return Package.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Files alone make a project only where it begins: tests of a folder in it want to be run from there. */
const begins = ({ isTop, names }: Place, manifests: readonly string[]): boolean =>
  isTop || manifests.some((name) => names.includes(name));

async function inNodeFiles(place: Place): Promise<Found | null> {
  if (!begins(place, ["package.json"])) return null;
  const file = await nameIn(place, [".", "test", "tests"], /\.test\.[cm]?[jt]s$/);
  return file === null ? null : { name: "node", why: `there is ${file}, and no other runner` };
}

async function inGo({ names }: Place): Promise<Found | null> {
  return names.includes("go.mod") ? { name: "go", why: "there is a go.mod" } : null;
}

async function inCargo({ names }: Place): Promise<Found | null> {
  return names.includes("Cargo.toml") ? { name: "cargo", why: "there is a Cargo.toml" } : null;
}

async function inPytest({ names, read }: Place): Promise<Found | null> {
  const file = ["pytest.ini", "conftest.py", ".pytest.ini"].find((name) => names.includes(name));
  if (file !== undefined) return { name: "pytest", why: `there is a ${file}` };
  for (const name of ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"]) {
    if (/\bpytest\b/.test(await read(name))) return { name: "pytest", why: `${name} names pytest` };
  }
  return null;
}

async function inPythonFiles(place: Place): Promise<Found | null> {
  if (!begins(place, ["pyproject.toml", "setup.py", "setup.cfg"])) return null;
  const file = await nameIn(place, [".", "tests", "test"], /^test\w*\.py$/);
  if (file === null) return null;
  const folder = file.includes("/") ? (file.split("/", 1)[0] ?? ".") : ".";
  return { name: "unittest", why: `there is ${file}, and no pytest is named`, own: ["-s", folder] };
}

async function inMakefile({ read, names }: Place): Promise<Found | null> {
  const name = ["GNUmakefile", "makefile", "Makefile"].find((candidate) => names.includes(candidate));
  const hasTarget = name !== undefined && /^test\s*:/m.test(await read(name));
  return hasTarget ? { name: "make", why: `${name} has a target test` } : null;
}

/** The first file of that name in one of these folders. */
async function nameIn({ path, names }: Place, folders: readonly string[], pattern: RegExp): Promise<string | null> {
  for (const folder of folders) {
    const own: readonly string[] = folder === "." ? names : await readdir(join(path, folder)).catch(() => []);
    const name = own.find((candidate) => pattern.test(candidate));
    if (name !== undefined) return folder === "." ? name : `${folder}/${name}`;
  }
  return null;
}
