import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileRestorer } from "@troupe/core";
import { type FileRestoration, NotRestoredError } from "@troupe/core/internal";
import { createMemoryBlobs } from "@troupe/core/memory";
import { describe, expect } from "vitest";
import { versionOf } from "../workspace/file-version.ts";
import { hideFolder } from "../workspace/hidden-folders.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createFileRestorer } from "./file-restorer.ts";

const blobs = createMemoryBlobs();
const restorer: FileRestorer = createFileRestorer({ blobs });
const version = (text: string): string => versionOf(Buffer.from(text));

/** The restoration of a stored text over the current one. */
async function toText(path: string, text: string, expected: string | null, more: Partial<FileRestoration> = {}) {
  const ref = await blobs.put(Buffer.from(text));
  const now = expected === null ? null : version(expected);
  const restoration: FileRestoration = { path, expected: now, version: ref, ref, type: "file", mode: null };
  return { ...restoration, ...more };
}

const refused = (reason: string) =>
  expect.objectContaining({ name: "NotRestored", message: expect.stringContaining(reason) });

describe("a file", () => {
  test("changed between the plan and the restore stays as it is", async ({ folder }) => {
    await writeFile(join(folder, "a"), "saved by an editor");
    await expect(restorer.restore(folder, await toText("a", "old", "new"))).rejects.toEqual(
      refused("changed meanwhile"),
    );
    const deletion = { ...(await toText("a", "old", "new")), version: null };
    await expect(restorer.restore(folder, deletion)).rejects.toEqual(refused("changed meanwhile"));
    expect(await readFile(join(folder, "a"), "utf8")).toBe("saved by an editor");
    expect(await readdir(folder)).toEqual(["a"]);
  });

  test("gets no content that is not its old version", async ({ folder }) => {
    await writeFile(join(folder, "a"), "new");
    const other = await blobs.put(Buffer.from("of another file"));
    const restoration = { ...(await toText("a", "old", "new")), ref: other };
    await expect(restorer.restore(folder, restoration)).rejects.toBeInstanceOf(NotRestoredError);
    expect(await readFile(join(folder, "a"), "utf8")).toBe("new");
  });

  test("gets its bits, and keeps them where they are not known", async ({ folder }) => {
    for (const name of ["exact", "private"]) await writeFile(join(folder, name), "new");
    await chmod(join(folder, "private"), 0o600);
    await restorer.restore(folder, await toText("exact", "old", "new", { mode: 0o640 }));
    await restorer.restore(folder, await toText("private", "old", "new", { type: "executable" }));
    const modes = await Promise.all(
      ["exact", "private"].map(async (name) => (await lstat(join(folder, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o640, 0o700]);
  });

  test("at a link replaces the link, and not the file that it leads to", async ({ folder }) => {
    await writeFile(join(folder, "target"), "untouched");
    await symlink("target", join(folder, "a"));
    await restorer.restore(folder, await toText("a", "old", "target"));
    expect([await readFile(join(folder, "a"), "utf8"), await readFile(join(folder, "target"), "utf8")]).toEqual([
      "old",
      "untouched",
    ]);
    await restorer.restore(folder, await toText("a", "target", "old", { type: "link" }));
    expect(await readlink(join(folder, "a"))).toBe("target");
  });

  test("below a link, or in troupe's own folder, is refused", async ({ folder }) => {
    await mkdir(join(folder, "elsewhere"));
    await symlink("elsewhere", join(folder, "link"));
    await mkdir(join(folder, "home"));
    const show = await hideFolder(join(folder, "home"));
    try {
      await expect(restorer.restore(folder, await toText("link/a", "old", null))).rejects.toEqual(
        refused("link is not a folder"),
      );
      await expect(restorer.restore(folder, await toText("home/a", "old", null))).rejects.toEqual(
        refused("troupe's own folder"),
      );
      const [state] = await restorer.inspect(folder, ["home/a"]);
      expect(state?.refusal).toContain("troupe's own folder");
    } finally {
      show();
    }
    expect(await readdir(join(folder, "elsewhere"))).toEqual([]);
    expect(await readdir(join(folder, "home"))).toEqual([]);
  });
});

test("only empty folders are removed, the innermost first, and no link", async ({ folder }) => {
  await mkdir(join(folder, "a", "b"), { recursive: true });
  await mkdir(join(folder, "full"));
  await writeFile(join(folder, "full", "file"), "");
  await symlink("full", join(folder, "link"));
  await restorer.removeEmptyFolders(folder, ["a", "a/b", "full", "link", "missing", "missing/too"]);
  expect((await readdir(folder)).sort()).toEqual(["full", "link"]);
});
