// A budget that cannot pay for work is refused before anything is spent, with the number that suffices.
import { describeStatus } from "@troupe/core/texts";
import { createTroupe, TroupeError, type TroupeOptions } from "troupe";
import { describe, expect, test } from "vitest";
import { type ModelServer, startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

type Cleanup = Parameters<typeof tempFolder>[1];

const agent = { id: "main", description: "Works.", prompt: "You work.", tools: ["read", "ls"] };

async function open(test: Cleanup, agents: TroupeOptions["agents"] = [agent]) {
  const folder = await tempFolder("smallest", test);
  const steps = [{ calls: [{ tool: "ls", args: {} }] }, { text: "done", repeat: true }];
  const server = await startModelServer({ scenario: { agents: { main: [{ steps }] } } });
  test.onTestFinished(() => server.close());
  const troupe = await createTroupe({
    home: folder,
    workspace: folder,
    store: "memory",
    model: "anthropic/claude-opus-5",
    ...(agents ? { agents } : {}),
    env: {
      HOME: folder,
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: "sk-ant-x",
      ANTHROPIC_BASE_URL: server.anthropicUrl,
    },
  });
  test.onTestFinished(() => troupe.close());
  return { troupe, server };
}

async function refusal(promise: Promise<unknown>): Promise<TroupeError> {
  const error = await promise.then(
    () => new Error("it was accepted"),
    (thrown) => thrown,
  );
  if (!TroupeError.is(error)) throw error;
  return error;
}

const toolsOf = (server: ModelServer) =>
  server.calls().map(({ body }) => (body as { tools?: unknown[] }).tools?.length ?? 0);

test("a run whose rest pays for an answer only says so in its status, its warnings and its row", async (context) => {
  const { troupe, server } = await open(context);
  const answer = await troupe.run("look", { budget: { toolCalls: 1 } });
  expect(answer).toMatchObject({ status: "completed", summary: "done", answerOnly: "max_tool_calls" });
  expect(answer.warnings).toEqual([expect.stringContaining("the last turn had no tools")]);
  expect(toolsOf(server)[0]).toBe(2);
  const detail = await troupe.sessions.get(answer.sessionId);
  expect(detail?.runs).toMatchObject([{ exactStatus: "completed", answerOnly: "max_tool_calls" }]);
  expect(detail?.runs.map(describeStatus)).toEqual(["completed, answer only"]);
});

describe("a budget too small for one turn with tools", () => {
  test.for([
    ["tokens", /the token budget of 800 tokens is too small: main needs at least ([\d,]+) tokens for one turn/, 800],
    ["costUsd", /the cost budget of \$0\.0001 is too small: main needs at least \$([\d.]+) for one turn/, 0.0001],
  ] as const)("is refused with the number needed, which suffices: %s", async ([kind, message, amount], context) => {
    const { troupe, server } = await open(context);
    const error = await refusal(troupe.run("look", { budget: { [kind]: amount } }));
    expect(error).toMatchObject({ code: "USAGE", message: expect.stringMatching(message) });
    expect(server.calls()).toEqual([]);
    expect(await troupe.sessions.list()).toEqual([]);

    const needed = Number(message.exec(error.message)?.[1]?.replaceAll(",", ""));
    expect(error.fix).toContain(String(needed));
    await troupe.run("look", { budget: { [kind]: needed } });
    expect(toolsOf(server)[0]).toBe(2);
  });

  test("is refused for a further turn, too", async (context) => {
    const { troupe } = await open(context);
    const { sessionId: continues } = await troupe.run("look");
    expect(await refusal(troupe.run("again", { continues, budget: { tokens: 800 } }))).toMatchObject({ code: "USAGE" });
  });

  test("names the agent's file if that sets it", async (context) => {
    const { troupe } = await open(context, [{ ...agent, budget: { tokens: 700 } }]);
    const { message, fix } = await refusal(troupe.run("look"));
    expect(message).toContain("the token budget of 700 tokens is too small");
    expect(fix).toMatch(/^raise it in .* to \d+/);
  });
});
