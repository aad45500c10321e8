import { Budget } from "@troupe/core";
import { expect, it } from "vitest";
import { createActorHost } from "./actor-host.ts";
import { sendWish } from "./wake.ts";
import { ask, createTestWorld, endsWith, entriesOnce, rootRequest } from "./world.test-helper.ts";

const run = "0198a000-0000-7000-8000-000000000001";
it("a call that a pause held back is charged nothing", async () => {
  const request = rootRequest({ run, budget: Budget.parse({ tokens: 50_000 }) });
  const world = createTestWorld({ agents: [{ id: "main" }], script: () => ({ text: "done" }) });
  const head = { v: 1 as const, at: 1, session: request.session, run, by: "x" };
  await world.journal.appendInbox({ ...head, kind: "run.paused" });
  const host = createActorHost({ world });
  await host.start();
  const response = ask(world, request);
  await entriesOnce(world, request, endsWith("run.parked"));
  await sendWish(world, { ...head, kind: "run.resumed" });
  const { metrics } = await response;
  await host.stop({ graceMs: 5 });
  expect(metrics.charged.tokens).toBe(metrics.totalTokens);
});
