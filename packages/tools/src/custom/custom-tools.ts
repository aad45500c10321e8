import { createHash } from "node:crypto";
import { readdir, readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import type { ProjectTrust } from "../trust/project-trust.ts";
import type { ImportModule, ToolSourceFile, ToolSources } from "./import-source.ts";
import { type LoadedTools, loadTools, type SourcedTool, type ToolProblem } from "./load-tools.ts";

/** Tools that users wrote, for all workspaces or for one. */
export interface CustomTools {
  /** Loads new and changed files. Never throws: a faulty file becomes a problem, and the other tools stay. */
  refresh(workspace: string | null): Promise<void>;
  /** The tools at the last refresh. */
  of(workspace: string | null): readonly Tool[];
  problems(workspace: string | null): readonly ToolProblem[];
}

export interface CustomToolsOptions {
  /** The user's own folders, for all workspaces. Changes count at once. A missing folder is ignored. */
  folders: readonly string[];
  /** Decides whether a project's tools count. */
  trust: Pick<ProjectTrust, "inspect">;
  /** The shipped tools, whose names are reserved. */
  shipped: readonly Tool[];
  /** Called once for each problem. */
  onProblem?: (problem: ToolProblem) => void;
  /** URL of the module whose `troupe` and `@troupe/*` tool files import: `import.meta.url` of the caller. */
  packagesFrom?: string;
  /** @default Node's own `import()` */
  importModule?: ImportModule;
}

const toolFile = /\.(mjs|js|ts)$/;
const projectFolder = ".troupe/tools";

/** Number of workspaces whose tools stay loaded. */
const workspacesMax = 64;

/** The result of loading some sources. Unchanged sources are not loaded again. */
interface LoadedSources extends LoadedTools {
  hash: string;
}

const nothing: LoadedSources = { hash: "", tools: [], problems: [] };

/**
 * Loads tools from files, and loads them again when their content changes.
 *
 * @example
 * const custom = createCustomTools({ folders: ["/home/me/.troupe/tools"], trust, shipped });
 * await custom.refresh("/home/me/project");
 * const host = createToolHost({ tools: shipped, custom });

 */
export function createCustomTools(options: CustomToolsOptions): CustomTools {
  const { folders, trust, shipped, onProblem } = options;
  const own = new Map<string, LoadedSources>();
  const ofProjects = new Map<string, LoadedSources>();
  const reported = new Set<string>();
  const shippedTools = shipped.map((tool): SourcedTool => ({ tool, path: "troupe itself" }));
  let refreshing: Promise<void> = Promise.resolve();
  /** Refreshes that have not started yet: later calls for the same workspace share them. */
  const queued = new Map<string | null, Promise<void>>();

  const merged = (workspace: string | null): LoadedTools => {
    const project = workspace === null ? undefined : ofProjects.get(workspace);
    return withoutDuplicates([...own.values(), project ?? nothing], shippedTools);
  };

  const load = async (workspace: string | null): Promise<void> => {
    for (const folder of folders) own.set(folder, await reload(own.get(folder), await sourcesOf(folder), options));
    if (workspace !== null) {
      const sources = await projectSources(workspace, trust, folders);
      const loaded = await reload(ofProjects.get(workspace), sources, options);
      // Without a pause between the two: a run that reads its tools now would have none of the project.
      ofProjects.delete(workspace);
      ofProjects.set(workspace, loaded);
      const oldest = ofProjects.keys().next().value;
      if (ofProjects.size > workspacesMax && oldest !== undefined) ofProjects.delete(oldest);
    }
    for (const problem of merged(workspace).problems) {
      const key = `${problem.path}\n${problem.message}`;
      if (!reported.has(key)) onProblem?.(problem);
      reported.add(key);
    }
  };

  return {
    refresh(workspace) {
      const waiting = queued.get(workspace);
      if (waiting) return waiting;
      const begin = (): Promise<void> => {
        queued.delete(workspace);
        return load(workspace);
      };
      // One after the other: two loads of one folder would each report its problems.
      refreshing = refreshing.then(begin).catch(() => {});
      queued.set(workspace, refreshing);
      return refreshing;
    },
    of: (workspace) => merged(workspace).tools.map(({ tool }) => tool),
    problems: (workspace) => merged(workspace).problems,
  };
}

async function reload(
  loaded: LoadedSources | undefined,
  sources: FolderSources | LoadedSources,
  { importModule, packagesFrom }: Pick<CustomToolsOptions, "importModule" | "packagesFrom">,
): Promise<LoadedSources> {
  if (!("files" in sources)) return sources;
  if (loaded?.hash === sources.hash) return loaded;
  const paths = sources.files.map(({ path }) => path).filter((path) => isToolOf(sources.folder, path));
  return {
    hash: sources.hash,
    ...(await loadTools(packagesFrom === undefined ? sources : { ...sources, packagesFrom }, paths, importModule)),
  };
}

interface FolderSources extends ToolSources {
  folder: string;
}

/** Tools lie at the top of their folder. Files in subfolders are for them to import. */
function isToolOf(folder: string, path: string): boolean {
  return dirname(path) === folder && toolFile.test(path) && !path.endsWith(".d.ts");
}

/** The current files of a user's folder. */
async function sourcesOf(folder: string): Promise<FolderSources | LoadedSources> {
  try {
    const paths = (await sourcesBelow(folder)).sort();
    const files = await Promise.all(paths.map(async (path) => ({ path, bytes: await readFile(path) })));
    return { folder, files, hash: hashOf(files), mayImportPackages: true };
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return nothing;
    const problem = {
      path: folder,
      message: `${folder} cannot be read: ${errorCodeOf(error) ?? String(error)}`,
      fix: "make it readable, or remove it",
    };
    return { ...nothing, problems: [problem] };
  }
}

async function sourcesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = entries.map(async (entry): Promise<string[]> => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sourcesBelow(path);
    return /\.(mjs|js|ts|json)$/.test(entry.name) ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

/** The files of a project as the user accepted them; none if the user has not accepted them. */
async function projectSources(
  workspace: string,
  trust: Pick<ProjectTrust, "inspect">,
  folders: readonly string[],
): Promise<FolderSources | LoadedSources> {
  const project = await trust.inspect(workspace);
  const folder = join(project.folder, projectFolder);
  if (project.status !== "trusted" || (await isOneOf(folder, folders))) return nothing;
  const files = project.files
    .filter((file) => file.kind === "tools")
    .map((file) => ({ path: join(project.folder, file.path), bytes: file.bytes }));
  return files.length === 0 ? nothing : { folder, files, hash: project.hash, mayImportPackages: false };
}

/** In the user's home, a project's folder and the user's folder are the same. */
async function isOneOf(folder: string, folders: readonly string[]): Promise<boolean> {
  const real = await Promise.all(folders.map((each) => realpath(each).catch(() => each)));
  return real.includes(folder);
}

function hashOf(files: readonly ToolSourceFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files) hash.update(`${path}\0${bytes.byteLength}\0`).update(bytes);
  return hash.digest("hex");
}

/** The first tool of a name wins; each later one becomes a problem that names the first. */
function withoutDuplicates(loaded: readonly LoadedTools[], shipped: readonly SourcedTool[]): LoadedTools {
  const owners = new Map(shipped.map((each) => [each.tool.spec.name, each.path]));
  const tools: SourcedTool[] = [];
  const problems = loaded.flatMap((each) => each.problems);
  for (const each of loaded.flatMap((loaded) => loaded.tools)) {
    const { name } = each.tool.spec;
    const by = owners.get(name);
    if (by === undefined) {
      owners.set(name, each.path);
      tools.push(each);
    } else {
      problems.push({
        path: each.path,
        message: `the name ${name} is taken: by ${by}, and by ${each.path}`,
        fix: `call it something else in ${each.path}`,
      });
    }
  }
  return { tools, problems };
}
