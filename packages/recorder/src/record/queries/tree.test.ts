import type { RunSpan } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { commandedSession, createFeedBuilder, type FeedBuilder, largeSession } from "../../feed-builder.test-helper.ts";
import type { RecordStore } from "../record-store.ts";
import { recordOf } from "./record-file.test-helper.ts";

const all = { after: -1, limit: 100 };
const unknown = "01990000-0000-7000-8000-000000000000";

function queriesOf({ reader }: RecordStore) {
  return reader.queries;
}

/** The runs of an agent, by arrival. */
async function runsOf(record: RecordStore, { session }: FeedBuilder, agent: string): Promise<string[]> {
  const nodes = (await queriesOf(record).tree(session, all))?.nodes ?? [];
  return nodes.filter((node) => node.agent === agent).map(({ run }) => run);
}

describe("the tree of a session", () => {
  it("has each run with its parent, its children, its own cost, and the cost with the runs below", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" }).opened().replied([], [10, 1], 1);
    const coder = builder.run({ agent: "coder", parent: root }).opened().replied([], [10, 1], 0.5);
    builder.run({ agent: "tester", parent: coder }).opened().replied([], [10, 1], 0.25);
    builder.run({ agent: "reviewer", parent: root }).opened().replied([], [10, 1], null);
    const nodes = (await queriesOf(await recordOf(builder.feed)).tree(builder.session, all))?.nodes ?? [];
    expect(nodes.map(({ agent, children, own, subtree }) => [agent, children, own.costUsd, subtree.costUsd])).toEqual([
      ["main", 2, 1, null],
      ["coder", 1, 0.5, 0.75],
      ["tester", 0, 0.25, 0.25],
      ["reviewer", 0, null, null],
    ]);
    expect(nodes[0]?.subtree).toMatchObject({ runs: 4, knownCostUsd: 1.75, unknownRuns: 1 });
    expect(nodes[2]).toMatchObject({ parentRun: coder.request.run, depth: 2, task: "the task of tester" });
  });

  it("comes in pages that have every run once", async () => {
    const builder = largeSession();
    const queries = queriesOf(await recordOf(builder.feed));
    const whole = await queries.tree(builder.session, all);
    const runs: string[] = [];
    for (let after: number | null = -1; after !== null; ) {
      const page = await queries.tree(builder.session, { after, limit: 2 });
      runs.push(...(page?.nodes ?? []).map(({ run }) => run));
      after = page?.next ?? null;
    }
    expect(runs).toEqual(whole?.nodes.map(({ run }) => run));
    expect(runs).toHaveLength(5);
  });

  it("names the children and the ancestors of a run", async () => {
    const builder = largeSession();
    const record = await recordOf(builder.feed);
    const [main = ""] = await runsOf(record, builder, "main");
    const [reviewer = ""] = await runsOf(record, builder, "reviewer");
    const children = await queriesOf(record).children(main, all);
    expect(children?.nodes.map(({ agent, attempt }) => [agent, attempt])).toEqual([
      ["coder", 1],
      ["tester", 1],
      ["tester", 2],
    ]);
    const first = await queriesOf(record).children(main, { after: -1, limit: 2 });
    const second = await queriesOf(record).children(main, { after: first?.next ?? -1, limit: 2 });
    expect([first, second].map((page) => page?.nodes.map(({ run }) => run))).toEqual([
      children?.nodes.slice(0, 2).map(({ run }) => run),
      children?.nodes.slice(2).map(({ run }) => run),
    ]);
    expect(second?.next).toBeNull();
    const above = await queriesOf(record).ancestors(reviewer);
    expect(above?.map(({ agent }) => agent)).toEqual(["main", "coder"]);
  });

  it("of unknown ids is null", async () => {
    const queries = queriesOf(await recordOf([]));
    const answers = [queries.tree(unknown, all), queries.children(unknown, all), queries.ancestors(unknown)];
    expect(await Promise.all([...answers, queries.runTimeline(unknown)])).toEqual([null, null, null, null]);
  });
});

describe("the timeline of a run", () => {
  const outline = (spans: readonly RunSpan[] = []) =>
    spans.map(({ kind, startMs, endMs, name }) => [kind, name, endMs === null ? null : endMs - startMs]);

  it("has its queue, model calls, tool calls, children, and the waits for a person, with start and end", async () => {
    const builder = commandedSession();
    const record = await recordOf(builder.feed);
    const [coder = ""] = await runsOf(record, builder, "coder");
    const timeline = await queriesOf(record).runTimeline(coder);
    expect(outline(timeline?.spans)).toEqual([
      ["queued", null, 3_000],
      ["model", "demo/answered", 5],
      ["waiting", "it can do anything", expect.any(Number)],
      ["tool", "any", 7],
    ]);
    const [main = ""] = await runsOf(record, builder, "main");
    const kinds = (await queriesOf(record).runTimeline(main))?.spans.map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(["queued", "model", "tool", "delegating", "paused", "waiting"]));
  });

  it("has failed model calls, and the retries before a reply", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" }).opened();
    const error = { type: "rate_limit", message: "429", tool: null, recoverable: true, retryAfterMs: null } as const;
    root.write({ kind: "model.failed", step: 1, error, durationMs: 9 });
    root.write({
      ...{ kind: "model.replied", step: 1, durationMs: 40 },
      reply: {
        ...{ text: "", calls: [], stopReason: "end", model: "m", retries: [{ error, waitedMs: 30 }] },
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: null },
      },
    });
    const spans = (await queriesOf(await recordOf(builder.feed)).runTimeline(root.request.run))?.spans ?? [];
    expect(spans.slice(1).map(({ error: failed, retries }) => [failed, retries])).toEqual([
      ["429", []],
      [null, [{ error: "429", waitedMs: 30 }]],
    ]);
  });

  it("names all attempts of its delegation", async () => {
    const builder = commandedSession();
    const record = await recordOf(builder.feed);
    const [tester = ""] = await runsOf(record, builder, "tester");
    const attempts = (await queriesOf(record).runTimeline(tester))?.attempts;
    expect(attempts?.map(({ agent, attempt, status }) => [agent, attempt, status])).toEqual(
      expect.arrayContaining([["tester", 1, "failed"]]),
    );
  });

  it("leaves the spans of a run that works open", async () => {
    const builder = createFeedBuilder();
    const root = builder
      .run({ agent: "main" })
      .opened()
      .replied([["shell", { command: "rm" }]]);
    root.asked(0, "shell", { command: "rm" });
    const timeline = await queriesOf(await recordOf(builder.feed)).runTimeline(root.request.run);
    expect(timeline?.endMs).toBeNull();
    expect(timeline?.spans.at(-1)).toMatchObject({ kind: "waiting", endMs: null });
  });
});

describe("ids with a prefix", () => {
  it("are those of sessions, then of runs, of the whole record", async () => {
    const builder = largeSession();
    const record = await recordOf(builder.feed);
    const [reviewer = ""] = await runsOf(record, builder, "reviewer");
    const { session } = builder;
    expect(await queriesOf(record).idsWith(reviewer.toUpperCase(), { limit: 5 })).toEqual([
      { kind: "run", id: reviewer, session },
    ]);
    const found = await queriesOf(record).idsWith(session.slice(0, 8), { limit: 3 });
    expect(found.map(({ kind }) => kind)).toEqual(["session", "run", "run"]);
  });

  it.each(["", "%", "x'; --", "g", "0".repeat(40)])("never match %j", async (prefix) => {
    const { feed } = largeSession();
    expect(await queriesOf(await recordOf(feed)).idsWith(prefix, { limit: 5 })).toEqual([]);
  });
});
