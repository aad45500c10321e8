import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Plugin, RolldownMagicString, rolldown } from "rolldown";
import { packageFolders } from "./lib/freshness.ts";
import { licensesOf } from "./lib/licenses.ts";

/**
 * Joins the modules of one package into few files. It is the second half of each package's build, after `tsc -b`, which
 * writes the types alone. Half of a short command's time was the loading of a thousand small files.
 *
 * A library keeps its dependencies as imports, packages of this repository too. A program (`bin`) also contains them: it
 * imports only the packages that its manifest names and that are not of this repository.
 */

/** The keys of package.json that name files to build. */
interface Manifest {
  name: string;
  exports?: Record<string, unknown>;
  bin?: unknown;
  /** Programs that the package starts by their path, relative to `src` and without an extension. */
  programs?: string[];
  dependencies?: Record<string, string>;
  /** Dependencies that a program contains, with their licenses. */
  inlined?: string[];
}

interface Package {
  folder: string;
  manifest: Manifest;
}

export async function bundlePackage(folder: string): Promise<void> {
  const own = readPackage(folder);
  const { manifest } = own;
  const library = await write(own, {
    entries: [...entriesOf(manifest.exports), ...(manifest.programs ?? [])],
    chunks: "chunks",
    // Everything but our own relative paths.
    external: /^[^./]/,
    plugins: [moduleUrls([own], own)],
  });
  const program = manifest.bin ? await writeProgram(own) : [];
  removeOldFiles(join(folder, "dist"), new Set([...library.files, ...program]));
}

async function writeProgram(own: Package): Promise<string[]> {
  // Of the checkout that the package is in: a mutant is in a checkout of its own.
  const packages = packageFolders(join(own.folder, "..", "..")).map(readPackage);
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const inlined = new Set(own.manifest.inlined);
  const imported = Object.keys(own.manifest.dependencies ?? {}).filter(
    (name) => !names.has(name) && !inlined.has(name),
  );
  const isImported = (id: string): boolean => imported.some((name) => id === name || id.startsWith(`${name}/`));
  const { files, modules } = await write(own, {
    entries: entriesOf(own.manifest.bin),
    chunks: "program",
    external: isImported,
    plugins: [sources(packages), moduleUrls(packages, own)],
  });
  const shared = join(own.folder, "dist", "program");
  mkdirSync(shared, { recursive: true });
  writeFileSync(join(shared, "LICENSES.txt"), licensesOf(modules));
  return files;
}

interface Bundling {
  /** `index`, `journal/journal-thread` */
  entries: string[];
  /** Folder of the files that several entries share. */
  chunks: string;
  external: RegExp | ((id: string) => boolean);
  plugins: Plugin[];
}

interface Bundle {
  /** Below `dist`. */
  files: string[];
  /** The paths of all modules that it joined. */
  modules: string[];
}

async function write({ folder }: Package, { entries, chunks, external, plugins }: Bundling): Promise<Bundle> {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(folder, "src", `${name}.ts`)])),
    platform: chunks === "program" ? "node" : "neutral",
    external,
    plugins,
  });
  const { output } = await bundle.write({
    dir: join(folder, "dist"),
    entryFileNames: "[name].js",
    chunkFileNames: `${chunks}/[name]-[hash].js`,
    sourcemap: true,
  });
  await bundle.close();
  return {
    files: output.map(({ fileName }) => fileName),
    modules: output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : [])),
  };
}

function readPackage(folder: string): Package {
  return { folder, manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) };
}

/** The names of the files that others load: `index`, `client/index`. */
function entriesOf(exported: unknown): string[] {
  return [...new Set(textsIn(exported).flatMap((path) => /^\.\/dist\/(.+)\.js$/.exec(path)?.[1] ?? []))];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(textsIn);
}

/** Removes JavaScript of an earlier build: a chunk's name changes with its content. Types belong to `tsc`. */
function removeOldFiles(out: string, written: ReadonlySet<string>): void {
  for (const path of readdirSync(out, { recursive: true, encoding: "utf8" })) {
    if (/\.js(\.map)?$/.test(path) && !written.has(path)) rmSync(join(out, path));
  }
}

/** Finds the sources of the packages of this repository, so that a program loads only the modules that it uses. */
function sources(packages: readonly Package[]): Plugin {
  return {
    name: "sources",
    resolveId(id) {
      const own = packages.find(({ manifest }) => id === manifest.name || id.startsWith(`${manifest.name}/`));
      const [entry] = own ? entriesOf(own.manifest.exports?.[`.${id.slice(own.manifest.name.length)}`]) : [];
      return own && entry ? { id: join(own.folder, "src", `${entry}.ts`), moduleSideEffects: false } : null;
    },
  };
}

/**
 * Keeps `import.meta.url` true: in a joined file it still is the URL that its module would have in a file of its own, as
 * in the sources. Paths relative to a module stay right.
 */
function moduleUrls(packages: readonly Package[], own: Package): Plugin {
  return {
    name: "module-urls",
    transform(code, id) {
      const home = packages.find(({ folder }) => id.startsWith(join(folder, "src", "/")));
      if (!home) return null;
      const module = relative(join(home.folder, "src"), id).replace(/\.ts$/, ".js");
      return replaceEach(code, /import\.meta\.url/g, () => `__urlOf("${home.manifest.name}", "${module}")`);
    },
    renderChunk(code, { fileName }) {
      return replaceEach(code, /__urlOf\("([^"]+)", "([^"]+)"\)/g, ([, name = "", module = ""]) => {
        // The main file of another package lies in the folder that its modules would lie in.
        if (name !== own.manifest.name) return `new URL("./${module}", import.meta.resolve("${name}")).href`;
        if (module === fileName) return "import.meta.url";
        const path = relative(dirname(fileName), module);
        return `new URL("${path.startsWith(".") ? path : `./${path}`}", import.meta.url).href`;
      });
    },
  };
}

/** Null if nothing matches. */
function replaceEach(
  code: string,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
): { code: string; map: string } | null {
  const text = new RolldownMagicString(code);
  for (const match of code.matchAll(pattern)) {
    text.update(match.index, match.index + match[0].length, replacement(match));
  }
  return text.hasChanged() ? { code: text.toString(), map: text.generateMap().toString() } : null;
}

if (import.meta.main) await bundlePackage(process.cwd());
