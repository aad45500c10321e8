import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { changeFiles, type FileTarget } from "./change-files.ts";
import { versionOf } from "./file-version.ts";
import { resolvePath } from "./resolve-path.ts";

const { signal } = new AbortController();

async function target(folder: string, path: string, before: string | null, after: string | null): Promise<FileTarget> {
  const place = await resolvePath(folder, path);
  return {
    path: place,
    before: before === null ? null : versionOf(Buffer.from(before)),
    after: after === null ? null : Buffer.from(after),
  };
}

test("files are changed, created and deleted as one", async ({ folder }) => {
  await writeFile(join(folder, "a"), "1");
  await writeFile(join(folder, "b"), "2");
  const targets = [
    await target(folder, "a", "1", "one"),
    await target(folder, "b", "2", null),
    await target(folder, "deep/c", null, "3"),
  ];
  await changeFiles(targets, { signal });
  expect(await readFile(join(folder, "a"), "utf8")).toBe("one");
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(["a", "deep", "deep/c"]);
});

test("if one rename fails, the earlier ones are reverted, and no temporary file is left", async ({ folder }) => {
  await writeFile(join(folder, "a"), "1");
  await writeFile(join(folder, "z"), "2");
  const [changed, made, failing] = [
    await target(folder, "a", "1", "one"),
    await target(folder, "new/b", null, "b"),
    await target(folder, "z", "2", "two"),
  ];
  let looks = 0;
  // The disk fails at the rename of the last file, after its new content was written.
  const broken = async (): Promise<void> => {
    looks += 1;
    if (looks > 1) throw Object.assign(new Error("EIO"), { code: "EIO" });
  };
  const last = { ...failing, path: { ...failing.path, folder: { ...failing.path.folder, recheck: broken } } };

  await expect(changeFiles([changed, made, last], { signal })).rejects.toThrow("the file system says EIO");

  expect(looks).toBe(2);
  expect(await readFile(join(folder, "a"), "utf8")).toBe("1");
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(["a", "z"]);
});

test("a call that is cancelled while it waits for the lock changes nothing", async ({ folder }) => {
  const abort = new AbortController();
  const changing = changeFiles([await target(folder, "a", null, "1")], { signal: abort.signal });
  abort.abort();
  await expect(changing).rejects.toThrow("cancelled before anything was changed");
  expect(await readdir(folder)).toEqual([]);
});
