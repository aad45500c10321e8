/** The domain of docs/guides/domain-agents.md, executed as it is written there. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { DomainAgent } from "@troupe/connectors";
import { createTroupe } from "troupe";
import { beforeAll, describe, expect, it, type TestContext } from "vitest";
import { readGuide } from "../harness/guide.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const guide = await readGuide("domain-agents");
const [example = "", program = ""] = guide.blocks("ts");
// Its imports resolve like those of a program beside this file.
const artifacts = fileURLToPath(new URL("../.artifacts/domain-agents", import.meta.url));
let tickets: DomainAgent;

beforeAll(async () => {
  await mkdir(artifacts, { recursive: true });
  const file = path.join(artifacts, `tickets-${process.pid}.ts`);
  await writeFile(file, example);
  ({ tickets } = await import(pathToFileURL(file).href));
});

async function ask(test: Pick<TestContext, "onTestFinished">, request: string) {
  const folder = await tempFolder("tickets", test);
  const env = { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: path.join(folder, "home") };
  const { agent, tools, handler } = tickets;
  await using troupe = await createTroupe({
    ...{ env, workspace: folder, store: "memory", agents: [agent], tools, handlers: [handler] },
  });
  return await troupe.run(request, { agent: agent.id });
}

describe("the tickets of the guide", () => {
  it("have at most sixty lines, and the program shows their three parts", () => {
    expect(example.trim().split("\n").length).toBeLessThanOrEqual(60);
    expect(program).toMatch(
      /agents: \[tickets\.agent\][\s\S]*tools: tickets\.tools[\s\S]*handlers: \[tickets\.handler\]/,
    );
  });

  it("are opened without a model, with the sentence that the guide shows", async (test) => {
    const response = await ask(test, "Open a ticket: the lift is stuck");
    expect(response.success).toBe(true);
    expect(program).toContain(`"${response.summary}"`);
    expect(response.toolsUsed).toEqual(["tickets_open"]);
    expect(response.metrics.totalTokens).toBe(0);
  });

  it("are listed", async (test) => {
    const response = await ask(test, "list tickets");
    expect(response.details).toContain("- T-1: The printer is on fire");
  });

  it("need a title that fits the schema of the tool", async (test) => {
    const response = await ask(test, "Open a ticket: lift");
    expect(response).toMatchObject({ success: false, error: { type: "params", tool: "tickets_open" } });
    expect(response.toolsUsed).toEqual([]);
  });
});
