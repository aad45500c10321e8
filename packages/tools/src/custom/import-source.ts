import * as nodeModule from "node:module";
import { pathToFileURL } from "node:url";

/** A tool file. */
export interface ToolSourceFile {
  /** Absolute. */
  path: string;
  bytes: Uint8Array;
}

export interface ToolSources {
  files: readonly ToolSourceFile[];
  /** Changes with every byte of the files. Modules are cached by it, so an old version is never used for a new one. */
  hash: string;
  /**
   * Whether they may import packages installed beside them. Otherwise they import only troupe, `zod`, Node's modules,
   * and one another.
   */
  mayImportPackages: boolean;
  /**
   * URL of the module whose `troupe`, `@troupe/*` and `zod` these files import.
   * @default the ones that this package depends on
   */
  packagesFrom?: string;
}

const mark = "troupe-tools";
const extensions = /\.(mjs|js|ts|json)$/;

interface KnownModule {
  bytes: Uint8Array;
  mayImportPackages: boolean;
  packagesFrom: string;
}

const knownModules = new Map<string, KnownModule>();
let areHooksInstalled = false;

/**
 * Imports one of these files from the given bytes, also if the file has changed since. Its imports find `troupe`,
 * `@troupe/*` and `zod` in troupe's own installation.
 */
export async function importSource(
  sources: ToolSources,
  path: string,
  importModule: ImportModule = importNative,
): Promise<unknown> {
  installHooks();
  const { mayImportPackages, packagesFrom = import.meta.url } = sources;
  for (const file of sources.files) {
    knownModules.set(urlOf(file.path, sources.hash), { bytes: file.bytes, mayImportPackages, packagesFrom });
  }
  return importModule(urlOf(path, sources.hash));
}

/** Node's own `import()`. A caller whose `import` is replaced (such as Vitest) passes this one in. */
export type ImportModule = (url: string) => Promise<unknown>;

const importNative: ImportModule = (url) => import(url);

function urlOf(path: string, hash: string): string {
  const url = pathToFileURL(path);
  url.searchParams.set(mark, hash);
  return url.href;
}

/** Installed once per process. The hooks see every module and handle only marked ones. */
function installHooks(): void {
  if (areHooksInstalled) return;
  if (typeof nodeModule.registerHooks !== "function") {
    throw new Error(`tools in code need Node 22.15 or later; this is ${process.versions.node}`);
  }
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      if (knownModules.has(specifier)) return { url: specifier, shortCircuit: true };
      const parent = context.parentURL === undefined ? null : URL.parse(context.parentURL);
      const hash = parent?.searchParams.get(mark) ?? null;
      const importer = context.parentURL === undefined ? undefined : knownModules.get(context.parentURL);
      if (parent === null || hash === null || importer === undefined) return next(specifier, context);
      return resolveImport({ specifier, parent, hash, importer }, (from) =>
        next(currentName(specifier), from === null ? context : { ...context, parentURL: from }),
      );
    },
    load(url, context, next) {
      const file = knownModules.get(url);
      if (!file) return next(url, context);
      const text = Buffer.from(file.bytes).toString("utf8");
      const { pathname } = new URL(url);
      if (pathname.endsWith(".json")) return { format: "json", source: text, shortCircuit: true };
      const source = pathname.endsWith(".ts") ? nodeModule.stripTypeScriptTypes(text) : text;
      return { format: "module", source, shortCircuit: true };
    },
  });
  areHooksInstalled = true;
}

/** Tool files written for version 0.1.0 import `defineTool` from `@troupe/runtime`, which exported it then. */
function currentName(specifier: string): string {
  return specifier === "@troupe/runtime" ? "@troupe/tools" : specifier;
}

type Resolved = ReturnType<nodeModule.ResolveHookSync>;

interface ImportRequest {
  specifier: string;
  parent: URL;
  hash: string;
  importer: KnownModule;
}

function resolveImport(
  { specifier, parent, hash, importer }: ImportRequest,
  next: (from: string | null) => Resolved,
): Resolved {
  if (nodeModule.isBuiltin(specifier)) return next(null);
  if (/^(@troupe\/|(troupe|zod)(\/|$))/.test(specifier)) return next(importer.packagesFrom);
  const isPath = /^(\.{0,2}\/|file:)/.test(specifier);
  if (!isPath && importer.mayImportPackages) return next(null);
  if (!isPath)
    throw new Error(`it imports ${specifier}: only troupe, @troupe/*, zod and Node's own modules can be imported`);
  const target = new URL(specifier, parent);
  target.searchParams.set(mark, hash);
  if (knownModules.has(target.href)) return { url: target.href, shortCircuit: true };
  const why = extensions.test(target.pathname) ? "it is not there" : "it needs its ending: .mjs, .js, .ts or .json";
  throw new Error(`it imports ${specifier} from the folder of the tools: ${why}`);
}
