/** A program that asks three agents at once, and puts what they say together. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@troupe/core/system";
import { createScenarioLoader, createScriptedProvider } from "@troupe/models";
import { openSqliteJournal } from "@troupe/recorder";
import { createAgentSource } from "@troupe/roles";
import { createTeam } from "@troupe/runtime";
import { createFileTools } from "@troupe/tools";
import { createEmbeddedHost } from "troupe/internal";

const workspace = await mkdtemp(join(tmpdir(), "troupe-example-"));
await writeFile(join(workspace, "CHANGES.md"), "- faster start\n- open() takes one argument\n");

const journal = await openSqliteJournal({ file: join(workspace, "journal.db") });
const models = createScriptedProvider({ load: createScenarioLoader(), clock: systemClock() });
const agentSource = createAgentSource({ userFolders: [] });
const { deps, start, stop } = createEmbeddedHost({
  journal,
  models,
  agentSource,
  tools: createFileTools(),
});
await start();

const model = `scripted/${join(import.meta.dirname, "release.yaml")}`;
const team = createTeam({ deps, model, workspace, budget: { toolCalls: 20 } });
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
