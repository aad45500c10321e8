import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ToolOutcome } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import { describe, expect } from "vitest";
import { workspaceTest } from "../workspace.fixture.ts";
import { fileTools } from "./file-tools.test-helper.ts";

const { read, apply_patch } = fileTools();

type Files = Record<string, string>;

/** Reads files, applies a patch to them, and returns the outcome with the new files. */
const test = workspaceTest.extend<{
  patched: (files: Files, patch: string) => Promise<ToolOutcome & { files: Files }>;
}>({
  patched: async ({ folder, call }, use) => {
    await use(async (files, patch) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
        await call(read, { path });
      }
      const outcome = await call(apply_patch, { patch });
      return { ...outcome, files: await filesIn(folder) };
    });
  },
});

const five = "1\n2\n3\n4\n5\n";

const marked = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

describe("a patch is applied:", () => {
  const cases: { what: string; files: Files; patch: string; result: Files }[] = [
    {
      what: "a unified difference",
      files: { "a.txt": five },
      patch:
        "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n",
      result: { "a.txt": "1\n2\nthree\n4\n5\n" },
    },
    {
      what: "two hunks, the second moved by the first",
      files: { "a.txt": five },
      patch: "--- a.txt\n+++ a.txt\n@@ -1,1 +1,3 @@\n 1\n+1a\n+1b\n@@ -5,1 +7,1 @@\n-5\n+five\n",
      result: { "a.txt": "1\n1a\n1b\n2\n3\n4\nfive\n" },
    },
    {
      what: "wrong counts in its heads, as models write them",
      files: { "a.txt": five },
      patch: "--- a.txt\n+++ a.txt\n@@ -2,9 +2,1 @@\n 2\n-3\n+three\n",
      result: { "a.txt": "1\n2\nthree\n4\n5\n" },
    },
    {
      what: "files that come and go",
      files: { "old.txt": "x\n" },
      patch:
        "--- /dev/null\n+++ b/docs/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
      result: { "docs/new.txt": "a\nb\n" },
    },
    {
      what: "the marked form, with several files",
      files: { "a.txt": five, "b.txt": "x\n", "c.txt": "c\n" },
      patch: marked(
        "*** Update File: a.txt",
        "@@",
        " 2",
        "-3",
        "+three",
        "*** Delete File: b.txt",
        "*** Add File: d/e.txt",
        "+new",
        "*** Update File: c.txt",
        "*** Move to: moved.txt",
        "-c",
        "+C",
      ),
      result: { "a.txt": "1\n2\nthree\n4\n5\n", "d/e.txt": "new\n", "moved.txt": "C\n" },
    },
    {
      what: "a place that is found by the line before it",
      files: { "a.ts": "class A {\n  x = 1;\n}\nclass B {\n  x = 1;\n}\n" },
      patch: marked("*** Update File: a.ts", "@@ class B {", "-  x = 1;", "+  x = 2;"),
      result: { "a.ts": "class A {\n  x = 1;\n}\nclass B {\n  x = 2;\n}\n" },
    },
    {
      what: "the end of a file",
      files: { "a.txt": "x\ny\nx\n" },
      patch: marked("*** Update File: a.txt", "@@", "-x", "+z", "*** End of File"),
      result: { "a.txt": "x\ny\nz\n" },
    },
    {
      what: "CRLF, which stays",
      files: { "a.txt": "1\r\n2\r\n3\r\n" },
      patch: "--- a.txt\n+++ a.txt\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+more\n 3\n",
      result: { "a.txt": "1\r\ntwo\r\nmore\r\n3\r\n" },
    },
    {
      what: "a last line without a line end",
      files: { "a.txt": "1\n2" },
      patch: "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+two\n",
      result: { "a.txt": "1\ntwo\n" },
    },
    {
      what: "a removed line end",
      files: { "a.txt": "1\n2\n" },
      patch: "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n\\ No newline at end of file\n",
      result: { "a.txt": "1\ntwo" },
    },
  ];
  test.for(cases)("$what", async ({ files, patch, result }, { patched }) => {
    const outcome = await patched(files, patch);
    expect(outcome.error).toBeNull();
    expect(outcome.files).toEqual(result);
  });
});

test("each file is listed, with a note about a moved place", async ({ patched }) => {
  const patch = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n 4\n-5\n+five\n--- /dev/null\n+++ n.txt\n@@ -0,0 +1 @@\n+n\n";
  const outcome = await patched({ "a.txt": five }, patch);
  expect(outcome.output).toMatch(
    /^Applied the patch:\nM a\.txt \(version \w{12}\)\nA n\.txt \(version \w{12}\)\nhunk 1 of a\.txt was 3 lines from the line that the patch gives$/,
  );
  expect(outcome).toMatchObject({ filesCreated: ["n.txt"], filesModified: ["a.txt"] });
  expect(outcome.changes.map(({ kind, linesAdded, linesRemoved }) => [kind, linesAdded, linesRemoved])).toEqual([
    ["modified", 1, 1],
    ["created", 1, 0],
  ]);
});

describe("no file is changed, and the error has the reason, when", () => {
  const good = ["*** Update File: a.txt", "@@", "-3", "+three"];
  const cases: { what: string; patch: string; says: RegExp }[] = [
    {
      what: "a hunk of another file does not match",
      patch: marked(...good, "*** Update File: b.txt", "@@", " x", "-yy", "+z"),
      says: /hunk 1 of 1 of b\.txt does not apply: its old lines are not in the file\.\nIts old lines:\nx\nyy\nThe most similar lines:\n1: x\n2: y$/,
    },
    {
      what: "old lines occur more than once",
      patch: marked("*** Update File: c.txt", "@@", "-x", "+y"),
      says: /its old lines occur 2 times, at lines 1, 3; give more of them/,
    },
    {
      what: "an added file already exists",
      patch: marked("*** Add File: a.txt", "+x"),
      says: /is already there/,
    },
    {
      what: "the target of a move already exists",
      patch: marked("*** Update File: a.txt", "*** Move to: b.txt", "-1", "+2"),
      says: /the file already exists/,
    },
    {
      what: "a file is missing",
      patch: marked(...good, "*** Delete File: none.txt"),
      says: /none\.txt does not exist/,
    },
    { what: "a file is named twice", patch: marked(...good, ...good), says: /a\.txt is named twice/ },
    { what: "a path leads outside", patch: marked(...good, "*** Add File: ../x.txt", "+x"), says: /it has \.\. in it/ },
    { what: "the patch is empty", patch: "just words", says: /it names no file/ },
    {
      what: "the line before a hunk is missing",
      patch: marked("*** Update File: a.txt", "@@ none", "-1", "+2"),
      says: /the line after @@ is not in the file: "none"/,
    },
    {
      what: "a line does not belong to a patch",
      patch: marked("*** Update File: a.txt", "@@", "1", "+2"),
      says: /line 4 must start with a space, - or \+/,
    },
  ];
  test.for(cases)("$what", async ({ patch, says }, { patched }) => {
    const files = { "a.txt": five, "b.txt": "x\ny\n", "c.txt": "x\ny\nx\n" };
    const outcome = await patched(files, patch);
    expect(outcome.error?.message).toMatch(says);
    expect(outcome.files).toEqual(files);
  });
});

describe("a patch that was interrupted between two files", () => {
  const patch = marked("*** Update File: a.txt", "@@", "-1", "+one", "*** Update File: b.txt", "@@", "-x", "+y");

  test("is finished", async ({ folder, call, plan, verify }) => {
    const announced = await begun(folder, { call, plan });
    await writeFile(join(folder, "a.txt"), "one\n2\n");
    const verified = await verify(fileTools().apply_patch, { patch }, announced);
    expect(verified).toMatchObject({ error: null, inDoubt: false, filesModified: ["a.txt", "b.txt"] });
    expect(await filesIn(folder)).toEqual({ "a.txt": "one\n2\n", "b.txt": "y\n" });
  });

  test("is in doubt if the rest has changed since", async ({ folder, call, plan, verify }) => {
    const announced = await begun(folder, { call, plan });
    await writeFile(join(folder, "a.txt"), "one\n2\n");
    await writeFile(join(folder, "b.txt"), "other\n");
    const verified = await verify(fileTools().apply_patch, { patch }, announced);
    expect(verified).toMatchObject({ inDoubt: true });
    expect(verified?.output).toContain("b.txt has neither its old nor its planned content");
    expect(await filesIn(folder)).toEqual({ "a.txt": "one\n2\n", "b.txt": "other\n" });
  });

  test("has not started when all files are unchanged, and leftovers of a killed try are removed", async ({
    folder,
    call,
    plan,
    verify,
  }) => {
    const announced = await begun(folder, { call, plan });
    const { createHash } = await import("node:crypto");
    const id = createHash("sha256").update("a.txt").digest("hex").slice(0, 24);
    await writeFile(join(folder, `.troupe-${id}.tmp`), "half");
    expect(await verify(fileTools().apply_patch, { patch }, announced)).toBeNull();
    expect(await readdir(folder)).toEqual(["a.txt", "b.txt"]);
  });

  async function begun(
    folder: string,
    {
      call,
      plan,
    }: {
      call: (tool: Tool, args: unknown) => Promise<ToolOutcome>;
      plan: (tool: Tool, args: unknown) => Promise<FilePlan[] | null>;
    },
  ): Promise<FilePlan[] | null> {
    await writeFile(join(folder, "a.txt"), "1\n2\n");
    await writeFile(join(folder, "b.txt"), "x\n");
    for (const path of ["a.txt", "b.txt"]) await call(read, { path });
    return await plan(apply_patch, { patch });
  }
});

async function filesIn(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(
    paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, "utf8")]),
  );
  return Object.fromEntries(contents);
}
