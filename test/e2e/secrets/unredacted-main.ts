/** `troupe` without redaction, for the proof that the search for secrets finds them. Redaction has no switch of its own. */
import { registerHooks } from "node:module";
import { cliPath } from "../../harness/cli-path.ts";

const replacement = new URL("./no-redaction.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url.endsWith("/troupe/dist/process/redaction.js")
      ? { ...resolved, url: replacement, format: "module-typescript" }
      : resolved;
  },
});

await import(cliPath);
