/** Model calls without a reply: they are booked by estimate, so that no cost stays unseen. */
import { describe, expect, test } from "vitest";
import type { RunSpec } from "../../protocol/entry.ts";
import type { InboxItem } from "../../protocol/inbox.ts";
import { reply } from "../fixtures.test-helper.ts";
import { drive } from "../machine-driver.test-helper.ts";
import { estimateUsage } from "./lost-call.ts";
import { estimatedCallWarning, lostCallWarning } from "./usage.ts";

const price: RunSpec["price"] = { inputPerMillion: 1, outputPerMillion: 10, cachedInputPerMillion: 0.1 };

describe("the estimate of a stopped call", () => {
  const reported = { inputTokens: 1_000, outputTokens: 1, cachedTokens: 900, costUsd: 0.0002 };
  test.each([
    ["nothing streamed", { usage: null, outputCharacters: 0 }, { inputTokens: 600, outputTokens: 0, costUsd: 0.0006 }],
    ["some text", { usage: null, outputCharacters: 299 }, { inputTokens: 600, outputTokens: 100, costUsd: 0.0016 }],
    ["reported input", { usage: reported, outputCharacters: 0 }, reported],
    [
      "reported input and some text",
      { usage: reported, outputCharacters: 303 },
      { ...reported, outputTokens: 101, costUsd: 0.0012 },
    ],
  ])("%s", (_what, progress, expected) => {
    const usage = estimateUsage({ contextTokens: 600, price }, progress);
    expect(usage).toMatchObject({ ...expected, costUsd: expect.closeTo(expected.costUsd, 9) });
  });

  test("an unknown price makes its cost unknown, never nothing", () => {
    const progress = { usage: null, outputCharacters: 30 };
    expect(estimateUsage({ contextTokens: 600, price: null }, progress).costUsd).toBeNull();
  });
});

const lostUsage = { inputTokens: 500, outputTokens: 50, cachedTokens: 0, costUsd: 0.001 };
const head = { v: 1 as const, at: 1, session: "0198a222-0000-7000-8000-000000000002", by: "ada" };
const cancel: InboxItem = { ...head, kind: "session.cancelled", reason: "enough" };

describe.each([
  ["a cancel", { kind: "inbox.received", seq: 1, item: cancel }],
  ["the deadline", { kind: "timer.fired", timer: "deadline" }],
] as const)("%s in the middle of a model call", (_what, body) => {
  test("books the estimate as used, and the reserve as charged", () => {
    const d = drive({ price });
    const { tokens } = d.context().callReserve ?? { tokens: 0 };
    d.feed({ ...body, lostUsage });
    const { metrics, warnings } = d.response();
    expect(metrics).toMatchObject({
      totalTokens: 550,
      costUsd: 0.001,
      estimated: { tokens: 550, costUsd: 0.001 },
      subtree: { totalTokens: 550, costUsd: 0.001, estimated: { tokens: 550, costUsd: 0.001 } },
      charged: { tokens },
    });
    expect(warnings).toEqual([estimatedCallWarning]);
  });

  test("books the highest possible usage if no host has left an estimate", () => {
    const d = drive({ price });
    const { tokens, costUsd } = d.context().callReserve ?? { tokens: 0, costUsd: 0 };
    d.feed(body);
    expect(d.response().metrics).toMatchObject({ totalTokens: tokens, costUsd: expect.closeTo(costUsd, 9) });
  });

  test("books nothing if the call had not started", () => {
    const d = drive({ price });
    d.feed({ ...body, lostUsage: null });
    const { metrics, warnings } = d.response();
    expect(metrics).toMatchObject({ totalTokens: 0, costUsd: 0, charged: { tokens: 0 } });
    expect(metrics.estimated).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test("changes nothing for a run that an earlier version opened", () => {
    const d = drive({ price, booksLostCalls: false });
    d.feed({ ...body, lostUsage });
    const { metrics, warnings } = d.response();
    expect(metrics).toMatchObject({ totalTokens: 0, costUsd: 0 });
    expect(metrics.estimated).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});

test("a call that a stopping host ends is booked once, and the next host calls again", () => {
  const d = drive({ price });
  d.feed({ kind: "run.parked", reason: "drain", lostUsage });
  d.feed({ kind: "run.claimed", reason: "resumed" });
  d.feed(reply(1, "done"));
  const { metrics } = d.response();
  expect(metrics.estimated).toEqual({ tokens: 550, costUsd: 0.001 });
  expect(metrics.totalTokens).toBeGreaterThan(550);
});

test("a call that its provider lost is booked", () => {
  const d = drive({ price });
  const error = {
    type: "network" as const,
    message: "gone",
    tool: null,
    recoverable: false,
    retryAfterMs: null,
    begun: true,
  };
  d.feed({ kind: "model.failed", step: 1, error, durationMs: 1, lostUsage });
  expect(d.response().metrics.estimated).toEqual({ tokens: 550, costUsd: 0.001 });
  expect(d.response().warnings).not.toContain(lostCallWarning);
});
