// A failed write leaves the old content and no other files.
import { execFileSync } from "node:child_process";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";

const helper = fileURLToPath(new URL("unprivileged-write.test-helper.ts", import.meta.url));

/** Runs in its own process, without root and with a limit to the file size, in blocks of 512 bytes. */
function runWrite(folder: string, given: { bytes: number; blocks: string; path?: string }): string {
  const { bytes, blocks, path = "a.md" } = given;
  // With the signal ignored, a write over the limit fails as one on a full disk does.
  const script = `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`;
  const args = ["-c", script, "sh", process.execPath, helper, folder, path, String(bytes)];
  return execFileSync("/bin/sh", args).toString();
}

test("without disk space, the old content stays and no temporary file is left", async ({ folder }) => {
  await chmod(folder, 0o777);
  await writeFile(join(folder, "a.md"), "old", { mode: 0o666 });

  const output = runWrite(folder, { bytes: 2_000_000, blocks: "100" });

  expect(output).toBe("a.md: there is no room for it on this machine's disk (EFBIG); nothing was changed");
  expect(await readFile(join(folder, "a.md"), "utf8")).toBe("old");
  expect(await readdir(folder)).toEqual(["a.md"]);
});

test("a folder without write permission gives an error", async ({ folder }) => {
  await writeFile(join(folder, "a.md"), "old");
  await chmod(folder, 0o555);
  try {
    expect(runWrite(folder, { bytes: 3, blocks: "unlimited" })).toBe("a.md: this machine does not allow it (EACCES)");
    expect(runWrite(folder, { bytes: 3, blocks: "unlimited", path: "new/b.md" })).toBe(
      "new/b.md: this machine does not allow it (EACCES)",
    );
    expect(await readdir(folder)).toEqual(["a.md"]);
  } finally {
    await chmod(folder, 0o755);
  }
});

test("without a fault, the same call writes the file", async ({ folder }) => {
  await chmod(folder, 0o777);
  await writeFile(join(folder, "a.md"), "old", { mode: 0o666 });
  expect(runWrite(folder, { bytes: 3, blocks: "unlimited" })).toBe("Successfully wrote 3 chars to a.md");
});
