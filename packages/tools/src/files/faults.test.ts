// A failed write leaves the old content and no other files.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtempDisposable, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test as base, expect } from "vitest";

const helper = fileURLToPath(new URL("unprivileged-write.test-helper.ts", import.meta.url));

interface Written {
  folder: string;
  /** The output of each write, by its path. */
  outputs: Readonly<Record<string, string>>;
}

const test = base.extend<{ written: Written }>({
  written: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
    async ({}, use) => {
      await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-faults-"));
      await chmod(made.path, 0o777);
      for (const name of ["full", "closed", "open"]) {
        await mkdir(join(made.path, name));
        await writeFile(join(made.path, name, "a.md"), "old");
        await chmod(join(made.path, name), 0o777);
        await chmod(join(made.path, name, "a.md"), 0o666);
      }
      await chmod(join(made.path, "closed"), 0o555);
      const writes = { "full/a.md": 2_000_000, "closed/a.md": 3, "closed/new/b.md": 3, "open/a.md": 3 };
      await use({ folder: made.path, outputs: JSON.parse(runWrites(made.path, writes)) });
      await chmod(join(made.path, "closed"), 0o755);
    },
    { scope: "file" },
  ],
});

/** Writes in one process, without root and with a limit to the file size, in blocks of 512 bytes. */
function runWrites(folder: string, bytesOf: Readonly<Record<string, number>>): string {
  // With the signal ignored, a write over the limit fails as one on a full disk does.
  const script = `trap '' XFSZ; ulimit -f 100; exec "$@"`;
  const args = ["-c", script, "sh", process.execPath, helper, folder, JSON.stringify(bytesOf)];
  return execFileSync("/bin/sh", args).toString();
}

test("without disk space, the old content stays and no temporary file is left", async ({ written }) => {
  const { folder, outputs } = written;
  expect(outputs["full/a.md"]).toBe(
    "full/a.md: there is no room for it on this machine's disk (EFBIG); nothing was changed",
  );
  expect(await readFile(join(folder, "full/a.md"), "utf8")).toBe("old");
  expect(await readdir(join(folder, "full"))).toEqual(["a.md"]);
});

test("a folder without write permission gives an error", async ({ written }) => {
  const { folder, outputs } = written;
  expect(outputs["closed/a.md"]).toBe("closed/a.md: this machine does not allow it (EACCES)");
  expect(outputs["closed/new/b.md"]).toBe("closed/new/b.md: this machine does not allow it (EACCES)");
  expect(await readdir(join(folder, "closed"))).toEqual(["a.md"]);
});

test("without a fault, the same call writes the file", async ({ written }) => {
  expect(written.outputs["open/a.md"]).toBe("Successfully wrote 3 chars to open/a.md");
});
