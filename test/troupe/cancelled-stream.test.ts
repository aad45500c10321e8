// A model call that is aborted in the middle of its answer: the provider bills it, so it is booked by estimate and marked.
import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";
import { createTroupe, type RunOptions, type Troupe } from "troupe";
import { describe, expect, test } from "vitest";
import { troupe as command } from "../harness/cli.ts";
import { type ModelServer, startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

type Cleanup = Parameters<typeof tempFolder>[1];

/** Of its 40 pieces 12 arrive, then the answer stands still. */
const answer = "word ".repeat(200);
const stalled = { text: answer, deltas: 40, faults: [{ stall: { afterPieces: 12 } }] };

const wires = [
  [
    "anthropic/claude-opus-5",
    ({ anthropicUrl }: ModelServer) => ({ ANTHROPIC_API_KEY: "sk-ant-x", ANTHROPIC_BASE_URL: anthropicUrl }),
  ],
  ["openai/gpt-4.1", ({ openaiUrl }: ModelServer) => ({ OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: openaiUrl })],
] as const;

async function open(test: Cleanup, model: string, env: (server: ModelServer) => Record<string, string>) {
  const home = await tempFolder("cancelled", test);
  const server = await startModelServer({ scenario: { agents: { main: [{ steps: [stalled] }] } } });
  test.onTestFinished(() => server.close());
  const troupe = await createTroupe({
    home,
    workspace: home,
    model,
    agents: [{ id: "main", description: "Answers.", prompt: "You answer.", tools: [] }],
    env: { HOME: home, PATH: process.env.PATH, ...env(server) },
  });
  test.onTestFinished(() => troupe.close());
  return { troupe, home };
}

/** Runs until the answer stands still, then stops it. */
async function stopInTheMiddle(troupe: Troupe, stop: (session: string) => void, options: RunOptions = {}) {
  let text = "";
  const onEvent: RunOptions["onEvent"] = (event) => {
    if (event.type !== "text.delta") return;
    text += event.text;
    if (text.length >= 300) stop(event.session);
  };
  const response = await troupe.run("write", { ...options, onEvent });
  return { response, characters: text.length };
}

describe.for(wires)("a stream of %s that the user cancels", ([model, env]) => {
  test("is booked by estimate, and marked in the response, the record and the command line", async (context) => {
    const { troupe, home } = await open(context, model, env);
    const { response, characters } = await stopInTheMiddle(troupe, (session) => void troupe.cancel(session, "enough"));
    const { metrics, warnings } = response;

    expect(response.status).toBe("cancelled");
    expect(warnings).toEqual([expect.stringContaining("estimates (≈)")]);
    expect(metrics.outputTokens).toBeGreaterThanOrEqual(characters / 5);
    expect(metrics.outputTokens).toBeLessThanOrEqual(characters);
    expect(metrics.inputTokens).toBeGreaterThan(0);
    expect(metrics.costUsd).toBeGreaterThan(0);
    expect(metrics.estimated).toEqual({ tokens: metrics.totalTokens, costUsd: metrics.costUsd });
    expect(metrics.subtree.estimated).toEqual(metrics.estimated);

    const row = { totalTokens: metrics.totalTokens, estimatedTokens: metrics.totalTokens, costUsd: metrics.costUsd };
    const detail = await troupe.sessions.get(response.sessionId);
    expect(detail?.session).toMatchObject({ ...row, estimatedCostUsd: metrics.costUsd });
    expect(detail?.runs).toMatchObject([{ ...row, estimatedCostUsd: metrics.costUsd }]);
    await troupe.close();

    const database = openSqlite(path.join(home, "troupe.db"), { readOnly: true });
    context.onTestFinished(() => database.close());
    expect(
      database.prepareValue<[], string>("SELECT json_array(estimated_tokens, estimated_cost_usd) FROM runs").all(),
    ).toEqual([JSON.stringify([metrics.totalTokens, metrics.costUsd])]);
    for (const words of [
      ["sessions", "show", response.sessionId],
      ["sessions", "show", response.sessionId, "--tree"],
    ]) {
      const { stdout } = await command(words, { home });
      expect(stdout).toMatch(/≈ \$\d/);
    }
  });
});

test("a stream that the deadline ends is booked by estimate", async (context) => {
  const { troupe } = await open(context, ...wires[0]);
  const { response } = await stopInTheMiddle(troupe, () => {}, { timeoutMs: 1_500 });
  expect(response.status).toBe("timeout");
  expect(response.metrics.estimated).toEqual({
    tokens: response.metrics.totalTokens,
    costUsd: response.metrics.costUsd,
  });
  expect(response.metrics.costUsd).toBeGreaterThan(0);
});
