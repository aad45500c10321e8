import { mkdir, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { searchTest as test } from "./search.fixture.ts";

test("files are found by their paths, the newest first", async ({ folder, put, glob }) => {
  await put({ "src/old.ts": "", "src/deep/new.ts": "", "src/notes.md": "" });
  await utimes(join(folder, "src/old.ts"), 1_000, 1_000);
  await utimes(join(folder, "src/deep/new.ts"), 2_000, 2_000);

  const outcome = await glob({ pattern: "src/**/*.ts" });

  expect(outcome).toMatchObject({
    error: null,
    output: "src/deep/new.ts\nsrc/old.ts\n[2 of 2 files, newest first]",
  });
});

test("files with the same time are sorted by path, up to the limit", async ({ folder, put, glob }) => {
  const names = ["b", "a", "d", "c"];
  await put(Object.fromEntries(names.map((name) => [`${name}.txt`, ""])));
  for (const name of names) await utimes(join(folder, `${name}.txt`), 1_000, 1_000);

  expect((await glob({ pattern: "*.txt", limit: 3 })).output).toBe(
    "a.txt\nb.txt\nc.txt\n[3 of 4 files, newest first; narrow the pattern, or raise limit]",
  );
});

test("a pattern is relative to the path", async ({ folder, put, glob }) => {
  await put({ "a/x.ts": "", "a/b/x.ts": "", "b/x.ts": "" });

  expect((await glob({ pattern: "*.ts", path: "a" })).output).toContain("a/x.ts\n[1 of 1");
  expect((await glob({ pattern: `${folder}/b/*` })).output).toContain("b/x.ts\n[1 of 1");
});

test("hidden files are found, ignored ones only on request, the repository's own never", async ({ put, glob }) => {
  await put({
    ".gitignore": "*.log\nnode_modules/\n",
    ".github/ci.yml": "",
    "debug.log": "",
    "node_modules/a/index.js": "",
    ".git/HEAD": "",
    "sub/.git/HEAD": "",
  });

  expect((await glob({ pattern: "**/*" })).output).toMatch(/^(\.gitignore|\.github\/ci\.yml)\n[^\n]+\n\[2 of 2 /);
  const all = (await glob({ pattern: "**/*", ignored: true })).output;
  expect(all).toContain("node_modules/a/index.js");
  expect(all).toContain("debug.log");
  expect(all).not.toContain(".git/HEAD");
});

test("a link is not a file and is not followed", async ({ folder, put, glob }) => {
  await put({ "inside/a.ts": "", "outside/secret.ts": "" });
  await symlink("../outside", join(folder, "inside/link"));
  await symlink("../outside/secret.ts", join(folder, "inside/link.ts"));

  const { output } = await glob({ pattern: "**/*" }, { workspace: join(folder, "inside") });

  expect(output).toBe("a.ts\n[1 of 1 files, newest first]");
});

test("names that do not fit on one line are quoted", async ({ folder, glob, put }) => {
  await put({ "a\nb.txt": "" });
  expect((await glob({ pattern: "*.txt" })).output).toContain('"a\\nb.txt"\n[1 of 1');
  expect(folder).toBeTruthy();
});

describe("a pattern without a match gets a suggestion:", () => {
  test.for([
    { args: { pattern: "*.ts" }, says: "no file matches *.ts; **/*.ts matches 2 files" },
    { args: { pattern: "src/Main.ts" }, says: "no file matches src/Main.ts; 1 file would match if case were ignored" },
    { args: { pattern: "src" }, says: "no file matches src; src/** matches 2 files" },
    { args: { pattern: "sr?/" }, says: "no file matches sr?/; sr?/** matches 2 files" },
    {
      args: { pattern: "out/*.js" },
      says: "no file matches out/*.js; 1 file that .gitignore excludes would match: set ignored",
    },
    { args: { pattern: "*.py", path: "src" }, says: "no file matches *.py in src" },
    {
      args: { pattern: "*", path: "empty", ignored: true },
      says: "no file matches * in empty: there are no files at all",
    },
  ])("$args.pattern", async ({ args, says }, { folder, put, glob }) => {
    await put({ ".gitignore": "out", "src/main.ts": "", "src/other.ts": "", "out/main.js": "" });
    await mkdir(join(folder, "empty"));
    const { output, error } = await glob(args);
    expect(error).toBeNull();
    expect(output).toContain(says);
  });
});

describe("an invalid search says why:", () => {
  test.for([
    { args: { pattern: "[a" }, type: "params", message: /never closed/ },
    { args: { pattern: "{a,b" }, type: "params", message: /never closed/ },
    { args: { pattern: "" }, type: "params", message: /pattern/ },
    { args: { pattern: "a\0b" }, type: "params", message: /NUL/ },
    { args: { pattern: "x".repeat(100_000) }, type: "params", message: /pattern/ },
    { args: { pattern: "../*" }, type: "permission", message: /leads out of the workspace/ },
    { args: { pattern: "/etc/*" }, type: "permission", message: /leads out of the workspace/ },
    { args: { pattern: "*", path: "../" }, type: "permission", message: /not a path in the workspace/ },
    {
      args: { pattern: "*", path: "scr" },
      type: "params",
      message: /no such file or folder; the nearest names are: src$/,
    },
  ])("$args", async ({ args, type, message }, { put, glob }) => {
    await put({ "src/a.ts": "" });
    const { error } = await glob(args);
    expect(error).toMatchObject({ type, tool: "glob" });
    expect(error?.message).toMatch(message);
  });
});
