import type { CommandResult } from "../../scripts/lib/command.ts";
import { manifests } from "./installed-packages.ts";

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
assert.match(outcome.error?.message ?? "", /npm install @vscode\\/tree-sitter-wasm@0\\.3$/, "the parser is optional");
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
import { createHttpClient, createTeam, secretsOf, serveHttp } from "@troupe/runtime";

assert.equal(typeof createTeam, "function");
assert.equal(typeof createHttpClient({ url: "http://127.0.0.1:1", token: "t" }).submit, "function");
assert.deepEqual(secretsOf({ env: { API_KEY: "k3y-0f-a-pr0vider" } }).map(({ name }) => name), ["API_KEY"]);

const service = {} as Parameters<typeof serveHttp>[0]["service"];
const server = await serveHttp({ service, token: "t0ken", port: 0, assets: "none" });
assert.equal((await fetch(\`\${server.url}/api/v1/sessions\`)).status, 401, "a request without the token");
await server.close();
console.log("ok");
`,
  troupe: `
import assert from "node:assert/strict";
import { createTroupe, defineTool } from "troupe";
import { z } from "zod";

const lookup = defineTool({
  name: "lookup",
  description: "Looks up a licence.",
  input: z.strictObject({ package: z.string() }),
  risk: "low",
  effect: "read",
  run: async () => ({ output: "MIT" }),
});
const troupe = await createTroupe({ model: "scripted/answers.yaml", tools: [lookup], store: "memory" });
const response = await troupe.run("What does this project do?");
assert.equal(response.status, "completed");
await troupe.close();
console.log("ok");
`,
  roles: `
import assert from "node:assert/strict";
import { createAgentSource, parseAgent } from "@troupe/roles";

const text = "---\\nname: notes\\ndescription: Takes notes\\ntools: read\\n---\\nTake notes.\\n";
assert.equal(parseAgent({ path: "notes.md", origin: "project", text }).definition?.id, "notes");
const company = await createAgentSource({ userFolders: [] }).load(null);
assert.ok(company.agents.length > 0, "agents are shipped");
assert.ok((company.teams ?? []).length >= 5, "teams are shipped");
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
  connectors: `
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { matchIntent, openLocalOffice, readEventTime, seedOffice } from "@troupe/connectors";

const folder = await mkdtemp(join(process.cwd(), "office-"));
const office = openLocalOffice({ folder, user: { name: "Kim", address: "kim@lantern.example" }, timeZone: "Etc/UTC" });
seedOffice(office);
assert.equal((await office.contacts.searchContacts({ organization: "Acme" })).items.length, 3);
const sent = await office.mail.sendMail(
  { to: [{ address: "mara@lantern.example" }], subject: "Hi", body: "x" },
  { idempotencyKey: "1" },
);
assert.equal(sent.status, "delivered");
assert.equal(matchIntent("slack", "Summarize #project-alpha")?.pattern, "summarize");
const { label } = await readEventTime("tomorrow at noon", { nowMs: Date.UTC(2026, 2, 2), timeZone: "Etc/UTC" });
assert.equal(label, "Tuesday, 3 March 2026, 12:00–13:00 (Etc/UTC)");
office.close();
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

/** Loads modules of a package, and a JSON file as a module of CommonJS. */
export const loadProgram = (modules: readonly string[]): string => `
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const modules = ${JSON.stringify(modules)};
for (const name of modules) await (name.endsWith(".json") ? require(name) : import(name));
console.log(modules.length, "loaded");
`;

/** Between the outputs of two programs. */
const separator = "=== the end of ";

/** Runs programs one after the other, and prints a line with the exit code after the output of each. */
export const sequenceProgram = (files: readonly string[]): string => `
for (const file of ${JSON.stringify(files)}) {
  let code = 0;
  try {
    await import("./" + file);
    code = process.exitCode ?? 0;
  } catch (error) {
    console.log(error);
    code = 1;
  }
  process.exitCode = 0;
  console.log(${JSON.stringify(separator)} + file + " " + code);
}
`;

/** The results of the programs in the output of `sequenceProgram`. */
export function readSequence(output: string): Map<string, CommandResult> {
  const parts = output.split(separator);
  return new Map(
    parts.slice(1).map((part, i) => {
      const [end = ""] = part.split("\n");
      const [file = "", code] = end.split(" ");
      const before = parts[i] ?? "";
      return [file, { code: Number(code), output: i === 0 ? before : before.slice(before.indexOf("\n") + 1) }];
    }),
  );
}

/** A scenario: the answers of the model in the programs. */
export const answers =
  "{ name: answers, description: Answers, agents: { main: [{ steps: [{ text: An answer. }] }] } }\n";

/** Programs that use an optional part of `troupe` where only one provider is installed, and their output. */
export const missingParts = [
  {
    part: "another provider",
    file: "missing-provider.ts",
    program: `
import { createTroupe, TroupeError } from "troupe";

const options = { model: "openai/gpt-5", env: { ...process.env, OPENAI_API_KEY: "k3y" }, store: "memory" } as const;
await createTroupe(options).catch((error) => TroupeError.is(error) && console.log(error.code, error.fix));
`,
    prints: "MISSING_PACKAGE npm install openai@7",
  },
  {
    part: "NATS",
    file: "missing-nats.ts",
    program: `
import { createTroupe, TroupeError } from "troupe";

await createTroupe({ nats: { url: "nats://127.0.0.1:1" } }).catch(
  (error) => TroupeError.is(error) && console.log(error.code, error.fix),
);
`,
    prints: `MISSING_PACKAGE npm install @troupe/nats@${manifests.get("nats")?.version}`,
  },
  {
    part: "code tools",
    file: "missing-code.ts",
    program: `
import { createCodeTools, createSandbox, createToolHost } from "@troupe/tools";

const host = createToolHost({ tools: createCodeTools({ sandbox: await createSandbox() }) });
const call = { id: "1", name: "code_search", args: { name: "hash", path: "missing-code.ts" }, problem: null };
const outcome = await host.run(call, {
  session: "s", run: "r", agent: "main", workspace: process.cwd(), signal: new AbortController().signal,
  grant: { tools: ["code_search"], agents: [], writes: [] }, idempotencyKey: "1", approved: false, plan: null,
});
console.log(outcome.error?.message);
`,
    prints: "the package @vscode/tree-sitter-wasm is not installed; run: npm install @vscode/tree-sitter-wasm@0.3",
  },
];

/** Prints the npm packages that a process has loaded when it ends. Loaded with `node --import`. */
export const traceProgram = `
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const packages = new Set();
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
    if (name) packages.add(name);
    return nextLoad(url, context);
  },
});
if (isMainThread) process.on("exit", () => console.log(JSON.stringify([...packages].sort())));
`;

/** Starts a troupe, runs a task, and stops. */
export const startProgram = `
import { createTroupe } from "troupe";

const troupe = await createTroupe({ model: "scripted/answers.yaml", store: "memory" });
await troupe.run("What does this project do?");
await troupe.close();
`;

/** The npm packages that a command loads where every optional part is installed. */
export const loadedPackages = [
  {
    what: 'import("troupe")',
    command: ["--eval", 'await import("troupe")'],
    loaded: ["@noble/hashes", "@troupe/core", "@troupe/tools", "troupe", "zod"],
  },
  { what: "troupe --help", command: ["CLI", "--help"], loaded: ["@troupe/cli"] },
  {
    what: "a task in one process",
    command: ["start.ts"],
    loaded: [
      // Of the connectors, only the file with the descriptions of their tools.
      ...["@noble/hashes", "@troupe/connectors", "@troupe/core", "@troupe/models", "@troupe/recorder", "@troupe/roles"],
      "@troupe/runtime",
      ...["@troupe/tools", "troupe", "unbash", "uuidv7", "xstate", "yaml", "zod"],
    ],
  },
];
