import { type ConversationItem, hashText } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { commandedSession, createFeedBuilder, feedStartMs } from "../../feed-builder.test-helper.ts";
import { recordOf } from "./record-file.test-helper.ts";

const all = { from: 0, limit: 1_000 };

/** The kinds of a conversation with their most telling text. */
function outline(items: readonly ConversationItem[] = []): string[] {
  return items.map((item) => {
    if (item.kind === "request") return `request: ${item.task.text}`;
    if (item.kind === "reply") return `reply: ${item.calls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`)}`;
    if (item.kind === "failure") return `failure: ${item.error}`;
    if (item.kind === "question") return `question: ${item.tool}`;
    return `${item.kind}: ${item.text.text}${"error" in item && item.error !== null ? ` (${item.error})` : ""}`;
  });
}

describe("a conversation", () => {
  it("has the request, replies with calls and arguments, results, commands and the answer, in order", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    root.opened().replied(
      [
        ["shell", { command: "npm test" }],
        ["read", { path: "a.md" }],
      ],
      [100, 10],
      0.5,
    );
    root.finished(0, {
      output: "2 failed",
      error: { type: "tool_error", message: "exit 1", tool: "shell", recoverable: true, retryAfterMs: null },
    });
    root.finished(1, { output: "# Title" });
    const command = { v: 1, at: feedStartMs, session: builder.session, run: root.request.run, by: "Ada" } as const;
    root.received({ ...command, kind: "run.steered", text: "be brief" });
    root.replied([]).settled({ details: "It fails." });
    const page = await (await recordOf(builder.feed)).reader.queries.conversation(root.request.run, all);
    expect(outline(page?.items)).toEqual([
      "request: the task of main",
      'reply: shell {"command":"npm test"},read {"path":"a.md"}',
      "result: 2 failed (exit 1)",
      "result: # Title",
      "command: be brief",
      "reply: ",
      "answer: It fails.",
    ]);
    expect(page).toMatchObject({ session: builder.session, agent: "main", status: "completed", more: false });
    expect(page?.items[1]).toMatchObject({ step: 1, costUsd: 0.5, inputTokens: 100, model: "demo/answered" });
  });

  it("of a parent has the refused calls, the children with their runs, and the results of each attempt", async () => {
    const { feed } = commandedSession();
    const record = await recordOf(feed);
    const [{ rootRun = "" } = {}] = await record.reader.sessions({ limit: 1 });
    const items = (await record.reader.queries.conversation(rootRun, all))?.items ?? [];
    expect(outline(items)).toContain("result:  (no agent of that name)");
    const children = items.flatMap((item) => (item.kind === "result" && item.child ? [item.child] : []));
    expect(children.map(({ agent, item, attempt, status }) => [agent, item, attempt, status])).toEqual([
      ["coder", 0, 1, "completed"],
      ["tester", 1, 1, "failed"],
      ["debugger", 1, 2, "completed"],
      ["reviewer", 2, 1, "cancelled"],
    ]);
    expect(outline(items).filter((line) => line.startsWith("command"))).toEqual([
      "command: paused",
      "command: resumed",
      "command: be brief",
      "command: cancel: enough",
    ]);
  });

  it("cuts long texts and arguments, and names the entry and the blob that have the rest", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    root.opened().replied([["write", { content: "y".repeat(200_000) }]]);
    root.finished(0, { output: "x".repeat(40_000), outputRef: hashText("whole") });
    const page = await (await recordOf(builder.feed)).reader.queries.conversation(root.request.run, all);
    const [, reply, result] = page?.items ?? [];
    if (reply?.kind !== "reply" || result?.kind !== "result") throw new Error("no reply and result");
    expect(reply.calls[0]?.argsCut).toMatchObject({ entry: 1, ref: null });
    expect(String(reply.calls[0]?.args).length).toBe(16_000);
    expect(result.text.text).toHaveLength(16_000);
    expect(result.text.cut).toEqual({ characters: 40_000, entry: 2, ref: hashText("whole") });
  });

  it("comes in pages of at most 1 MB that together have every part once", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" }).opened();
    for (let i = 0; i < 40; i += 1) {
      root.replied([["write", { content: "\u0000".repeat(15_000) }]]);
      root.finished(0, { output: "\u0001".repeat(16_000) });
    }
    const { queries } = (await recordOf(builder.feed)).reader;
    const indexes: number[] = [];
    let pages = 0;
    for (let from = 0, more = true; more; pages += 1) {
      const page = await queries.conversation(root.request.run, { from, limit: 1_000 });
      if (!page) throw new Error("no page");
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(1024 * 1024);
      indexes.push(...page.items.map(({ index }) => index));
      ({ next: from, more } = page);
    }
    expect(indexes).toEqual(Array.from({ length: 81 }, (_, i) => i));
    expect(pages).toBeGreaterThan(3);
  });

  it("of a run that works continues at the next entry", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" }).opened();
    const record = await recordOf(builder.feed);
    const first = await record.reader.queries.conversation(root.request.run, all);
    expect(first).toMatchObject({ next: 1, more: false });
    root.replied([]);
    record.write(builder.feed);
    const second = await record.reader.queries.conversation(root.request.run, { from: first?.next ?? 0, limit: 10 });
    expect(outline(second?.items)).toEqual(["reply: "]);
  });

  it("of a forked run has the branch that was recorded first", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" }).opened();
    root.write({ kind: "timer.fired", timer: "first" });
    root.write({ kind: "timer.fired", timer: "second" }, { beside: true });
    root.write({ kind: "timer.fired", timer: "third" });
    const page = await (await recordOf(builder.feed)).reader.queries.conversation(root.request.run, all);
    expect(outline(page?.items).slice(1)).toEqual(["note: the timer first fired", "note: the timer third fired"]);
  });

  it("of an unknown run is null", async () => {
    const { queries } = (await recordOf([])).reader;
    expect(await queries.conversation("01990000-0000-7000-8000-000000000000", all)).toBeNull();
  });
});
