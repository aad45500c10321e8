/** Every program of docs/guides/http-api.md, as it is written, against a running daemon: the output is that of the guide. */
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { commandsIn, readGuide, wordsOf } from "../harness/guide.ts";
import { askingPolicy, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { startWebhookReceiver } from "../harness/webhook-receiver.ts";

const agents = {
  main: [
    {
      when: { task: "delegate it" },
      steps: [{ calls: [{ tool: "delegate", args: { agent: "coder", task: "write" } }] }, { text: "All done." }],
    },
    {
      when: { task: "ask first" },
      steps: [{ calls: [{ tool: "shell", args: { command: "true" } }] }, { text: "late", latencyMs: 600_000 }],
    },
    { steps: [{ text: "Hello." }] },
  ],
  coder: [{ steps: [{ text: "Written." }] }],
};

it("the guide to the HTTP API works as it is written", async (test) => {
  const { expect } = test;
  const guide = await readGuide("http-api");
  expect(guide.text.trimEnd().split("\n").length).toBeLessThanOrEqual(160);
  const receiver = await startWebhookReceiver(test);
  const { home, url } = await startScriptedDaemon({ test, agents, files: askingPolicy });
  const folder = await tempFolder("http-guide", test);
  await mkdir(path.join(folder, "node_modules"));
  const root = path.resolve(import.meta.dirname, "../..");
  await symlink(path.join(root, "test/node_modules/troupe"), path.join(folder, "node_modules/troupe"));

  const [verify, ...others] = guide
    .blocks("js")
    .sort((a, b) => Number(b.includes("export ")) - Number(a.includes("export ")));
  const outputs = guide.blocks("text");
  expect(outputs).toHaveLength(others.length);
  for (const [i, program] of others.entries()) {
    const file = path.join(folder, `program-${i}.mjs`);
    await writeFile(file, program);
    const env = { PATH: process.env.PATH, TROUPE_HOME: home, URL: url };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env });
    expect(stdout, program).toBe(outputs[i]);
  }

  // The commands print the secret, with which the function of the guide accepts the message and no other one.
  const [add = "", list = ""] = commandsIn(guide);
  const added = await troupe(wordsOf(add.replace(/http:\S+/, receiver.url)).slice(1), { home });
  const secret = /secret: (\S+)/.exec(added.stdout)?.[1] ?? "";
  const start = await troupe(["run", "hello", "--json"], { home });
  expect(start).toMatchObject({ code: 0 });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  const module = path.join(folder, "verify.mjs");
  await writeFile(module, verify ?? "");
  const { isGenuine } = await import(pathToFileURL(module).href);
  const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
  expect([isGenuine(headers, body, secret), isGenuine(headers, `${body} `, secret)]).toEqual([true, false]);
  await expect
    .poll(async () => (await troupe(wordsOf(list).slice(1), { home })).stdout)
    .toMatch(/ 0 +1 +0 +session\.settled/);
});
