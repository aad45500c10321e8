/**
 * Changes by commands in a workspace that they share with a person. Each test is a way to lose or change a file that
 * no file tool reports, run as a real process.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Blobs } from "@troupe/core";
import type { FolderChanges, RunFolder } from "@troupe/core/internal";
import { beforeEach, describe, expect, onTestFinished } from "vitest";
import { foldersTest, git, makeRepository, put, requestFor } from "../run-workspaces/run-folders.fixture.ts";
import { hideFolder } from "../workspace/hidden-folders.ts";

const begun = { journaled: null, isResumed: false };

/** Maps a.txt into memory, and lets the kernel read three bytes from a pipe into that memory. */
const [mmapCall, readCall] = process.arch === "x64" ? [9, 0] : [222, 63];
const mappedWrite = `perl -e 'open F, "+<", "a.txt"; $at = syscall(${mmapCall}, 0, 4096, 3, 1, fileno(F), 0); pipe R, W; syswrite W, "mmm"; syscall(${readCall}, fileno(R), $at, 3) == 3 or die'`;

interface Place {
  folder: RunFolder;
  workspace: string;
}

let calls = 0;
beforeEach(() => {
  calls = 0;
});

/** Runs a shell line as a call of a run, and returns the changes that were found. */
async function runLine({ folder, workspace }: Place, line: string): Promise<FolderChanges> {
  calls += 1;
  const key = `${calls}/0`;
  await folder.callStarted({ key, planned: [], listsChanges: false });
  execFileSync("/bin/sh", ["-c", line], { cwd: workspace });
  return (await folder.callEnded({ key })) ?? { changes: [], note: "" };
}

const test = foldersTest.extend<{ place: Place }>({
  place: async ({ root, disk }, use) => {
    const workspace = join(root, "workspace");
    await mkdir(workspace);
    await put(workspace, { "a.txt": "one\n", "src/b.txt": "two\n", "src/c.txt": "three\n" });
    await use({ workspace, folder: await disk("here").open(requestFor({ path: workspace }), begun) });
  },
});

/** Kind, path and content before of each change. */
async function summaryOf({ changes }: FolderChanges, blobs: Blobs) {
  const texts = await Promise.all(
    changes.map(async ({ beforeRef }) =>
      beforeRef ? Buffer.from((await blobs.get(beforeRef)) ?? "").toString() : null,
    ),
  );
  return changes.map(({ kind, path }, i) => [kind, path, texts[i]]);
}

describe("in a shared workspace", () => {
  test("rm -rf of files that git does not know is listed, with their contents", async ({ place, blobs }) => {
    const found = await runLine(place, "rm -rf src");
    expect(await summaryOf(found, blobs)).toEqual([
      ["deleted", "src/b.txt", "two\n"],
      ["deleted", "src/c.txt", "three\n"],
    ]);
    expect(found.note).toBe("[changed while this command ran: deleted: src/b.txt, src/c.txt.]");
    expect(found.changes[0]?.diff).toContain("-two");
  });

  test.for([
    ["a redirection", "echo more > a.txt"],
    ["sed in place", "sed -i s/one/more/ a.txt"],
    ["perl in place", "perl -pi -e s/one/more/ a.txt"],
    ["a time set back", "echo more > a.txt; touch -d 2001-01-01 a.txt"],
    ["its old time and size restored", "touch -r a.txt t; printf 'new\\n' > a.txt; touch -r t a.txt; rm t"],
    ["a copy moved over it", "echo more > b.txt; mv b.txt a.txt"],
    ["a write to mapped memory", mappedWrite],
  ])("an overwritten file is listed: %s", async ([, line = ""], { place, blobs }) => {
    const found = await runLine(place, line);
    expect(await summaryOf(found, blobs)).toEqual([["modified", "a.txt", "one\n"]]);
    const now = await readFile(join(place.workspace, "a.txt"));
    expect(found.changes[0]).toMatchObject({ after: createHash("sha256").update(now).digest("hex"), linesRemoved: 1 });
  });

  test("a moved file is deleted at one place and created at the other", async ({ place, blobs }) => {
    const found = await runLine(place, "mv a.txt z.txt");
    expect(await summaryOf(found, blobs)).toEqual([
      ["deleted", "a.txt", "one\n"],
      ["created", "z.txt", null],
    ]);
  });

  test("a file that is written with the same content is not listed", async ({ place }) => {
    expect(await runLine(place, "echo one > a.txt; touch src/b.txt")).toEqual({ changes: [], note: "" });
  });

  test("a file that becomes executable is listed, with its old mode", async ({ place }) => {
    const made = await runLine(place, "chmod +x a.txt");
    expect(made.changes).toMatchObject([
      { kind: "modified", path: "a.txt", diff: "[a plain file became an executable file]" },
    ]);
    const back = await runLine(place, "chmod -x a.txt");
    expect(back.changes).toMatchObject([{ typeBefore: "executable" }]);
  });

  test("a private file is listed with its old mode", async ({ place }) => {
    await chmod(join(place.workspace, "a.txt"), 0o600);
    const found = await runLine(place, "rm a.txt src/b.txt");
    expect(found.changes.map(({ modeBefore }) => modeBefore)).toEqual([0o600, undefined]);
  });

  test("a file that is replaced by a folder, a link or a pipe is listed", async ({ place, blobs }) => {
    const found = await runLine(
      place,
      "rm a.txt src/*.txt; mkdir a.txt; echo x > a.txt/in; ln -s /etc/passwd src/b.txt; mkfifo src/c.txt",
    );
    expect(await summaryOf(found, blobs)).toEqual([
      ["deleted", "a.txt", "one\n"],
      ["created", "a.txt/in", null],
      ["modified", "src/b.txt", "two\n"],
      ["modified", "src/c.txt", "three\n"],
    ]);
  });

  test("a link is followed nowhere: neither its target nor a folder behind it is read", async ({
    place,
    root,
    blobs,
  }) => {
    await put(join(root, "outside"), { "secret.txt": "not yours\n" });
    await symlink(join(root, "outside", "secret.txt"), join(place.workspace, "link"));
    const found = await runLine(place, `rm -rf src link; ln -s ../outside src; echo changed > ../outside/secret.txt`);
    expect(await summaryOf(found, blobs)).toEqual([
      ["deleted", "link", join(root, "outside", "secret.txt")],
      ["created", "src", null],
      ["deleted", "src/b.txt", "two\n"],
      ["deleted", "src/c.txt", "three\n"],
    ]);
    expect(found.changes[0]).toMatchObject({ typeBefore: "link" });
    expect(JSON.stringify(found)).not.toContain("not yours");
  });

  test("names with line ends and names that are not UTF-8 are listed", async ({ place }) => {
    const found = await runLine(
      place,
      `printf x > "$(printf 'two\\nlines')"; printf x > "$(printf 'caf\\351')"; printf x > 'größe'`,
    );
    expect(found.changes.map(({ path }) => path)).toEqual(["caf\\xe9", "größe", "two\nlines"]);
    const gone = await runLine(place, `rm "$(printf 'caf\\351')"`);
    expect(gone.changes).toMatchObject([{ kind: "deleted", unkept: "its name is not UTF-8" }]);
  });

  test("files of folders that programs fill are counted, except hooks that run later", async ({ place }) => {
    await put(place.workspace, { "node_modules/x/1.js": "", "node_modules/x/2.js": "", "web/node_modules/3.js": "" });
    const found = await runLine(
      place,
      "rm -rf node_modules; touch web/node_modules/4.js; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
    );
    expect(found.changes).toMatchObject([
      { path: ".git/hooks/pre-commit", runsLater: expect.any(String) },
      { path: "node_modules/", kind: "deleted", unkept: expect.stringContaining("2 files deleted") },
      { path: "web/node_modules/", kind: "modified" },
    ]);
    expect(found.note).toContain("node_modules/ (2 files deleted)");
  });

  test("a change by another program before the command is not attributed to it", async ({ place }) => {
    await runLine(place, "true");
    await writeFile(join(place.workspace, "mine.txt"), "by a person");
    await rm(join(place.workspace, "src", "b.txt"));
    expect((await runLine(place, "echo x > a.txt")).changes.map(({ path }) => path)).toEqual(["a.txt"]);
  });

  test("a file that a file tool changes meanwhile is not attributed to the command, unless the command changed it again", async ({
    place: { folder, workspace },
  }) => {
    const after = createHash("sha256").update("by the tool").digest("hex");
    const planned = ["a.txt", "src/b.txt"].map((path) => ({ path, before: null, after }));
    await folder.callStarted({ key: "1/0", planned: [], listsChanges: false });
    await folder.callStarted({ key: "1/1", planned, listsChanges: true });
    for (const { path } of planned) await writeFile(join(workspace, path), "by the tool");
    expect(await folder.callEnded({ key: "1/1" })).toBeNull();
    await rm(join(workspace, "src", "b.txt"));
    const found = await folder.callEnded({ key: "1/0" });
    expect(found?.changes.map(({ kind, path }) => [kind, path])).toEqual([["deleted", "src/b.txt"]]);
  });

  test("the home of troupe in a workspace is neither listed nor copied", async ({ root, disk, blobs }) => {
    const workspace = join(root, "workspace");
    await put(workspace, { "home/token": "a key\n", "homework.txt": "mine\n" });
    const show = await hideFolder(join(workspace, "home"));
    onTestFinished(show);
    const folder = await disk("workspace").open(requestFor({ path: workspace }), begun);
    const found = await runLine({ folder, workspace }, "rm home/token homework.txt");
    expect(await summaryOf(found, blobs)).toEqual([["deleted", "homework.txt", "mine\n"]]);
    const copies = await readdir(join(workspace, "runs", "kept"), { recursive: true, withFileTypes: true });
    const texts = copies
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), "utf8"));
    expect((await Promise.all(texts)).some((text) => text.includes("a key"))).toBe(false);
  });

  test("commands that run at the same time report each change once, and say that it may be another's", async ({
    place: { folder, workspace },
    disk,
  }) => {
    const first = { key: "1/0", planned: [], listsChanges: false };
    await folder.callStarted(first);
    await folder.callStarted({ ...first, key: "1/1" });
    await rm(join(workspace, "a.txt"));
    const found = await folder.callEnded(first);
    expect(found?.changes).toHaveLength(1);
    expect(found?.note).toContain("Other commands ran at the same time");
    expect(await folder.callEnded({ key: "1/1" })).toBeNull();
    expect(disk).toBeDefined();
  });
});

describe("contents from before a command", () => {
  test("the content of a tracked file comes from git, and is not copied", async ({ place, root, blobs }) => {
    await makeRepository(place.workspace, { "a.txt": "one\n" });
    // Git does not trust files that are as new as its index.
    git(place.workspace, "update-index", "--refresh");
    const found = await runLine(place, "rm -rf src; echo x >> a.txt");
    expect(await summaryOf(found, blobs)).toEqual([
      ["modified", "a.txt", "one\n"],
      ["deleted", "src/b.txt", "two\n"],
      ["deleted", "src/c.txt", "three\n"],
    ]);
    expect(root).toBeDefined();
  });

  test("an index that a command has forged does not decide what is kept", async ({ place, blobs }) => {
    await makeRepository(place.workspace, { "a.txt": "one\n" });
    await runLine(place, "true");
    // The index says then that git has the content of a.txt, and names the object of another text.
    const forge = "BEGIN { ($own, $other) = map { pack 'H*', $_ } splice @ARGV, 0, 2 } s/\\Q$own\\E/$other/";
    const line = `printf mine > a.txt; sleep 0.02; git add a.txt; perl -0777 -pi -e "$FORGE" $(git hash-object a.txt) $(printf evil | git hash-object -w --stdin) .git/index`;
    await runLine(place, `FORGE='${forge.replaceAll("'", "'\\''")}'; ${line}`);
    expect(git(place.workspace, "cat-file", "blob", ":a.txt")).toBe("evil");
    const found = await runLine(place, "rm a.txt");
    expect(await summaryOf(found, blobs)).toEqual([["deleted", "a.txt", "mine"]]);
  });

  test("a file over the limit is named before the command and in its outcome", async ({ root, disk }) => {
    const workspace = join(root, "workspace");
    await put(workspace, { "big.bin": "x".repeat(100), "small.txt": "s" });
    const folder = await disk("here", { keep: { fileBytesMax: 50 } }).open(requestFor({ path: workspace }), begun);
    const reason = "its 100 bytes are over the 50 of one file";
    expect(await folder.describeUnkept()).toContain(`big.bin (${reason})`);
    const unkept = await folder.callStarted({ key: "1/0", planned: [], listsChanges: false });
    expect(unkept).toBe(`1 file could not be restored after a change: big.bin (${reason})`);
    await rm(join(workspace, "big.bin"));
    expect((await folder.callEnded({ key: "1/0" }))?.changes).toMatchObject([
      { path: "big.bin", unkept: reason, before: "" },
    ]);
  });

  test("a file with a known secret is not kept", async ({ root, disk, blobs }) => {
    const workspace = join(root, "workspace");
    await put(workspace, { "note.txt": "the key is hunter2" });
    const redacting = {
      ...blobs,
      put: (bytes: Uint8Array) => blobs.put(Buffer.from(Buffer.from(bytes).toString().replaceAll("hunter2", "***"))),
    };
    const folder = await disk("here", { blobs: redacting }).open(requestFor({ path: workspace }), begun);
    const { changes } = await runLine({ folder, workspace }, "rm note.txt");
    expect(changes).toMatchObject([{ unkept: "it contains a known secret" }]);
    expect(changes[0]).not.toHaveProperty("beforeRef");
  });

  test("a workspace over the limits says so once, and its commands run", async ({ root, disk }) => {
    const workspace = join(root, "workspace");
    await put(workspace, { "a.txt": "a", "b.txt": "b" });
    const scan = { namesInProcessMax: 1, bytesMax: 10 };
    const folder = await disk("here", { scan }).open(requestFor({ path: workspace }), begun);
    const place = { folder, workspace };
    expect((await runLine(place, "rm a.txt")).note).toContain(
      "are not recorded in this workspace: it has too many files",
    );
    expect((await runLine(place, "rm b.txt")).note).toBe("");
  });
});

test("more changes than are listed are counted by folder, and a loss is listed first", async ({ place }) => {
  await runLine(place, "mkdir -p many; cd many; for i in $(seq 700); do echo $i > $i.txt; done");
  const { changes } = await runLine(place, "mv many few; rm a.txt");
  expect(changes.filter(({ kind }) => kind === "deleted")).toHaveLength(500);
  expect(changes).toContainEqual(expect.objectContaining({ path: "a.txt", kind: "deleted" }));
  expect(changes.filter(({ path }) => path.endsWith("/"))).toMatchObject([
    { path: "few/", diff: "[counted, not listed: 700 files created]" },
    { path: "many/", diff: "[counted, not listed: 201 files deleted]" },
  ]);
});

test("a large folder is scanned by find, with the same result", async ({ root, disk, blobs }) => {
  const workspace = join(root, "workspace");
  await put(workspace, { "[a]/x.txt": "x\n", "b/y.txt": "y\n", "c/z.txt": "z\n", top: "t\n" });
  const folder = await disk("here", { scan: { namesInProcessMax: 0 } }).open(requestFor({ path: workspace }), begun);
  const place = { folder, workspace };
  await runLine(place, "true");
  const found = await runLine(place, "rm -rf b; echo new > '[a]/x.txt'; echo 2 > c/2.txt; touch -d 1960-02-03 top");
  expect(await summaryOf(found, blobs)).toEqual([
    ["modified", "[a]/x.txt", "x\n"],
    ["deleted", "b/y.txt", "y\n"],
    ["created", "c/2.txt", null],
  ]);
});

test("after a kill, the changes since the start of a call are found", async ({ place, disk, blobs }) => {
  const { folder, workspace } = place;
  await folder.callStarted({ key: "3/1", planned: [], listsChanges: false });
  await rm(join(workspace, "src"), { recursive: true });
  // Another process on the same disk, which knows nothing of the first.
  const next = await disk("here").open(requestFor({ path: workspace }), { journaled: null, isResumed: true });
  const found = await next.callInDoubt({ key: "3/1" });
  expect(await summaryOf(found ?? { changes: [], note: "" }, blobs)).toEqual([
    ["deleted", "src/b.txt", "two\n"],
    ["deleted", "src/c.txt", "three\n"],
  ]);
  expect(found?.note).toContain("changed since this command started");
  expect(await next.callInDoubt({ key: "3/2" })).toBeNull();
});
