/** A client of others: types by openapi-typescript from the served document, requests by openapi-fetch. */
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import { it } from "vitest";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const program = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

const headers = { authorization: \`Bearer \${process.env.TOKEN}\` };
const client = createClient<paths>({ baseUrl: process.env.URL + "/api/v1", headers });

const before = await client.GET("/sessions", { params: { query: { limit: 1 } } });
const started = await client.POST("/sessions", { body: { task: "hello", timeoutMs: "5m" } });
const session: string = started.data!.session;

const events = await client.GET("/events", { params: { query: { session, after: before.data!.position } }, parseAs: "stream" });
let text = "";
for await (const chunk of events.data!.pipeThrough(new TextDecoderStream())) {
  text += chunk;
  if (text.includes('"status":"completed"')) break;
}
const id = session;
const answer = await client.GET("/sessions/{id}/response", { params: { path: { id } } });
const summary: string = answer.data!.summary;

const waiting = await client.POST("/sessions", { body: { task: "wait" } });
const path = { id: waiting.data!.session };
const cancelled = await client.POST("/sessions/{id}/cancel", { params: { path }, body: {} });
const outcome: components["schemas"]["CancelOutcome"]["outcome"] = cancelled.data!.outcome;

const unknown = await client.GET("/sessions/{id}", { params: { path: { id: "01990000-0000-7000-8000-00000000ffff" } } });
const code: string = unknown.error!.error.code;
// @ts-expect-error The document has no such field.
started.data!.colour;
console.log(JSON.stringify({ listed: before.data!.sessions.length, summary, outcome, code, frames: text.split("event: change").length > 1 }));
`;

it("a client generated from the document lists, runs, follows and cancels", async (test) => {
  const { expect } = test;
  const agents = {
    main: [{ when: { task: "wait" }, steps: [{ text: "late", latencyMs: 600_000 }] }, { steps: [{ text: "Hello." }] }],
  };
  const { url, token } = await startScriptedDaemon({ test, agents });
  const reply = await fetch(`${url}/api/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
  const folder = await tempFolder("generated", test);
  await writeFile(path.join(folder, "api.d.ts"), astToString(await openapiTS(await reply.text())));
  await writeFile(path.join(folder, "program.ts"), program);
  await writeFile(path.join(folder, "package.json"), '{"type": "module"}');
  await mkdir(path.join(folder, "node_modules"));
  const root = path.resolve(import.meta.dirname, "../..");
  for (const name of ["openapi-fetch"]) {
    await symlink(path.join(root, "test/node_modules", name), path.join(folder, "node_modules", name));
  }
  await mkdir(path.join(folder, "node_modules/@types"));
  await symlink(path.join(root, "node_modules/@types/node"), path.join(folder, "node_modules/@types/node"));
  const run = promisify(execFile);
  const flags = "--noEmit --strict --module nodenext --target es2024 --types node --skipLibCheck false".split(" ");
  const check = await run(
    path.join(root, "node_modules/.bin/tsc"),
    [...flags, "--allowImportingTsExtensions", "program.ts"],
    {
      cwd: folder,
    },
  ).catch((error: { stdout: string }) => error);
  expect(check.stdout).toBe("");
  const env = { PATH: process.env.PATH, URL: url, TOKEN: token };
  const { stdout } = await run(process.execPath, ["program.ts"], { cwd: folder, env });
  expect(JSON.parse(stdout)).toEqual({
    listed: 0,
    summary: "Hello.",
    outcome: "requested",
    code: "UNKNOWN_SESSION",
    frames: true,
  });
});
