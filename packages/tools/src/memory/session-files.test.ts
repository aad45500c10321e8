import { mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashText, type SessionFiles, sessionFileBytesMax } from "@troupe/core/internal";
import { createMemoryBlobs, createSimulatedClock } from "@troupe/core/memory";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessionFiles, type SessionFilesOptions } from "./session-files.ts";
import { openWorkbenchStore, workbenchFilesMax } from "./workbench-store.ts";

const session = "00000000-0000-7000-8000-0000000000a1";
const run = "00000000-0000-7000-8000-0000000000b1";

let root: string;
let options: SessionFilesOptions;
let files: SessionFiles;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "troupe-session-files-")));
  options = {
    memoryFolder: join(root, "memory"),
    blobs: createMemoryBlobs(),
    clock: createSimulatedClock(Date.parse("2026-11-18T12:00:00.000Z")),
    workspaceOf: async (id) => (id === session ? root : null),
  };
  files = createSessionFiles(options);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const put = (name: string, text = "hello", to = session) =>
  files.put(to, { name, bytes: Buffer.from(text), by: "ada" });
const textOf = async (name: string) => Buffer.from((await files.get(session, name)).bytes).toString();
const filesIn = (folder: string) =>
  readdir(folder, { recursive: true, withFileTypes: true }).then(
    (entries) => entries.filter((entry) => entry.isFile()).length,
    () => 0,
  );

describe("the files of a session", () => {
  it("are those of people and of runs, by name", async () => {
    const of = { session, workspace: root, bytes: Buffer.from("hi") };
    await openWorkbenchStore(options).put({ ...of, name: "z" }, { run });
    const at = "2026-11-18T12:00:00.000Z";
    expect(await put("a")).toEqual({ name: "a", bytes: 5, sha256: hashText("hello"), run: null, by: "ada", at });
    expect(await files.list(session)).toEqual([
      { name: "a", bytes: 5, sha256: hashText("hello"), run: null, by: "ada", at },
      { name: "z", bytes: 2, sha256: hashText("hi"), run, by: null, at },
    ]);
    expect(await files.get(session, "z")).toMatchObject({ name: "z", sha256: hashText("hi") });
    expect(await textOf("z")).toBe("hi");
  });

  it("have the latest content under a name, whatever the name is", async () => {
    const names = ["../../x", "/etc/passwd", "..", ".", "a/../../b", "C:\\x", "~", "%00", "__proto__"];
    for (const name of names) for (const text of ["one", name]) await put(name, text);
    expect((await files.list(session)).map(({ name }) => name)).toEqual(names.toSorted());
    for (const name of names) expect(await textOf(name)).toBe(name);
    expect(await readdir(root)).toEqual(["memory"]);
  });

  it("that an earlier version listed are still listed", async () => {
    await put("old");
    const folder = join(options.memoryFolder, ...(await pathOfWorkbench()));
    const [file = ""] = await readdir(folder);
    const at = "2026-01-01T00:00:00.000Z";
    const earlier = { name: "old", ref: hashText("hello"), bytes: 5, workspace: "w", run, at };
    await writeFile(join(folder, file), JSON.stringify(earlier));
    expect(await files.list(session)).toEqual([
      { name: "old", bytes: 5, sha256: hashText("hello"), run, by: null, at },
    ]);
  });

  it("of an unknown session fail", async () => {
    const unknown = run;
    const refused = expect.objectContaining({ code: "UNKNOWN_SESSION" });
    await expect(files.list(unknown)).rejects.toThrow(refused);
    await expect(put("a", "hello", unknown)).rejects.toThrow(refused);
    await expect(files.get(unknown, "a")).rejects.toThrow(refused);
    expect(await filesIn(root)).toBe(0);
  });

  it("that are unknown, or whose content is lost, fail", async () => {
    await expect(files.get(session, "a")).rejects.toMatchObject({ code: "UNKNOWN_FILE" });
    await put("a");
    const lost = createSessionFiles({ ...options, blobs: createMemoryBlobs() });
    await expect(lost.get(session, "a")).rejects.toMatchObject({ code: "UNKNOWN_FILE" });
  });
});

describe("an upload", () => {
  it("of a file that is too large stores nothing", async () => {
    const bytes = Buffer.alloc(sessionFileBytesMax + 1);
    await expect(files.put(session, { name: "a", bytes, by: "ada" })).rejects.toMatchObject({ code: "TOO_LARGE" });
    expect(await filesIn(root)).toBe(0);
    const largest = await files.put(session, { name: "a", bytes: bytes.subarray(1), by: "ada" });
    expect(largest.bytes).toBe(sessionFileBytesMax);
  });

  it("whose content cannot be stored is not listed", async () => {
    const blobs = { get: async () => null, put: () => Promise.reject(new Error("disk full")) };
    const failing = createSessionFiles({ ...options, blobs });
    await put("a", "before");
    const replacing = failing.put(session, { name: "a", bytes: Buffer.from("after"), by: "ada" });
    await expect(replacing).rejects.toThrow("disk full");
    expect(await textOf("a")).toBe("before");
  });

  it("beyond the maximum of files is refused; a file can still be replaced", async () => {
    await put("a");
    const folder = join(options.memoryFolder, ...(await pathOfWorkbench()));
    for (let i = 1; i < workbenchFilesMax; i += 1) await writeFile(join(folder, `${i}.json`), "{}");
    await expect(put("b")).rejects.toMatchObject({ code: "LIMIT_REACHED" });
    expect(await put("a", "again")).toMatchObject({ bytes: 5, sha256: hashText("again") });
  });
});

/** The folders of the one workbench below the memory folder. */
async function pathOfWorkbench(): Promise<string[]> {
  const [kind = ""] = await readdir(options.memoryFolder);
  const [own = ""] = await readdir(join(options.memoryFolder, kind));
  return [kind, own];
}
