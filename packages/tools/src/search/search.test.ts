import { chmod, mkdir, readdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Json } from "@troupe/core";
import { canonicalCall } from "@troupe/core/internal";
import { describe, expect, inject } from "vitest";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { createSearchTools } from "./create-search-tools.ts";
import { granted, named, searchTest as test } from "./search.fixture.ts";

const poem = "one\ntwo\nthree\nfour\nfive\nsix\n";

describe("the content of files", () => {
  test("is found with line numbers, grouped by file, in the order of the paths", async ({ put, search }) => {
    await put({ "b/poem.txt": poem, "a/poem.txt": poem, "c.txt": "nothing\n" });

    const outcome = await search({ pattern: "^t" });

    expect(outcome.error).toBeNull();
    expect(outcome.output).toBe(
      "a/poem.txt\n  2: two\n  3: three\nb/poem.txt\n  2: two\n  3: three\n[4 matching lines in 2 files]",
    );
  });

  test("is found in the same way in the best sandbox of the machine", async ({ put, call }) => {
    await put({ "b/poem.txt": poem, ".git/poem.txt": poem });
    const tools = createSearchTools({ sandbox: await createSandbox() });
    const { output } = await call(named(tools, "search"), { pattern: "^t" }, granted);
    expect(output).toBe("b/poem.txt\n  2: two\n  3: three\n[2 matching lines in 1 file]");
    expect((await call(named(tools, "glob"), { pattern: "**/*" }, granted)).output).toContain("b/poem.txt");
  });

  test("is shown with context", async ({ put, search }) => {
    await put({ "poem.txt": poem });
    expect((await search({ pattern: "one|five", context: 1 })).output).toBe(
      "poem.txt\n  1: one\n  2- two\n  …\n  4- four\n  5: five\n  6- six\n[2 matching lines in 1 file]",
    );
  });

  test("can be searched for as plain text, without case, and over lines", async ({ put, search }) => {
    await put({ "a.txt": "f(x)\nF(X)\nend\n" });
    expect((await search({ pattern: "f(x)", literal: true })).output).toContain("  1: f(x)\n[1 matching");
    expect((await search({ pattern: "f(x)", literal: true, ignoreCase: true })).output).toContain("  2: F(X)\n[2 ");
    expect((await search({ pattern: "F\\(X\\)\\nend" })).output).toContain("  2: F(X)\n  3: end\n");
    expect((await search({ pattern: "F(X)\nend", literal: true })).output).toContain("  2: F(X)\n  3: end\n");
  });

  test("is searched only in the requested files", async ({ put, search }) => {
    await put({ "src/a.ts": "x", "src/deep/b.ts": "x", "src/c.md": "x", "test/d.ts": "x", "e.ts": "x" });
    const files = async (args: object): Promise<string> =>
      (await search({ pattern: "x", mode: "files", ...args })).output.replace(/\n\[.*/s, "").replaceAll("\n", " ");

    expect(await files({ path: "src" })).toBe("src/a.ts src/c.md src/deep/b.ts");
    expect(await files({ path: "e.ts" })).toBe("e.ts");
    expect(await files({ glob: "*.ts" })).toBe("e.ts src/a.ts src/deep/b.ts test/d.ts");
    expect(await files({ glob: "{src,test}/*.{ts,md}" })).toBe("src/a.ts src/c.md test/d.ts");
    expect(await files({ glob: "**/[ab].ts" })).toBe("src/a.ts src/deep/b.ts");
    expect(await files({ glob: "deep/**", path: "src" })).toBe("src/deep/b.ts");
    expect(await files({ type: "md" })).toBe("src/c.md");
    expect(await files({ type: "ts", glob: "*.md" })).toContain("nothing matches");
    expect(await files({ type: "ts", path: "src", glob: "a.*" })).toBe("src/a.ts");
  });

  test("can be counted", async ({ put, search }) => {
    await put({ "a.txt": "x\nx\n", "b.txt": "x x\n" });
    expect((await search({ pattern: "x", mode: "count" })).output).toBe(
      "a.txt: 2\nb.txt: 1\n[2 files] [3 matching lines]",
    );
  });
});

test("matches over the limit are counted, with a hint to narrow the search", async ({ put, search }) => {
  const many = "x\n".repeat(50);
  await put({ "a.txt": many, "b.txt": many, "c.txt": many, "d.txt": many });

  const { output } = await search({ pattern: "x", limit: 30 });
  expect(output).toMatch(/^a\.txt\n( {2}\d+: x\n){20} {2}\[30 more in this file\]\nb\.txt\n( {2}\d+: x\n){10}/);
  expect(output).toMatch(/\n\[30 of 200 matching lines in 4 files; narrow it with path, glob, type/);
  expect((await search({ pattern: "x", path: "a.txt", limit: 30 })).output).toMatch(/( {2}\d+: x\n){30} {2}\[20 more/);
  expect((await search({ pattern: "x", mode: "files", limit: 3 })).output).toMatch(/c\.txt\n\[3 of 4 files; narrow/);
});

test("a long line is cut to the part around its match", async ({ put, search }) => {
  await put({ "min.js": `first\n${"ä".repeat(5_000)}needle${"ö".repeat(5_000)}\nlast\n` });

  const { output } = await search({ pattern: "needle", context: 1 });

  expect(output).toMatch(/^min\.js\n {2}1- first\n {2}2: …ä{40,50}needleö{100,150}…\n {2}3- last\n\[1 matching/);
});

test("the arguments of grep calls are accepted", async ({ put, search }) => {
  await put({ "a.ts": "One\ntwo\n", "b.md": "one\n" });
  const grep = async (args: Record<string, Json>): Promise<string> => {
    const call = canonicalCall(
      { id: "1", name: "Grep", args: { pattern: "one", ...args }, problem: null },
      () => false,
    );
    expect(call).toMatchObject({ name: "search", problem: null });
    return (await search(call.args)).output;
  };
  expect(await grep({ "-i": true, "-n": true, "-A": 1, output_mode: "content", glob: "*.ts" })).toBe(
    "a.ts\n  1: One\n  2- two\n[1 matching lines in 1 file]",
  );
  expect(await grep({ type: "md", head_limit: 5, multiline: false })).toBe("b.md\n[1 file]");
  expect(await grep({ output_mode: "count", "-C": 99 })).toContain("b.md: 1\n");
});

describe("no argument is parsed as an option:", () => {
  const texts = [
    "--pre=touch PWNED",
    "-e",
    "--files",
    "--",
    "-f/etc/passwd",
    "$(touch PWNED)",
    "`touch PWNED`",
    "; ls",
  ];
  // An option with a value, the end of the options, an option with a path, and a line of a shell.
  const typical = ["--pre=touch PWNED", "--", "-f/etc/passwd", "$(touch PWNED)"];
  test.for(inject("long") ? texts : typical)("%s", async (text, { folder, put, search, glob }) => {
    await put({ "a.txt": `${text}\n`, [`-v${text.replaceAll("/", "_")}/x.txt`]: "y\n" });
    const { output } = await search({ pattern: text, literal: true });
    expect(output).toContain(`a.txt\n  1: ${text}\n[1 matching lines in 1 file]`);
    expect((await search({ pattern: "y", path: `-v${text.replaceAll("/", "_")}` })).output).toContain("  1: y");
    await search({ pattern: "y", glob: text });
    await glob({ pattern: text });
    expect(await readdir(folder)).not.toContain("PWNED");
  });

  test("a type", async ({ put, search }) => {
    await put({ "a.txt": "y\n" });
    for (const type of ["x;y", "-x"])
      expect((await search({ pattern: "y", type })).error).toMatchObject({ type: "params" });
  });
});

describe("not searched:", () => {
  test("links, ignored files and the repository's own files", async ({ folder, put, search }) => {
    await put({
      "secret.txt": "SECRET",
      "inside/.gitignore": "*.log",
      "inside/a.log": "SECRET",
      "inside/.git/config": "SECRET",
      "inside/.ripgreprc": "--no-ignore",
    });
    const workspace = join(folder, "inside");
    await symlink("../secret.txt", join(workspace, "link"));
    await symlink("..", join(workspace, "up"));

    expect((await search({ pattern: "SECRET" }, { workspace })).output).toBe(
      'nothing matches "SECRET"; try ignoreCase; ignored, for files that .gitignore excludes',
    );
    expect((await search({ pattern: "SECRET", glob: "**/*" }, { workspace })).output).toContain("nothing matches");
    expect((await search({ pattern: "SECRET", path: "up" }, { workspace })).error?.type).toBe("permission");
    expect((await search({ pattern: "SECRET", path: "link" }, { workspace })).error?.type).toBe("permission");
    expect((await search({ pattern: "SECRET", ignored: true }, { workspace })).output).toBe(
      "a.log\n  1: SECRET\n[1 matching lines in 1 file]",
    );
  });

  test("binary files, which are named, and 10 GB of zeros", { timeout: 20_000 }, async ({ folder, put, search }) => {
    await put({ "a.txt": "needle\n", "b.bin": "needle\0", "huge.dat": "needle\n" });
    await truncate(join(folder, "huge.dat"), 10_000_000_000);

    expect((await search({ pattern: "needle" })).output).toBe(
      "a.txt\n  1: needle\nb.bin\n  [a binary file with a match]\n[2 matching lines in 2 files]",
    );
    expect((await search({ pattern: "needle", path: "huge.dat" })).error?.message).toMatch(
      /10000000000 bytes are over/,
    );
  });

  test("folders without read permission, with a note", async ({ folder, put, search }) => {
    await put({ "a.txt": "needle\n", "closed/b.txt": "needle\n" });
    await chmod(join(folder, "closed"), 0);
    const { output, error } = await search({ pattern: "needle" });
    await chmod(join(folder, "closed"), 0o700);

    expect(error).toBeNull();
    expect(output).toContain("a.txt\n  1: needle\n");
    // The user who runs the tests may have permission to read everything.
    expect(output).toMatch(/\nclosed\/b\.txt\n|\[could not be read: closed: Permission denied\]/);
  });
});

test("bytes and names that are not UTF-8 are found", async ({ folder, put, search }) => {
  await put({ "latin.txt": Buffer.from("Gr\xfc\xdfe needle\n", "latin1") });
  const name = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from("n\xfc.txt", "latin1")]);
  await writeFile(name, "needle\n");

  const { output } = await search({ pattern: "needle" });

  expect(output).toContain("latin.txt\n  1: Gr\uFFFD\uFFFDe needle\n");
  expect(output).toContain("n\uFFFD.txt\n  [its name is not UTF-8 on one line");
});

describe("an invalid search says why, in one line:", () => {
  test.for([
    { args: { pattern: "" }, message: /pattern/ },
    { args: { pattern: "a\0b" }, message: /NUL/ },
    { args: { pattern: "x".repeat(100_000) }, message: /pattern/ },
    { args: { pattern: "f(" }, message: /"f\(" cannot be searched for: unclosed group; set literal for plain text/ },
    { args: { pattern: "a(?=b)" }, message: /look-around.* is not supported/ },
    { args: { pattern: "a{1000}{1000}{1000}" }, message: /size limit/ },
    { args: { pattern: "a", type: "klingon" }, message: /type is unknown: unrecognized file type: klingon; use glob/ },
    { args: { pattern: "a", glob: "[a" }, message: /never closed/ },
    { args: { pattern: "a", path: "a.tx" }, message: /no such file or folder; the nearest names are: a\.txt$/ },
    { args: { pattern: "a", path: "a.txt/b" }, message: /a part of the path is a file/ },
  ])("$args", async ({ args, message }, { put, search }) => {
    await put({ "a.txt": "a\n" });
    const { error } = await search(args);
    expect(error).toMatchObject({ type: "params", tool: "search" });
    expect(error?.message).toMatch(message);
    expect(error?.message).not.toContain("\n");
  });
});

test("a pattern that makes other engines backtrack forever gets a result", { timeout: 20_000 }, async ({
  put,
  search,
}) => {
  await put({ "a.txt": `${"a".repeat(100_000)}b\n` });
  expect((await search({ pattern: "(a+)+$" })).error).toBeNull();
  expect((await search({ pattern: "(a|a)*c", multiline: true })).error).toBeNull();
});

test("an empty folder and a folder of empty files have no match", async ({ folder, put, search }) => {
  await mkdir(join(folder, "empty"));
  expect((await search({ pattern: "x", path: "empty" })).output).toMatch(/^nothing matches "x" in empty; try /);
  await put({ "empty/a": "" });
  expect((await search({ pattern: "^$", path: "empty" })).output).toMatch(/^nothing matches/);
});
