/** A program that gives three agents a task each, two at a time, and prints their answers. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTroupe } from "troupe";

const workspace = await mkdtemp(join(tmpdir(), "troupe-example-"));
await writeFile(join(workspace, "CHANGES.md"), "- faster start\n- open() takes one argument\n");

const model = `scripted/${join(import.meta.dirname, "release.yaml")}`;
await using troupe = await createTroupe({ model, workspace, store: "memory", budget: { toolCalls: 20 } });
const responses = await troupe.fanOut(
  [
    { agent: "researcher", task: "What has changed?", tools: ["read"], maxToolCalls: 5 },
    { agent: "reviewer", task: "Is it ready to be released?", timeoutMs: 60_000 },
    { agent: "tester", task: "Do all tests pass?" },
  ],
  { maxConcurrent: 2 },
);
for (const { agent, status, summary, error } of responses) console.log(agent, status, error?.message ?? summary);
