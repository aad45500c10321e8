import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { workspaceTest } from "../workspace.fixture.ts";
import { fileTools } from "./file-tools.test-helper.ts";

const { read, edit } = fileTools();

interface Edited {
  output: string;
  error: string | null;
  diff: string;
  text: string;
}

/** Reads a file, makes one edit, and returns the outcome. */
const test = workspaceTest.extend<{ edited: (content: string | Buffer, args: object) => Promise<Edited> }>({
  edited: async ({ folder, call }, use) => {
    await use(async (content, args) => {
      await writeFile(join(folder, "a.ts"), content);
      await call(read, { path: "a.ts" });
      const { output, error, changes } = await call(edit, { path: "a.ts", ...args });
      const text = await readFile(join(folder, "a.ts"), "latin1");
      return { output, error: error?.message ?? null, diff: changes[0]?.diff ?? "", text };
    });
  },
});

test("a text that occurs once is replaced", async ({ edited, folder }) => {
  await writeFile(join(folder, "a.ts"), "");
  await chmod(join(folder, "a.ts"), 0o750);
  const { output, text, diff } = await edited("one\ntwo\nthree\n", { old: "two", new: "2" });

  expect(text).toBe("one\n2\nthree\n");
  expect(output).toMatch(/^Edited a\.ts \(version [0-9a-f]{12}\)$/);
  expect(diff).toBe("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three");
  expect((await stat(join(folder, "a.ts"))).mode & 0o777).toBe(0o750);
});

test("all occurrences are replaced on request", async ({ edited }) => {
  expect((await edited("a b a\na\n", { old: "a", new: "aa", all: true })).text).toBe("aa b aa\naa\n");
});

describe("several edits are one change", () => {
  test("each edit sees the result of the edits before it", async ({ edited }) => {
    const edits = [
      { old: "one", new: "two" },
      { old: "two", new: "three" },
    ];
    expect((await edited("one\n", { edits })).text).toBe("three\n");
  });

  test("no edit is made if one of them fails", async ({ edited }) => {
    const edits = [
      { old: "one", new: "two" },
      { old: "missing", new: "x" },
    ];
    const { text, error } = await edited("one\n", { edits });
    expect(text).toBe("one\n");
    expect(error).toContain("(edit 2 of 2: nothing was changed): old is not in it");
  });
});

describe("line ends and encoding stay the same:", () => {
  const cases: { what: string; from: string | Buffer; args: object; to: string }[] = [
    {
      what: "a line feed of an edit stands for CRLF",
      from: "a\r\nb\r\nc\r\n",
      args: { old: "a\nb\n", new: "1\n2\n3\n" },
      to: "1\r\n2\r\n3\r\nc\r\n",
    },
    { what: "CRLF in an edit is CRLF", from: "a\r\nb\r\n", args: { old: "a\r\nb", new: "1\r\n2" }, to: "1\r\n2\r\n" },
    { what: "a new line in a CRLF file", from: "a b\r\nc", args: { old: " ", new: "\n" }, to: "a\r\nb\r\nc" },
    {
      what: "mixed line ends stay mixed",
      from: "a\r\nb\nc\r\n",
      args: { old: "a\nb\nc", new: "1\n2\n3" },
      to: "1\r\n2\n3\r\n",
    },
    { what: "LF stays LF", from: "a\nb\n", args: { old: "a", new: "1\n2" }, to: "1\n2\nb\n" },
    { what: "no line end at the end", from: "a\nb", args: { old: "b", new: "c" }, to: "a\nc" },
    {
      what: "a byte order mark",
      from: Buffer.from("\ufeffa"),
      args: { old: "a", new: "b" },
      to: Buffer.from("\ufeffb").toString("latin1"),
    },
    {
      what: "UTF-16",
      from: Buffer.from("\ufeffä", "utf16le").swap16(),
      args: { old: "ä", new: "ö" },
      to: Buffer.from("\ufeffö", "utf16le").swap16().toString("latin1"),
    },
    {
      what: "Latin-1",
      from: Buffer.from("Grüße an alle", "latin1"),
      args: { old: "ü", new: "ö" },
      to: "Größe an alle",
    },
  ];
  test.for(cases)("$what", async ({ from, args, to }, { edited }) => {
    expect(await edited(from, args)).toMatchObject({ text: to, error: null });
  });

  test("characters that the encoding lacks are refused", async ({ edited }) => {
    const { error, text } = await edited(Buffer.from("Grüße an alle", "latin1"), { old: "ü", new: "€" });
    expect(error).toContain('stored as Latin-1, which has no "€"');
    expect(text).toBe("Grüße an alle");
  });
});

describe("an impossible edit says why and changes nothing:", () => {
  const text = "function a() {\n  return 1;\n}\nfunction b() {\n  return 1;\n}\n";
  const cases: { what: string; args: object; says: RegExp }[] = [
    {
      what: "a text that occurs twice, with both places",
      args: { old: "  return 1;", new: "x" },
      says: /old is in it 2 times;.*set all:\n {2}line 2: return 1;\n {2}line 5: return 1;$/,
    },
    {
      what: "other white space, with a hint",
      args: { old: "function b() {\n    return 1;", new: "x" },
      says: /old is not in it\. Only white space differs from:\n4: function b\(\) \{\n5: {3}return 1;$/,
    },
    {
      what: "other line ends, with a hint",
      args: { old: "function b() {\r\n  return 1;", new: "x" },
      says: /Only line ends differ from:\n4: function b\(\) \{\n5: {3}return 1;$/,
    },
    {
      what: "another text, with the most similar lines",
      args: { old: "function c() {", new: "x" },
      says: /The most similar lines:\n1: function a\(\) \{$/,
    },
    { what: "a text without similar lines", args: { old: "zzz", new: "x" }, says: /No line is similar/ },
    { what: "nothing to replace", args: { old: "", new: "x" }, says: /old is empty/ },
    { what: "no change", args: { old: "a", new: "a" }, says: /old and new are the same/ },
    {
      what: "edits that revert each other",
      args: {
        edits: [
          { old: "a()", new: "c()" },
          { old: "c()", new: "a()" },
        ],
      },
      says: /the edits together have no effect/,
    },
    { what: "an incomplete edit", args: { old: "a" }, says: /give either old and new, or edits/ },
  ];
  test.for(cases)("$what", async ({ args, says }, { edited }) => {
    const outcome = await edited(text, args);
    expect(outcome.error).toMatch(says);
    expect(outcome.text).toBe(text);
  });

  test("a missing file, or a file without text", async ({ folder, call, edited }) => {
    expect((await call(edit, { path: "b.ts", old: "a", new: "b" })).error?.message).toContain("no such file");
    await writeFile(join(folder, "b.ts"), "a\0b");
    const named = { path: "b.ts", old: "a", new: "b", version: await versionOf(join(folder, "b.ts")) };
    expect((await call(edit, named)).error?.message).toContain("it is not text");
    expect((await edited("x", { old: "x", new: "y" })).error).toBeNull();
  });
});

test("a small change of a large file has a small diff, and the diff of a large change is truncated", async ({
  edited,
}) => {
  const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i} with some words in it`);
  const large = lines.join("\n");
  const small = await edited(large, { old: "line 20000 ", new: "LINE 20000 " });
  expect(small.diff.split("\n")).toHaveLength(9);
  expect(small.diff).toMatch(/^@@ -19998,7 \+19998,7 @@/);

  const whole = await edited(lines.slice(0, 5_000).join("\n"), { old: " words", new: " numbers", all: true });
  expect(Buffer.byteLength(whole.diff)).toBeLessThanOrEqual(16 * 1024);
  expect(whole.diff).toMatch(/\[truncated: 5000 lines were added and 5000 removed in total\]$/);
});

async function versionOf(path: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
