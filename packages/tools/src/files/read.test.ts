import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, mkdir, open, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject } from "vitest";
import { resolvePath } from "../workspace/resolve-path.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { fileTools } from "./file-tools.test-helper.ts";
import { streamLines } from "./read-lines.ts";

const { read } = fileTools();

test("a text file is returned unchanged, with its version", async ({ folder, call }) => {
  const text = "# Grüße\n\n🎭\n";
  await writeFile(join(folder, "notes.md"), text);

  const outcome = await call(read, { path: "notes.md" });

  const version = versionOf(text);
  expect(outcome).toMatchObject({ output: `${text}[version ${version.slice(0, 12)}]`, error: null });
  expect(outcome.seen).toEqual([{ path: "notes.md", version }]);
});

describe("of a file with five lines", () => {
  test.for([
    { args: {}, output: "1\n2\n3\n4\n5\n[" },
    { args: { limit: 5 }, output: "1\n2\n3\n4\n5\n[" },
    { args: { limit: 2 }, output: "1\n2\n[lines 1 to 2 of 5; continue with offset 3; " },
    { args: { offset: 3, limit: 2 }, output: "3\n4\n[lines 3 to 4 of 5; continue with offset 5; " },
    { args: { offset: 5 }, output: "5\n[lines 5 to 5 of 5; " },
  ])("$args returns its part", async ({ args, output }, { folder, call }) => {
    await writeFile(join(folder, "five.txt"), "1\n2\n3\n4\n5\n");
    const version = versionOf("1\n2\n3\n4\n5\n").slice(0, 12);
    expect((await call(read, { path: "five.txt", ...args })).output).toBe(`${output}version ${version}]`);
  });
});

test("a file behind a link is recorded under its real path", async ({ folder, call }) => {
  await mkdir(join(folder, "docs"));
  await writeFile(join(folder, "docs/a.md"), "a\n");
  await symlink("docs", join(folder, "way"));
  expect((await call(read, { path: "way/a.md" })).seen).toMatchObject([{ path: "docs/a.md" }]);
});

describe("the output keeps the stored form of a text, or a note names it:", () => {
  const cases = [
    { what: "an empty file", bytes: Buffer.from(""), output: "[file.txt is empty; version " },
    {
      what: "no line end at its end",
      bytes: Buffer.from("a\nb"),
      output: "a\nb\n[the last line has no line end; version ",
    },
    { what: "CRLF", bytes: Buffer.from("a\r\nb\r\n"), output: "a\r\nb\r\n[line ends are CRLF; version " },
    { what: "both", bytes: Buffer.from("a\r\nb\n"), output: "a\r\nb\n[line ends are mixed, LF and CRLF; version " },
    { what: "a mark", bytes: Buffer.from("\ufeffä\n"), output: "ä\n[with a byte order mark; version " },
    {
      what: "UTF-16, little end first",
      bytes: Buffer.from("\ufeffä\n", "utf16le"),
      output: "ä\n[stored as UTF-16LE; with a byte order mark; version ",
    },
    {
      what: "UTF-16, big end first",
      bytes: Buffer.from("\ufeffä\n", "utf16le").swap16(),
      output: "ä\n[stored as UTF-16BE; with a byte order mark; version ",
    },
    { what: "Latin-1", bytes: Buffer.from("Grüße\n", "latin1"), output: "Grüße\n[stored as Latin-1; version " },
  ];
  test.for(cases)("$what", async ({ bytes, output }, { folder, call }) => {
    await writeFile(join(folder, "file.txt"), bytes);
    const version = versionOf(bytes).slice(0, 12);
    expect((await call(read, { path: "file.txt" })).output).toBe(`${output}${version}]`);
  });
});

describe("a long file", () => {
  test("has a truncated line, which is shown whole when it is requested alone", async ({ folder, call }) => {
    await writeFile(join(folder, "a.json"), `short\n${"x".repeat(5_000)}\nend\n`);
    const cut = await call(read, { path: "a.json" });
    expect(cut.output).toMatch(/^short\nx{2000}\[… 3000 more characters\]\nend\n\[truncated long lines: 2; version/);
    const whole = await call(read, { path: "a.json", offset: 2, limit: 1 });
    expect(whole.output).toMatch(/^x{5000}\n\[lines 2 to 2 of 3; continue with offset 3; version/);
  });

  test("has parts that end with a line, and name the next call", async ({ folder, call }) => {
    await writeFile(join(folder, "long.txt"), `${"word ".repeat(30)}\n`.repeat(1_000));
    const { output } = await call(read, { path: "long.txt" });
    expect(output).toMatch(/word \n\[lines 1 to 317 of 1000; continue with offset 318; version \w{12}\]$/);
    expect(Buffer.byteLength(output)).toBeLessThan(64 * 1024);
  });
});

describe("a file of 10 GB", () => {
  const large = test.extend<{ path: string }>({
    path: async ({ folder }, use) => {
      await writeFile(join(folder, "large.txt"), Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}\n`).join(""));
      await truncate(join(folder, "large.txt"), 10_000_000_000);
      await use("large.txt");
    },
  });

  large("has its first lines read, in little time and memory", async ({ path, call }) => {
    const before = process.memoryUsage().rss;
    const outcome = await call(read, { path, limit: 2 });
    expect(outcome).toMatchObject({
      output:
        "line 1\nline 2\n[lines 1 to 2 of a file of 10000000000 bytes, too large for edit and write; continue with offset 3]",
      error: null,
    });
    const later = await call(read, { path, offset: 4_000, limit: 1 });
    expect(later.output).toMatch(/^line 4000\n\[lines 4000 to 4000 of/);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  large("is not looked through for ever", async ({ folder, path, call, context }) => {
    const first = (bytes: number) => `its first ${bytes} bytes have 5000 lines, and no more of it is searched`;
    await using resolved = await resolvePath(folder, path);
    if (resolved.found.kind !== "file") throw new Error("no file");
    const range = { offset: 1_000_000, limit: 1, shown: path };
    const bytesMax = 20 * 1024 ** 2;
    const reading = streamLines(resolved.found.file, range, context.signal, bytesMax);
    await expect(reading).rejects.toThrow(first(bytesMax));
    if (inject("long")) {
      expect((await call(read, { path, offset: 1_000_000 })).error?.message).toContain(first(1024 ** 3));
    }
  });

  large("says where it is not text", async ({ path, call }) => {
    expect((await call(read, { path, offset: 4_999 })).error?.message).toMatch(/binary file of 10000000000 bytes/);
  });

  large("is read to its end where that is near", async ({ folder, path, call }) => {
    await using file = await open(join(folder, path), "r+");
    await file.truncate(0);
    await appendFile(join(folder, path), "first\n");
    await appendFile(join(folder, path), `${"long ".repeat(8_000_000)}\nlast`);
    const { output } = await call(read, { path });
    expect(output).toMatch(
      /^first\n(long ){400}\[… \d+ more characters\]\nlast\n\[lines 1 to 3 of a file of 40000011 bytes/,
    );
    expect(output).not.toContain("go on");
  });
});

test("a folder is listed", async ({ folder, call }) => {
  await mkdir(join(folder, "docs/inner"), { recursive: true });
  await writeFile(join(folder, "docs/b.md"), "abc");
  expect((await call(read, { path: "docs" })).output).toBe("docs/ (2 entries)\n  b.md  3 bytes\n  inner/");
});

describe("an unreadable path says why:", () => {
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
      what: "a missing file, with the path of a file with its name",
      path: "src/router.ts",
      message: /no such file \(the folder has no "src"\); there is packages\/a\/router\.ts$/,
      make: async (folder) => {
        await mkdir(join(folder, "packages/a/node_modules"), { recursive: true });
        await writeFile(join(folder, "packages/a/router.ts"), "");
        await writeFile(join(folder, "packages/a/node_modules/router.ts"), "");
      },
    },
    {
      what: "a missing file, with several files of its name",
      path: "src/router.ts",
      message: /no such file \(the folder has no "src"\)$/,
      make: async (folder) => {
        for (const name of ["one", "two"]) {
          await mkdir(join(folder, name));
          await writeFile(join(folder, name, "router.ts"), "");
        }
      },
    },
    {
      what: "bytes that are not text",
      path: "data.bin",
      message: /it is a binary file of 4 bytes \(not text in UTF-8, UTF-16 or Latin-1\)$/,
      make: (folder) => writeFile(join(folder, "data.bin"), Buffer.from([0xc3, 0x01, 0xff, 0xfe])),
    },
    {
      what: "an image",
      path: "image.png",
      message: /it is a binary file of 8 bytes \(a PNG image\)$/,
      make: (folder) => writeFile(join(folder, "image.png"), Buffer.from("89504e470d0a1a0a", "hex")),
    },
    {
      what: "text with a NUL in it",
      path: "nul.bin",
      message: /binary/,
      make: (folder) => writeFile(join(folder, "nul.bin"), "a\0b"),
    },
    {
      what: "a pipe without a writer",
      path: "pipe",
      message: /it is a pipe, not a regular file/,
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
    {
      what: "a name that is too long",
      path: "x".repeat(300),
      message: /the name is too long/,
      make: async () => {},
    },
  ];

  test.for(cases)("$what", async ({ path, message, make }, { folder, call }) => {
    await make(folder);
    const outcome = await call(read, { path, offset: path === "short.txt" ? 9 : 1 });
    expect(outcome.error).toMatchObject({ type: "params", tool: "read", recoverable: false });
    expect(outcome.error?.message).toMatch(message);
    expect(outcome.error?.message).not.toContain(folder);
  });
});

function versionOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
