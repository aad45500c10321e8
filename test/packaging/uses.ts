/**
 * A few lines for each package, as somebody would write them who has only this package. They are type-checked and run
 * in a project into which nothing else was installed; they must end with `console.log("ok")`. Extend them freely.
 */
export const uses: Record<string, string> = {
  core: `
import assert from "node:assert/strict";
import { childRunId, createSubjects } from "@troupe/core";
import { createMemoryBus } from "@troupe/core/memory";

const key = { parentRun: "00000000-0000-7000-8000-000000000001", step: 0, call: 0, attempt: 1 };
assert.equal(childRunId(key), childRunId({ ...key }));
assert.notEqual(childRunId(key), childRunId({ ...key, attempt: 2 }));

const bus = createMemoryBus();
const subject = createSubjects().settled(childRunId(key));
await bus.subscribe(subject, (message) => message.respond(new TextEncoder().encode("settled")));
const reply: Uint8Array = await bus.request(subject, new Uint8Array(), { timeoutMs: 1000 });
assert.equal(new TextDecoder().decode(reply), "settled");
await bus.close();
console.log("ok");
`,
  runtime: named("runtime", ["createFolderBlobs"]),
  roles: named("roles", ["createCompanySource"]),
  recorder: named("recorder", ["openSqliteJournal"]),
  cli: named("cli", []),
  dashboard: `
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const folder: string = dirname(createRequire(import.meta.url).resolve("@troupe/dashboard/package.json"));
assert.ok(existsSync(join(folder, "dist", "index.html")));
console.log("ok");
`,
};

/** The import of a package, and that it exports these names. */
function named(name: string, exported: string[]): string {
  return `
import assert from "node:assert/strict";
import * as imported from "@troupe/${name}";

const exported: Record<string, unknown> = { ...imported };
for (const name of ${JSON.stringify(exported)}) assert.ok(name in exported, name);
console.log("ok");
`;
}
