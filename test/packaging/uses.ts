/**
 * A short program for each package that uses only this package. Each is type-checked and run in a project without other
 * packages, and must end with `console.log("ok")`. Extend them freely.
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
  models: `
import assert from "node:assert/strict";
import { systemClock } from "@troupe/core/system";
import { createScenarioLoader, createScriptedProvider, loadScenario, resolveModelName } from "@troupe/models";

assert.ok(await loadScenario("demo"), "the demo is shipped");
assert.equal(createScriptedProvider({ load: createScenarioLoader(), clock: systemClock() }).id, "scripted");
const names = { providers: ["anthropic"], tiers: {}, models: { fast: "anthropic/quick" }, aliases: {}, missing: {} };
assert.equal(resolveModelName("fast", names, null), "anthropic/quick");
console.log("ok");
`,
  tools: `
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { createCodeTools, createFileTools, createFolderBlobs, createToolHost, createSandbox, createShellTool } from "@troupe/tools";

const blobs = createFolderBlobs({ folder: await mkdtemp(join(process.cwd(), "blobs-")) });
const hash: string = await blobs.put(new TextEncoder().encode("hello"));
assert.equal(new TextDecoder().decode((await blobs.get(hash)) ?? undefined), "hello");
assert.equal(typeof createToolHost({ tools: [...createFileTools(), createShellTool({ sandbox: await createSandbox() })] }).run, "function");

const code = createToolHost({ tools: createCodeTools({ sandbox: await createSandbox() }) });
const call = { id: "1", name: "code_search", args: { name: "hash", path: "use.ts", kind: "definitions" }, problem: null };
const outcome = await code.run(call, {
  session: "s", run: "r", agent: "main", workspace: process.cwd(), signal: new AbortController().signal,
  grant: { tools: ["code_search"], agents: [], writes: [] }, idempotencyKey: "1", approved: false, plan: null,
});
assert.match(outcome.output, /use\\.ts:\\d+ constant: const hash: string/, "grammars are found where the package is installed");
console.log("ok");
`,
  nats: `
import assert from "node:assert/strict";
import { openNatsPorts, toNatsServers } from "@troupe/nats";

assert.equal(typeof openNatsPorts, "function");
assert.deepEqual(toNatsServers("nats://127.0.0.1:4222").urls, ["nats://127.0.0.1:4222"]);
console.log("ok");
`,
  runtime: `
import assert from "node:assert/strict";
import { createHttpClient, createTeam, secretsOf } from "@troupe/runtime";

assert.equal(typeof createTeam, "function");
assert.equal(typeof createHttpClient({ url: "http://127.0.0.1:1", token: "t" }).submit, "function");
assert.deepEqual(secretsOf({ env: { API_KEY: "k3y-0f-a-pr0vider" } }).map(({ name }) => name), ["API_KEY"]);
console.log("ok");
`,
  troupe: `
import assert from "node:assert/strict";
import { createMemoryJournal } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import { createScenarioLoader, createScriptedProvider } from "@troupe/models";
import { createEmbeddedHost } from "troupe/internal";

const { start, stop } = createEmbeddedHost({
  journal: createMemoryJournal(),
  models: createScriptedProvider({ load: createScenarioLoader(), clock: systemClock() }),
  agents: [{ id: "researcher", description: "Finds things out", prompt: "You find things out.", tools: ["read"] }],
});
await start();
await stop();
assert.ok(true);
console.log("ok");
`,
  roles: `
import assert from "node:assert/strict";
import { createAgentSource, parseAgent } from "@troupe/roles";

const text = "---\\nname: notes\\ndescription: Takes notes\\ntools: read\\n---\\nTake notes.\\n";
assert.equal(parseAgent({ path: "notes.md", origin: "project", text }).definition?.id, "notes");
const company = await createAgentSource({ userFolders: [] }).load(null);
assert.ok(company.agents.length > 0, "agents are shipped");
console.log("ok");
`,
  recorder: `
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { openRecord, openSqliteJournal } from "@troupe/recorder";

const folder = await mkdtemp(join(process.cwd(), "stores-"));
const journal = await openSqliteJournal({ file: join(folder, "journal.db") });
assert.deepEqual(await journal.openRuns(), []);
await journal.close();
const record = await openRecord({ file: join(folder, "troupe.db") });
assert.deepEqual(await record.reader.sessions({ limit: 1 }), []);
record.close();
console.log("ok");
`,
  cli: `
import assert from "node:assert/strict";

import { runProgram } from "@troupe/cli";

assert.equal(typeof runProgram, "function");
console.log("ok");
`,
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
