import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Plugin, RolldownMagicString, rolldown } from "rolldown";

/**
 * Joins the modules of one package into few files. It is the second half of each package's build, after `tsc -b`, which
 * writes the types alone. Half of a short command's time was the loading of a thousand small files. Dependencies,
 * packages of this repository too, stay imports.
 */

/** The keys of package.json that name files to build. */
interface Manifest {
  exports?: unknown;
  bin?: unknown;
  /** Programs that the package starts by their path, relative to `src` and without an extension. */
  programs?: string[];
}

async function main(folder: string): Promise<void> {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const source = join(folder, "src");
  const out = join(folder, "dist");
  removeOldFiles(out);
  const bundle = await rolldown({
    input: Object.fromEntries(entriesOf(manifest).map((name) => [name, join(source, `${name}.ts`)])),
    platform: "neutral",
    // Everything but our own relative paths.
    external: /^[^./]/,
    plugins: [moduleUrls(source)],
  });
  await bundle.write({
    dir: out,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    sourcemap: true,
  });
  await bundle.close();
}

/** The names of the files that others load: `index`, `journal/journal-thread`. */
function entriesOf({ exports, bin, programs = [] }: Manifest): string[] {
  const files = textsIn([exports, bin]).flatMap((path) => /^\.\/dist\/(.+)\.js$/.exec(path)?.[1] ?? []);
  return [...new Set([...files, ...programs])];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(textsIn);
}

/** Removes JavaScript of an earlier build: a chunk's name changes with its content. Types belong to `tsc`. */
function removeOldFiles(out: string): void {
  for (const path of readdirSync(out, { recursive: true, encoding: "utf8" })) {
    if (/\.js(\.map)?$/.test(path)) rmSync(join(out, path));
  }
}

/**
 * Keeps `import.meta.url` true: in a joined file it still is the URL that its module would have in a file of its own, as
 * in the sources. Paths relative to a module stay right.
 */
function moduleUrls(source: string): Plugin {
  return {
    name: "module-urls",
    transform(code, id) {
      const module = relative(source, id).replace(/\.ts$/, ".js");
      return replaceEach(code, /import\.meta\.url/g, () => `__urlOf("${module}")`);
    },
    renderChunk(code, { fileName }) {
      return replaceEach(code, /__urlOf\("([^"]+)"\)/g, ([, module = ""]) => {
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

await main(process.cwd());
