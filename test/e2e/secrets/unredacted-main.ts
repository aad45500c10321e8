/** `troupe` without redaction, for the proof that the search for secrets finds them. Redaction has no switch of its own. */
import { registerHooks } from "node:module";
import { cliPath } from "../../harness/cli-path.ts";

const replacement = new URL("./no-redaction.ts", import.meta.url).href;
const format = "module-typescript";

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    // The package `troupe` runs from its sources: in its build, redaction has no file of its own.
    const url = resolved.url.replace(/\/troupe\/dist\/(\w+)\.js$/, "/troupe/src/$1.ts");
    if (url.endsWith("/troupe/src/process/redaction.ts")) return { ...resolved, url: replacement, format };
    return url === resolved.url ? resolved : { ...resolved, url, format };
  },
});

await import(cliPath);
