import { chmod, link, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import type { FileChange, UndoFile } from "@troupe/core/internal";
import { describe, expect } from "vitest";
import { child, openRun, requestOf, root, session, settled, sibling } from "../service.fixture.ts";
import { changed, hash, undoTest as it, treeOf, type UndoSite, withoutContent } from "./undo.fixture.ts";

// The changes of commands are written by hand here. They have the same form as the changes of the file tools.

const one = (step: number, ...changes: FileChange[]) => ({ step, outcome: { output: "", changes } });

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const store = async (site: UndoSite, ...texts: string[]): Promise<void> => {
  for (const text of texts) await site.put(text);
};

const byPath = (files: readonly UndoFile[]) => Object.fromEntries(files.map(({ path, action }) => [path, action]));

describe("an undo", () => {
  it("restores modified and deleted entries, with links and bits, and deletes created ones", async ({ site }) => {
    const { folder } = site;
    await store(site, "old", "gone", "script", "target", "secret");
    await writeAll(folder, { "a.txt": "new", "made/x/y.txt": "y", "was-link": "a file now" });
    await symlink("a.txt", join(folder, "made-link"));
    await site.addRun([
      one(1, changed("a.txt", "old", "new"), changed("gone.txt", "gone", null)),
      one(2, changed("run.sh", "script", null, { typeBefore: "executable" })),
      one(3, changed("private", "secret", null, { modeBefore: 0o600 })),
      one(4, changed("was-link", "target", "a file now", { typeBefore: "link" })),
      one(5, changed("made/x/y.txt", null, "y", { foldersMade: 2 }), changed("made-link", null, "a.txt")),
    ]);
    const { outcome, files } = await site.undo();
    expect(outcome).toBe("done");
    expect(files.every(({ state }) => state === "restored" || state === "deleted")).toBe(true);
    expect(await treeOf(folder)).toEqual({
      "a.txt": "644 old",
      "gone.txt": "644 gone",
      "run.sh": "755 script",
      private: "600 secret",
      "was-link": "link target",
    });
  });

  it("restores the executable bit alone, without a stored content", async ({ site }) => {
    await writeAll(site.folder, { "run.sh": "x" });
    await chmod(join(site.folder, "run.sh"), 0o755);
    await site.addRun([one(1, withoutContent(changed("run.sh", "x", "x")))]);
    expect((await site.undo()).outcome).toBe("done");
    expect(await treeOf(site.folder)).toEqual({ "run.sh": "644 x" });
    expect((await site.undo()).outcome).toBe("nothing");
  });

  it("swaps a created file for the folder that was at its path, and the other way round", async ({ site }) => {
    const { folder } = site;
    await store(site, "inner", "plain");
    await writeAll(folder, { was: "a file now", "folder/in": "made" });
    await site.addRun([
      one(1, changed("was/inner.txt", "inner", null), changed("was", null, "a file now")),
      one(2, changed("folder", "plain", null), changed("folder/in", null, "made", { foldersMade: 1 })),
    ]);
    expect((await site.undo()).outcome).toBe("done");
    expect(await treeOf(folder)).toEqual({ was: "folder", "was/inner.txt": "644 inner", folder: "644 plain" });
  });

  it("keeps a folder that the run did not make, and one that is not empty", async ({ site }) => {
    await writeAll(site.folder, { "theirs/a": "a", "made/b": "b", "made/by-a-person": "p" });
    await site.addRun([one(1, changed("theirs/a", null, "a"), changed("made/b", null, "b", { foldersMade: 1 }))]);
    expect((await site.undo()).outcome).toBe("done");
    expect(await treeOf(site.folder)).toEqual({ theirs: "folder", made: "folder", "made/by-a-person": "644 p" });
  });

  it("orders the changes of one step by their versions, as calls of a step end in any order", async ({ site }) => {
    await store(site, "1", "2", "3");
    await writeAll(site.folder, { "a.txt": "4" });
    const changes = [changed("a.txt", "3", "4"), changed("a.txt", "1", "2"), changed("a.txt", "2", "3")];
    await site.addRun(changes.map((change) => one(1, change)));
    expect((await site.undo()).outcome).toBe("done");
    expect(await treeOf(site.folder)).toEqual({ "a.txt": "644 1" });
  });

  it("undoes the runs below too, and from a step on only the children of these steps", async ({ site }) => {
    await store(site, "a", "b", "c");
    await writeAll(site.folder, { a: "A", b: "B", c: "C" });
    const parent = (step: number) => ({ run: root, agent: "main", step, call: 0 });
    await site.addRun([one(1, changed("a", "a", "A"))]);
    const below = { ancestors: [root], depth: 1 };
    await site.addRun([one(1, changed("b", "b", "B"))], { run: child, parent: parent(2), ...below });
    await site.addRun([one(1, changed("c", "c", "C"))], { run: sibling, parent: parent(3), ...below });
    await site.undo({ step: 3 });
    expect(await treeOf(site.folder)).toEqual({ a: "644 A", b: "644 B", c: "644 c" });
    await site.undo({}, child);
    expect(await treeOf(site.folder)).toEqual({ a: "644 A", b: "644 b", c: "644 c" });
    expect((await site.undo()).outcome).toBe("done");
    expect(await treeOf(site.folder)).toEqual({ a: "644 a", b: "644 b", c: "644 c" });
  });

  it("is stored before it changes a file, and ended after it", async ({ site }) => {
    await store(site, "old");
    await writeAll(site.folder, { a: "new" });
    await site.addRun([one(1, changed("a", "old", "new"))]);
    const { undo } = await site.undo({ by: "Ada", step: 1 });
    expect(await site.deps.commands()).toEqual([
      {
        ...{ kind: "undo.planned", at: 1_000, run: root, undo, by: "Ada", step: 1 },
        files: [{ path: "a", before: hash("new"), after: hash("old"), beforeRef: hash("new") }],
      },
      { kind: "undo.finished", at: 1_000, run: root, undo, files: [{ path: "a", state: "restored", reason: null }] },
    ]);
  });
});

describe("an undo that was interrupted after its last file", () => {
  it("is ended by the next one, which also removes the folders that are empty now", async ({ site }) => {
    await writeAll(site.folder, { "made/x/y.txt": "y" });
    await site.addRun([one(1, changed("made/x/y.txt", null, "y", { foldersMade: 2 }))]);
    const { failpoint } = site.deps;
    site.deps.failpoint = {
      at(name) {
        if (name === "effect:after") throw new Error("killed");
      },
    };
    await expect(site.undo()).rejects.toThrow("killed");
    site.deps.failpoint = failpoint;
    expect(await treeOf(site.folder)).toEqual({ made: "folder", "made/x": "folder" });
    expect((await site.undo()).outcome).toBe("nothing");
    expect(await treeOf(site.folder)).toEqual({});
    expect(await site.deps.commands()).toMatchObject([
      { kind: "undo.planned" },
      { kind: "undo.finished", files: [{ path: "made/x/y.txt", state: "deleted" }] },
    ]);
  });
});

describe("a file that cannot be restored", () => {
  interface Row {
    name: string;
    change: FileChange | FileChange[];
    now?: (file: string) => Promise<unknown>;
    action: UndoFile["action"];
    reason: string;
  }
  const modified = changed("a", "old", "new");
  const rows: Row[] = [
    {
      name: "changed since",
      change: modified,
      now: (at) => writeFile(at, "mine"),
      action: "conflict",
      reason: "a person or another program changed it since",
    },
    { name: "deleted since", change: modified, action: "conflict", reason: "deleted it since" },
    {
      name: "created since its deletion",
      change: changed("a", "old", null),
      now: (at) => writeFile(at, "mine"),
      action: "conflict",
      reason: "created it since",
    },
    {
      name: "a link now",
      change: modified,
      now: (at) => symlink("elsewhere", at),
      action: "conflict",
      reason: "changed it since",
    },
    {
      name: "a folder now",
      change: modified,
      now: (at) => mkdir(at),
      action: "conflict",
      reason: "there is a folder with its name now",
    },
    {
      name: "changed between two changes",
      change: [changed("a", "old", "x"), changed("a", "theirs", "new")],
      now: (at) => writeFile(at, "new"),
      action: "conflict",
      reason: "another writer changed it between",
    },
    {
      name: "back at a version between, without an undo",
      change: [changed("a", "old", "x"), changed("a", "x", "new")],
      now: (at) => writeFile(at, "x"),
      action: "conflict",
      reason: "changed it since",
    },
    {
      name: "of an earlier version of troupe",
      change: withoutContent(modified),
      now: (at) => writeFile(at, "new"),
      action: "unkept",
      reason: "this session was recorded by an earlier version",
    },
    {
      name: "with a secret",
      change: changed("a", "old", "new", { unkept: "it contains a known secret" }),
      now: (at) => writeFile(at, "new"),
      action: "unkept",
      reason: "the content before was not kept: it contains a known secret",
    },
    {
      name: "outside of the workspace",
      change: changed("../a", "old", "new"),
      action: "conflict",
      reason: "its path leads out of the workspace",
    },
    {
      name: "with an absolute path",
      change: changed("/etc/a", "old", "new"),
      action: "conflict",
      reason: "its path leads out of the workspace",
    },
    {
      name: "a folder whose files a command's scan only counted",
      change: {
        ...changed("node_modules/", null, ""),
        after: "",
        unkept: "its files are counted, not listed: 9 created",
      },
      action: "unkept",
      reason: "its files are counted, not listed: 9 created",
    },
    {
      name: "of a content that the scan could not read",
      change: { ...changed("a", null, "x"), after: "" },
      now: (at) => writeFile(at, "x"),
      action: "conflict",
      reason: "its content after the change is not known",
    },
  ];

  for (const { name, change, now, action, reason } of rows) {
    it(`is ${name}: the whole undo is refused, unless it may be partial`, async ({ site }) => {
      await store(site, "old", "fine");
      await writeAll(site.folder, { other: "changed" });
      await now?.(join(site.folder, "a"));
      const before = await treeOf(site.folder);
      const changes = Array.isArray(change) ? change : [change];
      await site.addRun([...changes.map((each, i) => one(i + 1, each)), one(9, changed("other", "fine", "changed"))]);

      const refused = await site.undo();
      expect(refused.outcome).toBe("refused");
      const [problem] = refused.files.filter((file) => file.path !== "other");
      expect(problem).toMatchObject({ action, reason: expect.stringContaining(reason) });
      expect(await treeOf(site.folder)).toEqual(before);
      expect(await site.deps.commands()).toEqual([]);

      expect((await site.undo({ partial: true })).outcome).toBe("partial");
      expect(await treeOf(site.folder)).toEqual({ ...before, other: "644 fine" });
    });
  }

  it("is hard-linked, or its kept content is gone: it is left, and the result says so", async ({ site }) => {
    await store(site, "old");
    await writeAll(site.folder, { a: "new", b: "new" });
    await link(join(site.folder, "a"), join(site.folder, "second name"));
    await site.addRun([one(1, changed("a", "old", "new"), changed("b", "never stored", "new"))]);
    const { outcome, files } = await site.undo();
    expect(outcome).toBe("partial");
    expect(files.map(({ state, reason }) => [state, reason])).toEqual([
      ["left", expect.stringContaining("hard-linked")],
      ["left", expect.stringContaining("not in the store any more")],
    ]);
    expect(await treeOf(site.folder)).toEqual({ a: "644 new", b: "644 new", "second name": "644 new" });
  });

  it("was changed by a later run, which the reason names", async ({ site }) => {
    await store(site, "old", "new");
    await writeAll(site.folder, { a: "newer" });
    await site.addRun([one(1, changed("a", "old", "new"))]);
    await site.addRun([one(4, changed("a", "new", "newer"))], { run: sibling, agent: "coder" });
    const { files } = await site.undo({ dryRun: true });
    expect(files[0]?.reason).toBe(`coder (run ${sibling}, step 4) changed it since`);
  });

  it("is known by its name only", async ({ site }) => {
    await writeAll(site.folder, { a: "x" });
    await site.addRun([{ step: 1, tool: "theirs", outcome: { output: "", filesModified: ["a"] } }]);
    const { outcome, files } = await site.undo();
    expect([outcome, byPath(files)]).toEqual(["refused", { a: "unkept" }]);
    expect(files[0]?.reason).toContain("theirs records only the names of its files");
  });
});

describe("a run that cannot be undone", () => {
  const refusal = async (undoing: Promise<unknown>): Promise<string> => {
    const error = await undoing.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!TroupeError.is(error)) throw new Error("it was not refused", { cause: error });
    return `${error.code}: ${error.message}; ${error.fix}`;
  };

  it("is still working; a paused run whose calls have ended is not", async ({ site }) => {
    await store(site, "old");
    await writeAll(site.folder, { a: "new" });
    await site.addRun([one(1, changed("a", "old", "new"))], {}, [{ kind: "run.parked", reason: "pause" }]);
    expect(await refusal(site.undo())).toMatch(/CONFLICT: run .* is still working.*troupe cancel .* troupe pause/);
    site.rows.splice(0, 1, { ...(site.rows[0] as (typeof site.rows)[0]), exactStatus: "paused" });
    expect((await site.undo()).outcome).toBe("done");
  });

  it("has a call that has not ended, though it is paused", async ({ site }) => {
    await site.addRun([one(1, changed("a", "old", "new"))], {}, [
      { kind: "tool.started", step: 2, call: 0, tool: "shell", argsHash: "0", plan: null },
    ]);
    site.rows.splice(0, 1, { ...(site.rows[0] as (typeof site.rows)[0]), exactStatus: "paused" });
    expect(await refusal(site.undo())).toContain("its call of shell has not ended");
  });

  it("has a stopped call without an outcome: a note says that its changes are not known", async ({ site }) => {
    await store(site, "old");
    await writeAll(site.folder, { a: "new" });
    const started = { kind: "tool.started", call: 7, tool: "shell", argsHash: "0", plan: null } as const;
    await site.addRun([one(1, changed("a", "old", "new"))], {}, [
      { ...started, step: 1 },
      { ...started, step: 2 },
      settled(root),
    ]);
    site.rows.splice(0, 1, { ...(site.rows[0] as (typeof site.rows)[0]), completedAt: "2026-01-01T00:00:00.000Z" });
    const note = (step: number): string => `it is unknown what shell changed in step ${step} of main`;
    expect((await site.undo({ dryRun: true })).notes).toEqual([note(1), note(2)]);
    expect(await site.undo()).toMatchObject({ outcome: "done", notes: [note(1), note(2)] });
  });

  it("worked in a folder of its own, or on another disk", async ({ site }) => {
    const workspace = { id: "w1", path: site.folder };
    const change = one(1, changed("a", "old", "new"));
    await site.addRun([change], { workspace: { ...workspace, mode: "isolated" } });
    await site.addRun([change], { run: child, workspace: { ...workspace, mode: "worktree" } });
    await site.addRun([change], { run: sibling, workspace: { ...workspace, place: "disk-b" } });
    expect(await refusal(site.undo())).toContain("worked on its own copy of the files");
    expect(await refusal(site.undo({}, child))).toContain("are on a worktree of its own");
    site.deps.locality = "disk-a";
    expect(await refusal(site.undo({}, sibling))).toMatch(/on the disk disk-b, where the host daemon-a ran/);
  });

  it("has no folder here, no changes, or no undo to take back", async ({ site }) => {
    await site.addRun([one(1, changed("a", "old", "new"))]);
    expect(await refusal(site.undo({ step: 7 }))).toContain("no file changes in step 7 or later");
    expect(await refusal(site.undo({ paths: ["other"] }))).toContain("its files: a");
    expect(await refusal(site.undo({ redo: true }))).toContain("has no undo that can be undone");
    expect(await refusal(site.undo({ redo: true, step: 1 }))).toMatch(/^USAGE/);
    await rm(site.folder, { recursive: true });
    expect(await refusal(site.undo())).toContain("does not exist on this machine");
    await openRun(site.deps, requestOf({ session, run: child }));
    expect(await refusal(site.undo({}, "01990000-0000-7000-8000-0000000000ff"))).toMatch(/^UNKNOWN_RUN/);
  });
});
