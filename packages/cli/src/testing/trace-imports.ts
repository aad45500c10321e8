import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

// Run with `node --import`: prints the packages whose modules were loaded, when the process exits.

const packages = new Set<string>();

registerHooks({
  load(url, context, next) {
    for (const module of modulesOf(url)) {
      const name = /.*\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];
      if (name) packages.add(name);
    }
    return next(url, context);
  },
});

process.on("exit", () => process.stderr.write(`imports: ${[...packages].sort().join(" ")}\n`));

/** The modules that a file of the built program was joined from; of another file, itself. */
function modulesOf(url: string): string[] {
  const map = url.startsWith("file:") ? `${fileURLToPath(url)}.map` : "";
  if (!existsSync(map)) return [url];
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(map, "utf8"));
  return sources.map((source) => new URL(source, url).pathname);
}
