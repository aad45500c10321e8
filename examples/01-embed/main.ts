/** A company inside your own program: the shipped agents, a SQLite journal, and a script in place of a model. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemIds } from "@troupe/core/system";
import { createScenarioLoader, createScriptedProvider } from "@troupe/models";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import { createAgentSource } from "@troupe/roles";
import { createService } from "@troupe/runtime";
import { createFileTools, createSandbox, createShellTool } from "@troupe/tools";
import { createEmbeddedHost } from "troupe/internal";

const home = await mkdtemp(join(tmpdir(), "troupe-example-"));
const journal = await openSqliteJournal({ file: join(home, "journal.db") });
const record = await openRecord({ file: join(home, "troupe.db") });
const recorder = startRecorder({ journal, record });
const { deps, start, stop } = createEmbeddedHost({
  journal,
  models: createScriptedProvider({ load: createScenarioLoader(), clock: systemClock() }),
  agentSource: createAgentSource({ userFolders: [] }),
  tools: [...createFileTools(), createShellTool({ sandbox: await createSandbox() })],
});
await start();

const scenario = join(import.meta.dirname, "hello.yaml");
const service = createService({
  deps,
  record: record.reader,
  ids: systemIds(),
  workspaces: home,
  model: { id: `scripted/${scenario}`, demo: true },
  resolveScenario: async (name) => `scripted/${name}`,
  status: () => ({
    version: "0.1.0",
    pid: process.pid,
    home,
    kind: "run",
    bus: "in-process",
    store: home,
    provider: "scripted",
    demo: true,
    startedAt: new Date().toISOString(),
  }),
});

const { session } = await service.submit({ task: "Say hello in two voices", origin: "api" });
await new Promise<void>((resolve) => {
  record.reader.onChange(({ sessions }) => {
    if (sessions.some((row) => row.session === session && row.status === "completed")) resolve();
  });
});
const response = await record.reader.response(session);
process.stdout.write(`${response?.details}\n(${response?.metrics.subtree.runs} runs)\n`);

service.close();
await stop();
await recorder.stop();
record.close();
await journal.close();
