/** A program that asks three agents at once, and puts what they say together. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteJournal } from "@troupe/recorder";
import { createCompanySource } from "@troupe/roles";
import * as runtime from "@troupe/runtime";

const workspace = await mkdtemp(join(tmpdir(), "troupe-example-"));
await writeFile(join(workspace, "CHANGES.md"), "- faster start\n- open() takes one argument\n");

const journal = await openSqliteJournal({ file: join(workspace, "journal.db") });
const models = runtime.createScriptedProvider({ load: runtime.createScenarioLoader(), clock: runtime.systemClock() });
const companies = createCompanySource({ userFolders: [] });
const { world, start, stop } = runtime.createEmbeddedWorld({
  journal,
  models,
  companies,
  tools: runtime.createFileTools(),
});
await start();

const model = `scripted/${join(import.meta.dirname, "release.yaml")}`;
const team = runtime.createTeam({ world, model, workspace, budget: { toolCalls: 20 } });
const responses = await team.fanOut(
  [
    { agent: "researcher", task: "What has changed?", tools: ["read"], maxToolCalls: 5 },
    { agent: "reviewer", task: "Is it ready to be released?", timeoutMs: 60_000 },
    { agent: "tester", task: "Do all tests pass?" },
  ],
  { maxConcurrent: 2 },
);
const { summary, succeeded, failed, toolCalls } = team.aggregate(responses, { findings: true });
process.stdout.write(`${summary}\n\n${succeeded} answered, ${failed} did not; ${toolCalls} tool call\n`);

await team.close();
await stop();
await journal.close();
