import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileChange } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFeedBuilder, type FeedBuilder, type RunBuilder } from "../feed-builder.test-helper.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

/** File changes of tool calls, each with its diff, by run and by session. */

let folder: string;
let record: RecordStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-changes-"));
  record = await openRecord({ file: join(folder, "troupe.db") });
});
afterEach(async () => {
  record.close();
  await rm(folder, { recursive: true });
});

function change(path: string, more: Partial<FileChange> = {}): FileChange {
  const diff = "@@ -1 +1 @@\n-a\n+b\n";
  const plain = { before: "0a", after: "0b", kind: "modified", diffRef: null, linesAdded: 1, linesRemoved: 1 } as const;
  return { path, diff, ...plain, ...more };
}

/** A child patches two files in one call, and its parent then deletes one of them. */
function anEditedSession(): { builder: FeedBuilder; root: RunBuilder; coder: RunBuilder } {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened().replied([["delegate", { agent: "coder" }]]);
  const coder = builder.run({ agent: "coder", parent: root });
  coder.opened().replied([["apply_patch", {}]]);
  coder.finished(0, { changes: [change("a.ts"), change("b.ts", { kind: "created", before: null })] });
  coder.settled({ filesModified: ["a.ts"], filesCreated: ["b.ts"] });
  root.childSettled({ call: 0 }, coder.response({ filesModified: ["a.ts"], filesCreated: ["b.ts"] }));
  root.replied([["shell", {}]]).finished(0, { changes: [change("a.ts", { kind: "deleted", after: null })] });
  return { builder, root, coder };
}

const ofSession = ({ session }: FeedBuilder, after = 0, limit = 100) =>
  record.reader.changes({ session }, { after, limit });
const ofRun = ({ request: { run } }: RunBuilder) => record.reader.changes({ run }, { after: 0, limit: 100 });

describe("a change", () => {
  it("is stored with its difference and its author", async () => {
    const { builder, coder } = anEditedSession();
    record.write(builder.feed);
    const [first, ...others] = await ofRun(coder);
    expect(first).toEqual({
      id: 1,
      session: builder.session,
      run: coder.request.run,
      agent: "coder",
      step: 1,
      call: 0,
      tool: "any",
      path: "a.ts",
      kind: "modified",
      diff: "@@ -1 +1 @@\n-a\n+b\n",
      linesAdded: 1,
      linesRemoved: 1,
      cut: false,
      at: expect.stringMatching(/^2026-/),
    });
    expect(others).toMatchObject([{ path: "b.ts", kind: "created" }]);
  });

  it("keeps the mark that another program runs the file later", async () => {
    const { builder, root } = anEditedSession();
    root
      .replied([["write", {}]])
      .finished(0, { changes: [change("conftest.py", { runsLater: "runs with the next tests" })] });
    record.write(builder.feed);
    expect((await ofRun(root)).map(({ path, runsLater }) => [path, runsLater])).toEqual([
      ["a.ts", undefined],
      ["conftest.py", "runs with the next tests"],
    ]);
  });

  it("belongs to its run and its session", async () => {
    const { builder, root } = anEditedSession();
    record.write(builder.feed);
    expect((await ofRun(root)).map(({ path, kind }) => [path, kind])).toEqual([["a.ts", "deleted"]]);
    expect((await ofSession(builder)).map(({ path, agent }) => [path, agent])).toEqual([
      ["a.ts", "coder"],
      ["b.ts", "coder"],
      ["a.ts", "main"],
    ]);
  });

  it("is read in pages", async () => {
    const { builder } = anEditedSession();
    record.write(builder.feed);
    const [first, second] = await ofSession(builder, 0, 2);
    expect(second?.path).toBe("b.ts");
    expect(await ofSession(builder, first?.id, 1)).toEqual([second]);
    expect(await ofSession(builder, 3)).toEqual([]);
  });

  it("is stored once, with any division of the feed and any repetition", async () => {
    const { builder } = anEditedSession();
    for (let count = 1; count <= builder.feed.length; count += 1) record.write(builder.feed.slice(0, count));
    record.write(builder.feed);
    expect((await ofSession(builder)).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it("of another branch of a forked run does not count", async () => {
    const { builder, coder } = anEditedSession();
    coder.write(
      {
        kind: "tool.finished",
        step: 1,
        call: 0,
        tool: "any",
        outcome: { ...emptyOutcome, changes: [change("fork.ts")] },
      },
      { beside: true },
    );
    record.write(builder.feed);
    expect((await ofSession(builder)).map(({ path }) => path)).not.toContain("fork.ts");
  });

  it.each([
    ["whose whole is elsewhere is marked as truncated", { diffRef: "0c" }, "@@ -1 +1 @@\n-a\n+b\n"],
    ["that is too long is truncated", { diff: `+${"x".repeat(300 * 1024)}` }, `+${"x".repeat(256 * 1024 - 1)}`],
  ])("%s", async (_, more, diff) => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    root
      .opened()
      .replied([["edit", {}]])
      .finished(0, { changes: [change("a.ts", more)] });
    record.write(builder.feed);
    expect(await ofRun(root)).toMatchObject([{ cut: true, diff }]);
  });
});

const emptyOutcome = {
  output: "",
  error: null,
  inDoubt: false,
  filesCreated: [],
  filesModified: [],
  seen: [],
  tests: null,
  artifacts: [],
  outputRef: null,
  durationMs: 0,
};

it("the files of a run include deleted ones", async () => {
  const { builder, root, coder } = anEditedSession();
  record.write(builder.feed);
  expect((await record.reader.run(coder.request.run))?.filesModified).toEqual(["b.ts", "a.ts"]);
  expect((await record.reader.run(root.request.run))?.filesModified).toEqual(["a.ts"]);
});
