/** `troupe` without redaction, for the proof that the search for secrets finds them. Redaction has no switch of its own. */
import { registerHooks } from "node:module";

const replacement = new URL("./no-redaction.ts", import.meta.url).href;
const format = "module-typescript";

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    // The package `troupe` runs from its sources, as the command line below: in a build, redaction has no file of its own.
    const url = resolved.url.replace(/\/troupe\/dist\/(\w+)\.js$/, "/troupe/src/$1.ts");
    if (url.endsWith("/troupe/src/process/redaction.ts")) return { ...resolved, url: replacement, format };
    return url === resolved.url ? resolved : { ...resolved, url, format };
  },
});

const source: string = new URL("../../../packages/cli/src/main.ts", import.meta.url).href;
await import(source);
