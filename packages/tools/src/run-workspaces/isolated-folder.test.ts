/** A run's own folder: a host that takes over the run restores it from the journal, or the run is lost. */
import { chmod, readdir, readFile, readlink, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunFailure } from "@troupe/core";
import { protocolVersion, type RunFolder } from "@troupe/core/internal";
import { describe, expect } from "vitest";
import { putList } from "./file-list.ts";
import { put, requestFor, foldersTest as test } from "./run-folders.fixture.ts";
import { folderBounds } from "./scan-folder.ts";

const request = requestFor({ mode: "isolated" });
const begun = { journaled: null, isResumed: false };
const call = { key: "1/0" };

async function refOf(folder: RunFolder): Promise<string> {
  const saved = await folder.callEnded(call);
  if (!saved?.folderRef) throw new Error("nothing was kept");
  return saved.folderRef;
}

function failureOf(promise: Promise<unknown>): Promise<RunFailure["runError"]> {
  return promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: RunFailure) => error.runError,
  );
}

describe("another host", () => {
  test("rebuilds the folder as it was after the newest call", async ({ disk }) => {
    const first = await disk("a").open(request, begun);
    await put(first.path, { "a.txt": "one", "src/b.txt": "two", "gone.txt": "x" });
    await refOf(first);
    await put(first.path, { "a.txt": "one and more" });
    await rm(join(first.path, "gone.txt"));
    await chmod(join(first.path, "src/b.txt"), 0o755);
    await symlink("a.txt", join(first.path, "link"));
    const journaled = await refOf(first);

    const second = await disk("b").open(request, { journaled, isResumed: true });
    expect(second.path).not.toBe(first.path);
    expect(await readFile(join(second.path, "a.txt"), "utf8")).toBe("one and more");
    expect((await stat(join(second.path, "src/b.txt"))).mode & 0o111).not.toBe(0);
    expect(await readlink(join(second.path, "link"))).toBe("a.txt");
    await expect(stat(join(second.path, "gone.txt"))).rejects.toThrow("ENOENT");
    expect(await second.callEnded(call)).toBeNull();
  });

  test("writes no file below a link, which a list of another machine could name", async ({ disk, blobs }) => {
    const outside = (await disk("outside").open(requestFor({ mode: "isolated" }), begun)).path;
    const version = await blobs.put(Buffer.from("evil"));
    const files = [
      { path: "a", version: "0", link: outside },
      { path: "a/made", version },
    ];
    const journaled = await putList(blobs, { v: protocolVersion, files, unlisted: 0 });

    const failed = await failureOf(disk("b").open(request, { journaled, isResumed: true }));

    expect(failed).toMatchObject({ type: "workspace_lost", message: expect.stringContaining("a/made") });
    expect(await readdir(outside)).toEqual([]);
  });

  test("cannot restore a file without its content: the run is lost, and the error names the file", async ({
    disk,
    blobs,
  }) => {
    const first = await disk("a").open(request, begun);
    await put(first.path, { "a.txt": "one", "b.txt": "two" });
    const journaled = await refOf(first);
    const version = (await blobs.get(journaled).then((bytes) => JSON.parse(Buffer.from(bytes ?? []).toString())))
      .files[1];
    const without = {
      ...blobs,
      get: async (hash: string) => (hash === version.version ? null : await blobs.get(hash)),
    };
    const damaged = {
      ...blobs,
      get: async (hash: string) => (hash === version.version ? Buffer.from("other") : await blobs.get(hash)),
    };
    for (const store of [without, damaged]) {
      const error = await failureOf(disk("b", { blobs: store }).open(request, { journaled, isResumed: true }));
      expect(error).toMatchObject({ type: "workspace_lost" });
      expect(error.message).toMatch(/^b\.txt cannot be had/);
    }
  });

  test("waits if the store cannot be reached: the run is not lost", async ({ disk, blobs }) => {
    const first = await disk("a").open(request, begun);
    await put(first.path, { "a.txt": "one" });
    const journaled = await refOf(first);
    const away = { ...blobs, get: () => Promise.reject(new Error("no connection")) };
    await expect(disk("b", { blobs: away }).open(request, { journaled, isResumed: true })).rejects.toThrow(
      "no connection",
    );
  });
});

describe("the same host", () => {
  test("restores the journaled files, and removes files that a killed call left", async ({ disk }) => {
    const host = disk("a");
    const first = await host.open(request, begun);
    await put(first.path, { "a.txt": "one", "b.txt": "two" });
    const journaled = await refOf(first);
    await put(first.path, { "a.txt": "half", "c/d.txt": "more" });
    await rm(join(first.path, "b.txt"));
    const again = await host.open(request, { journaled, isResumed: true });
    expect(await readFile(join(again.path, "a.txt"), "utf8")).toBe("one");
    expect(await readFile(join(again.path, "b.txt"), "utf8")).toBe("two");
    await expect(stat(join(again.path, "c"))).rejects.toThrow("ENOENT");
  });

  test("removes a run's folder once it has settled, and leftovers at its start", async ({ disk }) => {
    const host = disk("a");
    const [one, other] = [
      requestFor({ mode: "isolated" }),
      requestFor({ mode: "isolated" }, "0198a000-0000-7000-8000-0000000000cc"),
    ];
    const folders = [await host.open(one, begun), await host.open(other, begun)];
    await host.remove(one);
    await expect(stat(folders[0]?.path ?? "")).rejects.toThrow("ENOENT");
    await host.removeLeftovers(async () => false);
    await stat(folders[1]?.path ?? "");
    await host.removeLeftovers(async ({ run }) => run === other.run);
    await expect(stat(folders[1]?.path ?? "")).rejects.toThrow("ENOENT");
  });
});

describe("changes of files by calls", () => {
  test("are recorded with their diffs, each change by one call", async ({ disk }) => {
    const folder = await disk("a").open(request, begun);
    await put(folder.path, { "a.txt": "one\n", "b.txt": "x\n", ".git/objects/12": "z", "c.txt": "y" });
    await folder.callEnded(call);
    await put(folder.path, { "a.txt": "two\n", "new.txt": "n\n", ".git/objects/34": "z", "c.txt": "planned" });
    await rm(join(folder.path, "b.txt"));
    await folder.callStarted({
      key: "1/1",
      planned: [{ path: "c.txt", before: null, after: "x" }],
      listsChanges: true,
    });
    const saved = await folder.callEnded(call);
    expect(
      saved?.changes.map(({ path, kind, linesAdded, linesRemoved }) => [path, kind, linesAdded, linesRemoved]),
    ).toEqual([
      ["a.txt", "modified", 1, 1],
      ["b.txt", "deleted", 0, 1],
      ["new.txt", "created", 1, 0],
    ]);
    expect(saved?.changes[0]?.diff).toContain("+two");
    expect(await folder.callEnded({ key: "1/1" })).toBeNull();
  });

  test("returns the files that the run made or changed, by reference", async ({ disk, blobs }) => {
    const host = disk("a");
    await put(join((await host.open(requestFor({ mode: "isolated" }, session2), begun)).path), {});
    const parent = await host.open(requestFor({ mode: "isolated" }, session2), begun);
    await put(parent.path, { "given.txt": "g", "same.txt": "s" });
    const files = await host.snapshotFiles(parent.path, ["given.txt", "same.txt"]);
    const child = requestFor({ mode: "isolated", files });
    const folder = await host.open(child, begun);
    expect(await readFile(join(folder.path, "given.txt"), "utf8")).toBe("g");
    await put(folder.path, { "given.txt": "changed", "own.txt": "o" });
    const journaled = await refOf(folder);
    const { artifacts, warnings } = await host.finish(child, { journaled });
    expect(artifacts.map(({ name }) => name)).toEqual(["given.txt", "own.txt"]);
    expect(Buffer.from((await blobs.get(artifacts[0]?.ref ?? "")) ?? []).toString()).toBe("changed");
    expect(warnings).toEqual([]);
    expect(await host.finish(child, { journaled: null })).toEqual({ artifacts: [], warnings: [] });
  });
});

const session2 = "0198a000-0000-7000-8000-0000000000dd";

describe("limits", () => {
  test("a file that is too large stays on its machine: it is reported, and lost elsewhere", async ({ disk }) => {
    const host = disk("a");
    const folder = await host.open(request, begun);
    await writeFile(join(folder.path, "big"), "");
    await truncate(join(folder.path, "big"), folderBounds.fileBytesMax + 1);
    const saved = await folder.callEnded(call);
    expect(saved?.note).toMatch(/not kept for other machines: big \(its \d+ bytes are over/);
    const facts = { journaled: saved?.folderRef ?? "", isResumed: true };
    expect((await failureOf(disk("b").open(request, facts))).message).toMatch(/^big was not kept/);
    await host.open(request, facts);
    await stat(join(folder.path, "big"));
    expect((await host.finish(request, facts)).warnings.join()).toContain("big (its");
  });

  test("files beyond the listed number stay on their machine as well", async ({ disk }) => {
    const few = { bounds: { ...folderBounds, filesMax: 2 } };
    const folder = await disk("a", few).open(request, begun);
    await put(folder.path, { "1": "", "2": "", "3": "", "4": "" });
    const saved = await folder.callEnded(call);
    expect(saved?.note).toContain("2 files beyond");
    const facts = { journaled: saved?.folderRef ?? "", isResumed: true };
    expect(await failureOf(disk("b", few).open(request, facts))).toMatchObject({ type: "workspace_lost" });
    const again = await disk("a", few).open(request, facts);
    await stat(join(again.path, "4"));
  });

  test("a file with a secret stays as well, because its stored content differs", async ({ disk, blobs }) => {
    const redacting = {
      ...blobs,
      put: (bytes: Uint8Array) => blobs.put(Buffer.from(Buffer.from(bytes).toString().replaceAll("sk-1", "***"))),
    };
    const folder = await disk("a", { blobs: redacting }).open(request, begun);
    await put(folder.path, { "key.txt": "sk-1", "a.txt": "a" });
    const saved = await folder.callEnded(call);
    expect(saved?.note).toContain("key.txt (it contains a known secret)");
    const facts = { journaled: saved?.folderRef ?? "", isResumed: true };
    expect((await failureOf(disk("b").open(request, facts))).message).toMatch(/^key\.txt was not kept/);
    const again = await disk("a").open(request, facts);
    expect(await readFile(join(again.path, "key.txt"), "utf8")).toBe("sk-1");
  });
});

test("a link out of the folder is kept as a link, and not followed", async ({ disk, root }) => {
  const outside = join(root, "outside");
  await put(outside, { "secret.txt": "s" });
  const first = await disk("a").open(request, begun);
  await symlink(outside, join(first.path, "out"));
  const saved = await first.callEnded(call);
  expect(saved?.changes.map(({ path, diff }) => [path, diff.includes("secret")])).toEqual([["out", false]]);
  const second = await disk("b").open(request, { journaled: saved?.folderRef ?? "", isResumed: true });
  expect(await readlink(join(second.path, "out"))).toBe(outside);
});
