import { registerHooks } from "node:module";

// Run with `node --import`: prints the imported packages when the process exits.

const packages = new Set<string>();

registerHooks({
  load(url, context, next) {
    const name = /.*\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name) packages.add(name);
    return next(url, context);
  },
});

process.on("exit", () => process.stderr.write(`imports: ${[...packages].sort().join(" ")}\n`));
