import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { TroupeError } from "@troupe/core";
import { Token } from "@troupe/core/internal";
import { lineOf } from "@troupe/core/yaml";
import { type Document, LineCounter, parseDocument } from "yaml";
import { Scenario } from "./scenario.ts";

/** The scenarios that come with this package. */
export const shippedScenarioFolder: string = fileURLToPath(new URL("../../scenarios", import.meta.url));

const fileBytesMax = 1024 * 1024;

export interface ScenarioFolders {
  /** Folders to look names up in; the first match wins. @default [shippedScenarioFolder] */
  folders?: readonly string[];
}

/**
 * Reads a scenario by its name in the folders, or by the path of its file (a path has a slash, or ends in .yaml).
 * Throws `UNKNOWN_SCENARIO` or `INVALID_SCENARIO`.
 *
 * @example
 * const scenario = await loadScenario("demo");
 */
export async function loadScenario(nameOrPath: string, options: ScenarioFolders = {}): Promise<Scenario> {
  return createScenarioLoader(options)(nameOrPath);
}

/**
 * Returns a `loadScenario` that reads a file again only after it has changed.
 *
 * @example
 * const load = createScenarioLoader({ folders: ["./scenarios"] });
 * const scenario = await load("release");
 */
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

/**
 * Names that `loadScenario` finds, sorted.
 *
 * @example
 * await listScenarios(); // ["demo"]
 */
export async function listScenarios({ folders = [shippedScenarioFolder] }: ScenarioFolders = {}): Promise<string[]> {
  const names = await Promise.all(folders.map(async (folder) => readdir(folder).catch(() => [])));
  const scenarios = names.flat().filter((name) => isYaml(name));
  return [...new Set(scenarios.map((name) => basename(name, extname(name))))].sort();
}

interface ScenarioFile {
  path: string;
  /** Changes whenever the file does. */
  version: string;
}

async function findFile(nameOrPath: string, folders: readonly string[]): Promise<ScenarioFile> {
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
    `there is no scenario ${JSON.stringify(nameOrPath)}; known scenarios: ${known}`,
    { fix: "use a known name, or the path of a scenario file" },
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
  return new TroupeError("INVALID_SCENARIO", `the scenario ${path} has ${bytes} bytes; the limit is ${fileBytesMax}`, {
    fix: "shorten it: a scenario is a page or two of YAML",
  });
}

const problemsShown = 3;

interface Problem {
  /** Null when the line is unknown. */
  line: number | null;
  message: string;
}

/**
 * Parses a scenario from YAML. Throws `INVALID_SCENARIO` with the file and the line of each problem.
 *
 * @example
 * const scenario = parseScenario(await readFile("release.yaml", "utf8"), "release.yaml");
 */
export function parseScenario(text: string, file: string): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    throw invalidScenario(
      file,
      document.errors.map(({ message, pos }) => ({
        line: lines.linePos(pos[0]).line,
        message: message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? message,
      })),
    );
  }
  const parsed = Scenario.safeParse(toValue(document, file));
  if (parsed.success) return parsed.data;
  throw invalidScenario(
    file,
    parsed.error.issues.map(({ path, message }) => ({
      line: lineOf(document, path, lines),
      message: path.length > 0 ? `${path.join(".")}: ${message}` : message,
    })),
  );
}

/** The library throws for aliases that would expand too far. */
function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalidScenario(file, [{ line: null, message: error instanceof Error ? error.message : String(error) }]);
  }
}

/** Reports one problem per line: later ones on a line tend to follow from the first. */
function invalidScenario(file: string, all: readonly Problem[]): TroupeError {
  const problems = all.filter(({ line }, i) => all.findIndex((other) => other.line === line) === i);
  const [first] = problems;
  const shown = problems
    .slice(0, problemsShown)
    .map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`));
  const more = problems.length > problemsShown ? ` (and ${problems.length - problemsShown} more)` : "";
  const where = first?.line ? `line ${first.line} of ${basename(file)}` : basename(file);
  return new TroupeError("INVALID_SCENARIO", `${file} is not a scenario: ${shown.join("; ")}${more}`, {
    fix: `correct ${where}`,
  });
}
