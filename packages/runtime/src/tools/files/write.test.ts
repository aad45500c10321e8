import { watch } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { writeTool } from "./write.ts";

test("a new file is written, with the folders on its way", async ({ folder, call }) => {
  const outcome = await call(writeTool, { path: "a/b/c.md", content: "Grüße 🎭" });

  expect(outcome).toMatchObject({
    output: "Successfully wrote 8 chars to a/b/c.md",
    error: null,
    filesCreated: ["a/b/c.md"],
    filesModified: [],
  });
  expect(await readFile(join(folder, "a/b/c.md"), "utf8")).toBe("Grüße 🎭");
});

test("a file that was there is replaced and keeps its permissions", async ({ folder, call }) => {
  await writeFile(join(folder, "run.sh"), "old");
  await chmod(join(folder, "run.sh"), 0o750);

  const outcome = await call(writeTool, { path: "run.sh", content: "new" });

  expect(outcome).toMatchObject({ filesCreated: [], filesModified: ["run.sh"] });
  expect(await readFile(join(folder, "run.sh"), "utf8")).toBe("new");
  expect((await stat(join(folder, "run.sh"))).mode & 0o777).toBe(0o750);
});

test("whoever has the old file open goes on reading the old one: it is replaced, not overwritten", async ({
  folder,
  call,
}) => {
  await writeFile(join(folder, "a.md"), "old");
  const before = await stat(join(folder, "a.md"));

  await call(writeTool, { path: "a.md", content: "new" });

  expect((await stat(join(folder, "a.md"))).ino).not.toBe(before.ino);
});

test("nothing else is left in the folder, not even by a try that was killed half-way", async ({ folder, call }) => {
  const leftovers: string[] = [];
  const watching = watch(folder, (_event, name) => name?.endsWith(".tmp") && leftovers.push(name));
  await call(writeTool, { path: "a.md", content: "first" });
  const leftover = await vi.waitUntil(() => leftovers[0]);
  watching.close();
  await writeFile(join(folder, leftover), "half writ");

  const outcome = await call(writeTool, { path: "a.md", content: "second" });

  expect(outcome.error).toBeNull();
  expect(await readdir(folder)).toEqual(["a.md"]);
});

describe("verify", () => {
  const args = { path: "a.md", content: "Grüße" };

  test("says nothing happened where nothing did", async ({ verify }) => {
    expect(await verify(writeTool, args)).toBeNull();
  });

  test("says nothing happened where the file has other bytes", async ({ folder, verify }) => {
    await writeFile(join(folder, "a.md"), "Grüsse");
    expect(await verify(writeTool, args)).toBeNull();
  });

  test("says what the call itself said, once the bytes are there", async ({ call, verify }) => {
    const ran = await call(writeTool, args);
    const verified = await verify(writeTool, args);

    expect(verified).toEqual({
      ...ran,
      filesCreated: [],
      filesModified: ["a.md"],
      durationMs: verified?.durationMs,
    });
  });

  test("says nothing happened for a call that will be refused", async ({ verify }) => {
    expect(await verify(writeTool, { path: "../a.md", content: "" })).toBeNull();
    expect(await verify(writeTool, { path: 1 })).toBeNull();
  });
});

describe("what is not written over:", () => {
  test("a link, even to a file in the workspace", async ({ folder, call }) => {
    await writeFile(join(folder, "real.md"), "old");
    await symlink("real.md", join(folder, "link.md"));

    const outcome = await call(writeTool, { path: "link.md", content: "new" });

    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("symbolic link") });
    expect(await readFile(join(folder, "real.md"), "utf8")).toBe("old");
  });

  test("a folder", async ({ folder, call }) => {
    await mkdir(join(folder, "docs"));
    const outcome = await call(writeTool, { path: "docs", content: "new" });
    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("is a folder") });
  });

  test("the workspace itself", async ({ call }) => {
    expect((await call(writeTool, { path: ".", content: "new" })).error).toMatchObject({ type: "permission" });
  });
});
