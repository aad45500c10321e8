import { basename } from "node:path";
import { ToolSpec } from "@troupe/core";
import { isDelegationTool } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import { type ImportModule, importSource, type ToolSources } from "./import-source.ts";

/** A problem with a tool file, and its fix. */
export interface ToolProblem {
  path: string;
  message: string;
  fix: string;
}

/** A tool and its file. */
export interface SourcedTool {
  tool: Tool;
  path: string;
}

export interface LoadedTools {
  tools: SourcedTool[];
  problems: ToolProblem[];
}

/** Time limit of an import: a module that takes longer is waiting for something. */
const importMsMax = 10_000;

/**
 * Loads tools from files. The default export of a file is a tool from `defineTool`, or a list of them. Never throws: an
 * error becomes a problem of its file.
 */
export async function loadTools(
  sources: ToolSources,
  paths: readonly string[],
  importModule?: ImportModule,
): Promise<LoadedTools> {
  const loaded = await Promise.all(
    paths.map((path) => loadFile(path, () => importSource(sources, path, importModule))),
  );
  return { tools: loaded.flatMap(({ tools }) => tools), problems: loaded.flatMap(({ problems }) => problems) };
}

const example = "export default defineTool({ … })";

async function loadFile(path: string, load: () => Promise<unknown>): Promise<LoadedTools> {
  const problem = (message: string, fix: string): LoadedTools => ({ tools: [], problems: [{ path, message, fix }] });
  let exported: unknown;
  try {
    exported = await withinTime(load());
  } catch (error) {
    return problem(`${basename(path)} cannot be imported: ${messageOf(error)}`, `correct ${path}, or remove it`);
  }
  const value = typeof exported === "object" && exported !== null ? Reflect.get(exported, "default") : undefined;
  if (value === undefined) return problem(`${basename(path)} has no default export`, example);
  const tools: SourcedTool[] = [];
  for (const [i, each] of (Array.isArray(value) ? value : [value]).entries()) {
    const wrong = problemWith(each);
    const which = Array.isArray(value) ? `item ${i} of the default export` : "the default export";
    if (wrong !== null) return problem(`${basename(path)}: ${which} ${wrong}`, example);
    tools.push({ tool: each as Tool, path });
  }
  return { tools, problems: [] };
}

/** Null for a tool. The tool may come from another copy of `defineTool`, so only its shape counts. */
function problemWith(value: unknown): string | null {
  const tool = typeof value === "object" && value !== null ? (value as Partial<Tool>) : {};
  const spec = ToolSpec.safeParse(tool.spec);
  if (!spec.success || typeof tool.bind !== "function") return "is not a tool";
  const { name } = spec.data;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return `is called ${JSON.stringify(name.slice(0, 80))}: letters, digits, _ and - are allowed, at most 64 of them`;
  }
  if (isDelegationTool(name)) return `is called ${name}, which always means delegation`;
  const { outputBytesMax } = tool;
  return outputBytesMax === null || typeof outputBytesMax === "number" ? null : "has no outputBytesMax";
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`it takes longer than ${importMsMax / 1_000} s`)), importMsMax);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.name === "Error" ? "" : `${error.name}: `}${error.message.split("\n", 1)[0]}`;
}
