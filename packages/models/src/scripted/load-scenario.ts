import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { TroupeError } from "@troupe/core";
import { Token } from "@troupe/core/internal";
import { parseScenario } from "./parse-scenario.ts";
import type { Scenario } from "./scenario.ts";

/** The scenarios that come with this package. */
export const shippedScenarioFolder: string = fileURLToPath(new URL("../../scenarios", import.meta.url));

const fileBytesMax = 1024 * 1024;

export interface ScenarioFolders {
  /** Where names are looked up; the first folder that has one wins. @default [shippedScenarioFolder] */
  folders?: readonly string[];
}

/**
 * Reads a scenario: by name from the folders, or by the path of its file (which has a slash in it, or ends in .yaml).
 * Throws `UNKNOWN_SCENARIO` or `INVALID_SCENARIO`.
 *
 * @example
 * const scenario = await loadScenario("demo");
 */
export async function loadScenario(nameOrPath: string, options: ScenarioFolders = {}): Promise<Scenario> {
  return createScenarioLoader(options)(nameOrPath);
}

/** The same, reading a file again only when it has changed. */
export function createScenarioLoader({
  folders = [shippedScenarioFolder],
}: ScenarioFolders = {}): (nameOrPath: string) => Promise<Scenario> {
  const loaded = new Map<string, { version: string; scenario: Scenario }>();
  return async (nameOrPath) => {
    const { path, version } = await findFile(nameOrPath, folders);
    const known = loaded.get(path);
    if (known?.version === version) return known.scenario;
    const scenario = parseScenario(await readFile(path, "utf8"), path);
    loaded.set(path, { version, scenario });
    return scenario;
  };
}

/** Names that `loadScenario` knows, sorted. */
export async function listScenarios({ folders = [shippedScenarioFolder] }: ScenarioFolders = {}): Promise<string[]> {
  const names = await Promise.all(folders.map(async (folder) => readdir(folder).catch(() => [])));
  const scenarios = names.flat().filter((name) => isYaml(name));
  return [...new Set(scenarios.map((name) => basename(name, extname(name))))].sort();
}

interface FoundFile {
  path: string;
  /** Changes when the file does. */
  version: string;
}

async function findFile(nameOrPath: string, folders: readonly string[]): Promise<FoundFile> {
  const candidates = candidatesFor(nameOrPath, folders);
  for (const path of candidates) {
    const stats = await stat(path).catch(() => null);
    if (!stats?.isFile()) continue;
    if (stats.size > fileBytesMax) throw tooLarge(path, stats.size);
    return { path, version: `${stats.mtimeMs}/${stats.size}/${stats.ino}` };
  }
  const known = (await listScenarios({ folders })).join(", ") || "none";
  throw new TroupeError(
    "UNKNOWN_SCENARIO",
    `there is no scenario ${JSON.stringify(nameOrPath)}; known ones: ${known}`,
    {
      fix: "give one of the known names, or the path of a scenario file",
    },
  );
}

function candidatesFor(nameOrPath: string, folders: readonly string[]): string[] {
  if (/[\\/]/.test(nameOrPath) || isYaml(nameOrPath)) return [resolve(nameOrPath)];
  if (!Token.safeParse(nameOrPath).success) return [];
  return folders.flatMap((folder) => [join(folder, `${nameOrPath}.yaml`), join(folder, `${nameOrPath}.yml`)]);
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/.test(name);
}

function tooLarge(path: string, bytes: number): TroupeError {
  return new TroupeError(
    "INVALID_SCENARIO",
    `the scenario ${path} has ${bytes} bytes; at most ${fileBytesMax} are read`,
    {
      fix: "make it smaller: a scenario is a page or two of YAML",
    },
  );
}
