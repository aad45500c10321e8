import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import { describe, expect, vi } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { fileTools } from "./file-tools.test-helper.ts";

const { read, write, write_local_file } = fileTools();

test("a new file is written, with the folders on its way", async ({ folder, call }) => {
  const outcome = await call(write, { path: "a/b/c.md", content: "Grüße 🎭\n" });

  const version = versionOf("Grüße 🎭\n");
  expect(outcome).toMatchObject({
    output: "Successfully wrote 9 chars to a/b/c.md",
    error: null,
    filesCreated: ["a/b/c.md"],
    filesModified: [],
    seen: [{ path: "a/b/c.md", version }],
  });
  expect(outcome.changes).toEqual([
    {
      path: "a/b/c.md",
      kind: "created",
      before: null,
      after: version,
      diff: "@@ -0,0 +1,1 @@\n+Grüße 🎭",
      diffRef: null,
      foldersMade: 2,
      linesAdded: 1,
      linesRemoved: 0,
    },
  ]);
  expect(await readFile(join(folder, "a/b/c.md"), "utf8")).toBe("Grüße 🎭\n");
});

test("a file that was read is replaced, keeps its permissions, and has a diff", async ({ folder, call }) => {
  await writeFile(join(folder, "run.sh"), "one\nold\nthree\n");
  await chmod(join(folder, "run.sh"), 0o750);
  await call(read, { path: "run.sh" });

  const outcome = await call(write, { path: "run.sh", content: "one\nnew\nthree\n" });

  expect(outcome).toMatchObject({ filesCreated: [], filesModified: ["run.sh"] });
  expect(outcome.changes).toMatchObject([
    { kind: "modified", diff: "@@ -1,3 +1,3 @@\n one\n-old\n+new\n three", linesAdded: 1, linesRemoved: 1 },
  ]);
  expect((await stat(join(folder, "run.sh"))).mode & 0o777).toBe(0o750);
});

test("a process that has the old file open still reads the old content: the file is replaced, not overwritten", async ({
  folder,
  call,
}) => {
  await writeFile(join(folder, "a.md"), "old");
  const before = await stat(join(folder, "a.md"));
  await call(read, { path: "a.md" });

  await call(write, { path: "a.md", content: "new" });

  expect((await stat(join(folder, "a.md"))).ino).not.toBe(before.ino);
});

test("write_local_file is another name for it", async ({ folder, call }) => {
  const outcome = await call(write_local_file, { path: "search_results/a.md", content: "found" });
  expect(outcome.output).toBe("Successfully wrote 5 chars to search_results/a.md");
  expect(await readFile(join(folder, "search_results/a.md"), "utf8")).toBe("found");
});

function watchOrNull(folder: string, onName: (name: string) => void): FSWatcher | null {
  try {
    return watch(folder, (_event, name) => name !== null && onName(name));
  } catch (error) {
    if (errorCodeOf(error) === "EMFILE") return null;
    throw error;
  }
}

test("no other file is left in the folder, not even of a killed call", async ({ folder, call }) => {
  const leftovers: string[] = [];
  // All processes of a user share 128 watchers, so a busy machine can have none for a while.
  const watching = await vi.waitUntil(() =>
    watchOrNull(folder, (name) => name.endsWith(".tmp") && leftovers.push(name)),
  );
  await call(write, { path: "a.md", content: "first" });
  const leftover = await vi.waitUntil(() => leftovers[0]);
  watching.close();
  await writeFile(join(folder, leftover), "half writ");
  // A lock that names a process that has gone: process numbers do not go so high.
  await symlink("troupe-lock:99999999:1:x:y", join(folder, leftover.replace(".tmp", ".lock")));
  await unlink(join(folder, leftover.replace(".tmp", ".lock")));

  const outcome = await call(write, { path: "a.md", content: "second" });

  expect(outcome.error).toBeNull();
  expect(await readdir(folder)).toEqual(["a.md"]);
});

describe("the check of an announced call", () => {
  const args = { path: "a.md", content: "Grüße" };

  test("reports not done if no byte was written, or it was not announced", async ({ plan, verify }) => {
    const announced = await plan(write, args);
    expect(announced).toEqual([{ path: "a.md", before: null, after: versionOf("Grüße") }]);
    expect(await verify(write, args, announced)).toBeNull();
    expect(await verify(write, args, null)).toBeNull();
  });

  test("reports done once the bytes are on disk, with the same result as the call", async ({ call, plan, verify }) => {
    const announced = await plan(write, args);
    const ran = await call(write, args);
    const verified = await verify(write, args, announced);

    expect(verified).toEqual({ ...ran, durationMs: verified?.durationMs });
  });

  test("has no old content of an existing file", async ({ folder, call, plan, verify }) => {
    await writeFile(join(folder, "a.md"), "before");
    await call(read, { path: "a.md" });
    const announced = await plan(write, args);
    await call(write, args);
    expect((await verify(write, args, announced))?.changes).toMatchObject([
      { kind: "modified", before: versionOf("before"), diff: expect.stringContaining("was interrupted") },
    ]);
  });

  test("reports doubt if the file has neither the old nor the new content", async ({ folder, plan, verify }) => {
    const announced = await plan(write, args);
    await writeFile(join(folder, "a.md"), "Grüsse");
    const verified = await verify(write, args, announced);
    expect(verified).toMatchObject({ inDoubt: true, error: { type: "tool_error" } });
    expect(await readFile(join(folder, "a.md"), "utf8")).toBe("Grüsse");
  });

  test("is not needed for a refused call, which is not announced", async ({ plan }) => {
    expect(await plan(write, { path: "../a.md", content: "" })).toBeNull();
    expect(await plan(write, { path: 1 })).toBeNull();
  });
});

describe("not overwritten:", () => {
  test("a link, even to a file in the workspace", async ({ folder, call }) => {
    await writeFile(join(folder, "real.md"), "old");
    await symlink("real.md", join(folder, "link.md"));

    const outcome = await call(write, { path: "link.md", content: "new" });

    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("symbolic link") });
    expect(await readFile(join(folder, "real.md"), "utf8")).toBe("old");
  });

  test("a folder", async ({ folder, call }) => {
    await mkdir(join(folder, "docs"));
    const outcome = await call(write, { path: "docs", content: "new" });
    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("is a folder") });
  });

  test("the workspace itself", async ({ call }) => {
    expect((await call(write, { path: ".", content: "new" })).error).toMatchObject({ type: "permission" });
  });
});

function versionOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}
