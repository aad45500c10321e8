import { execFileSync } from "node:child_process";
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { readTool } from "./read.ts";

test("a text file is read as it is", async ({ folder, call }) => {
  await writeFile(join(folder, "notes.md"), "# Grüße\n\n🎭\n");

  const outcome = await call(readTool, { path: "notes.md" });

  expect(outcome).toMatchObject({ output: "# Grüße\n\n🎭\n", error: null });
});

describe("of a file with five lines", () => {
  test.for([
    { args: {}, output: "1\n2\n3\n4\n5\n" },
    { args: { limit: 5 }, output: "1\n2\n3\n4\n5\n" },
    { args: { limit: 2 }, output: "1\n2\n[lines 1 to 2 of 5; go on with offset 3]" },
    { args: { offset: 3, limit: 2 }, output: "3\n4\n[lines 3 to 4 of 5; go on with offset 5]" },
    { args: { offset: 5 }, output: "5\n[lines 5 to 5 of 5]" },
  ])("$args gives its part", async ({ args, output }, { folder, call }) => {
    await writeFile(join(folder, "five.txt"), "1\n2\n3\n4\n5\n");
    expect((await call(readTool, { path: "five.txt", ...args })).output).toBe(output);
  });
});

test("an empty file is said to be empty", async ({ folder, call }) => {
  await writeFile(join(folder, "empty.txt"), "");
  expect((await call(readTool, { path: "empty.txt" })).output).toBe("[empty.txt is empty]");
});

describe("what cannot be read says why:", () => {
  const cases: { what: string; path: string; message: RegExp; make: (folder: string) => Promise<unknown> }[] = [
    {
      what: "a missing file, with the nearest names",
      path: "docs/raedme.md",
      message: /no such file; the nearest names are: docs\/README\.md$/,
      make: async (folder) => {
        await mkdir(join(folder, "docs"));
        await writeFile(join(folder, "docs", "README.md"), "");
        await writeFile(join(folder, "docs", "unlike-anything-asked-for.txt"), "");
      },
    },
    {
      what: "a missing folder",
      path: "nowhere/a.md",
      message: /no such file$/,
      make: async () => {},
    },
    {
      what: "bytes that are not UTF-8",
      path: "latin1.txt",
      message: /binary/,
      make: (folder) => writeFile(join(folder, "latin1.txt"), Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])),
    },
    {
      what: "text with a NUL in it",
      path: "nul.bin",
      message: /binary/,
      make: (folder) => writeFile(join(folder, "nul.bin"), "a\0b"),
    },
    {
      what: "a folder, with what it has in it",
      path: "docs",
      message: /is a folder; it has in it: a\.md, b\.md$/,
      make: async (folder) => {
        await mkdir(join(folder, "docs"));
        await writeFile(join(folder, "docs", "b.md"), "");
        await writeFile(join(folder, "docs", "a.md"), "");
      },
    },
    {
      what: "a file that is too large, with what to do",
      path: "large.txt",
      message: /10000000000 bytes are over the 4194304.*shell/,
      make: async (folder) => {
        await writeFile(join(folder, "large.txt"), "");
        await truncate(join(folder, "large.txt"), 10_000_000_000);
      },
    },
    {
      what: "a pipe that nobody writes to",
      path: "pipe",
      message: /not a regular file/,
      make: async (folder) => execFileSync("mkfifo", [join(folder, "pipe")]),
    },
    {
      what: "a line after the last one",
      path: "short.txt",
      message: /has 1 lines, so there is no line 9$/,
      make: (folder) => writeFile(join(folder, "short.txt"), "one\n"),
    },
    {
      what: "a path through a file",
      path: "short.txt/a.md",
      message: /a part of the path is a file/,
      make: (folder) => writeFile(join(folder, "short.txt"), "one\n"),
    },
  ];

  test.for(cases)("$what", async ({ path, message, make }, { folder, call }) => {
    await make(folder);
    const outcome = await call(readTool, { path, offset: path === "short.txt" ? 9 : 1 });
    expect(outcome.error).toMatchObject({ type: "params", tool: "read", recoverable: false });
    expect(outcome.error?.message).toMatch(message);
    expect(outcome.error?.message).not.toContain(folder);
  });
});
