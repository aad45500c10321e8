/** The first request stays small, with no agent files and with hundreds, because a model reads it in every turn. */
import { expect, test } from "vitest";
import { firstRequest } from "../bench/first-request.ts";

test.each([
  { agentFiles: 0, tokensMax: 6_000, search: false },
  { agentFiles: 32, tokensMax: 7_500, search: true },
  { agentFiles: 403, tokensMax: 8_500, search: true },
])("with $agentFiles agent files it has at most $tokensMax tokens", async ({ agentFiles, tokensMax, search }) => {
  const { total, prompt, tools } = await firstRequest(agentFiles);
  expect(total).toBeLessThanOrEqual(tokensMax);
  expect(prompt).toBeGreaterThan(500);
  expect(Object.keys(tools)).toEqual(expect.arrayContaining(["read", "delegate", "delegate_batch"]));
  expect("find_agent" in tools).toBe(search);
});

test("no shipped tool costs more than 350 tokens", async () => {
  const { tools } = await firstRequest(0);
  expect(Object.entries(tools).filter(([, tokens]) => tokens > 350)).toEqual([]);
});
