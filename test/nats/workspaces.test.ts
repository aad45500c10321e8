/** Agents on several machines with their own disks: their workspaces, and the files that other machines receive. */
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { responseOf, runsWhere } from "../harness/session-queries.ts";
import { until } from "../harness/until.ts";
import { createTroupes } from "./troupes.fixture.ts";

const hasServer = findNatsServer() !== null;
const lead = { lead: { tools: ["workbench_download", "read", "write", "shell"], subagents: { allow: ["expert"] } } };

describe.skipIf(!hasServer)(hasServer ? "workspaces" : natsServerMissing, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());

  it("an isolated run continues on another disk with its files, which are returned by reference", async (test) => {
    const call = (tool: string, args: Record<string, string>) => ({ tool, args });
    const troupes = await createTroupes(test, {
      url: server.url,
      agents: {
        lead: [
          {
            steps: [
              { calls: [delegate("expert", "make")] },
              { calls: [call("workbench_download", { remote_path: "a.txt", local_path: "fetched.txt" })] },
              { calls: [call("read", { path: "fetched.txt" })] },
              { text: "done" },
            ],
          },
        ],
        expert: [
          {
            steps: [
              {
                calls: [
                  call("write", { path: "a.txt", content: "written" }),
                  call("shell", { command: "echo run > b.txt" }),
                ],
              },
              { calls: [call("shell", { command: "cat a.txt b.txt" })], latencyMs: 1_200 },
              { text: "made" },
            ],
          },
        ],
      },
    });
    const has = { expert: { tools: ["write", "shell", "read"] } };
    const [daemon, ...workers] = await Promise.all([
      troupes.daemon({ has: lead, flags: ["--place", "desk"] }),
      ...["lab1", "lab2"].map((name) => troupes.worker("expert", { has, flags: ["--name", name, "--place", name] })),
    ]);
    await Promise.all(workers.map(({ ready }) => ready));
    await until(async () => (await daemon.client.agents(null)).agents.some(({ id }) => id === "expert"));
    const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
    const [, run = ""] = (await runsWhere(daemon, session, (runs) => runs.length === 2)).map((row) => row.run);
    // It is at its second model call: both files are stored.
    const second = await until(async () =>
      (await troupes.ledger.calls([run])).find(({ key }) => key.endsWith("/model/2")),
    );
    const holder = workers.find(({ process }) => process.pid === second.pid);
    if (!holder) throw new Error("no worker made the second model call");
    await holder.kill("SIGKILL");
    // Its disk is lost with it.
    await rm(path.join(holder.home, "runs"), { recursive: true });

    const response = await responseOf(daemon, session);
    expect(response).toMatchObject({ success: true });
    expect(response.artifacts.map(({ name }) => name).sort()).toEqual(["a.txt", "b.txt"]);
    const outputsOf = async (of: string) => {
      const { entries } = await daemon.client.entries(of, { limit: 500 });
      return entries.flatMap((entry) => (entry.kind === "tool.finished" ? [entry.outcome.output] : []));
    };
    expect((await outputsOf(run)).at(-1)).toContain("writtenrun");
    expect((await outputsOf(response.runId)).at(-1)).toContain("written");
    const other = workers.find((each) => each !== holder);
    await until(async () => (await readdir(path.join(other?.home ?? "", "runs", "isolated"))).length === 0);
  }, 180_000);
});
