/**
 * The search for changes in a large workspace whose folders are held by processes. A person works in it between two
 * commands: its edits are not changes by a command, and are never lost. After a command, every name is looked at.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtempDisposable, readFile, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Blobs } from "@troupe/core";
import type { FolderChanges, RunFolder } from "@troupe/core/internal";
import { describe, expect, inject, onTestFinished, vi } from "vitest";
import { foldersTest, put, requestFor } from "../run-workspaces/run-folders.fixture.ts";
import { createChangeReader } from "./change-reader.ts";
import { compareScans } from "./scan.ts";
import { createScanner, type Scanner, scanBounds } from "./scanner.ts";

const begun = { journaled: null, isResumed: false };
const isLarge = { ...scanBounds, namesInProcessMax: 0 };

/** Maps a.txt into memory, writes three bytes of it by a read from a pipe, and ends. */
const [mmapCall, readCall] = process.arch === "x64" ? [9, 0] : [222, 63];
const mappedScript = `open F, "+<", "a.txt"; $at = syscall(${mmapCall}, 0, 4096, 3, 1, fileno(F), 0); pipe R, W; syswrite W, "mmm"; syscall(${readCall}, fileno(R), $at, 3) == 3 or die;`;
const mappedWrite = `perl -e '${mappedScript}'`;

const files = { "a.txt": "one\n", "src/b.txt": "two\n", "src/in/c.txt": "three\n", "d/e.txt": "four\n" };

interface Place {
  workspace: string;
  folder: RunFolder;
  calls: number;
}

interface Fixtures {
  workspace: string;
  scanner: Scanner;
  place: Place;
  /** A workspace with its scanner for the tests of a file: each edit follows the ones before it. */
  edited: { workspace: string; scanner: Scanner };
}

const test = foldersTest.extend<Fixtures>({
  edited: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
    async ({}, use) => {
      await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-edited-"));
      await put(made.path, files);
      using scanner = createScanner(made.path, isLarge);
      await use({ workspace: made.path, scanner });
    },
    { scope: "file" },
  ],
  workspace: async ({ root }, use) => {
    const workspace = join(root, "workspace");
    await put(workspace, files);
    await use(workspace);
  },
  scanner: async ({ workspace }, use) => {
    using scanner = createScanner(workspace, isLarge);
    await use(scanner);
  },
  place: async ({ workspace, disk }, use) => {
    const folder = await disk("here", { scan: isLarge }).open(requestFor({ path: workspace }), begun);
    const place = { workspace, folder, calls: 0 };
    // The first scans find the folders and hold them.
    for (let i = 0; i < 3; i += 1) await callOf(place, "true");
    await use(place);
  },
});

/** Runs a shell line as a call of a run, and returns the changes that were found. */
async function callOf(place: Place, line: string): Promise<FolderChanges> {
  place.calls += 1;
  const key = `${place.calls}/0`;
  await place.folder.callStarted({ key, planned: [], listsChanges: false });
  runLine(place.workspace, line);
  return (await place.folder.callEnded({ key })) ?? { changes: [], note: "" };
}

function runLine(workspace: string, line: string): void {
  execFileSync("/bin/sh", ["-c", line], { cwd: workspace });
}

/** Writes to mapped memory, and keeps the file open until it is disposed of. */
async function writeMapped(workspace: string): Promise<AsyncDisposable> {
  const child = spawn("perl", ["-e", `${mappedScript} syswrite STDOUT, "written"; <STDIN>`], { cwd: workspace });
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

async function summaryOf({ changes }: FolderChanges, blobs: Blobs) {
  const texts = await Promise.all(
    changes.map(async ({ beforeRef }) =>
      beforeRef ? Buffer.from((await blobs.get(beforeRef)) ?? "").toString() : null,
    ),
  );
  return changes.map(({ kind, path }, i) => [kind, path, texts[i]]);
}

/** Scans until the folder counts as quiet: its folders are held, and nothing changed since. */
async function becomeQuiet(scanner: Scanner): Promise<void> {
  if ((await scanner.lastIfQuiet()) !== null) return;
  await expect
    .poll(
      async () => {
        await scanner.scan();
        return await scanner.lastIfQuiet();
      },
      { timeout: 60_000 },
    )
    .not.toBeNull();
}

/** File times of these processes have whole seconds. */
async function becomesLater(ms: number): Promise<void> {
  const fromMs = Date.now();
  await expect.poll(() => Date.now() - fromMs, { interval: 50, timeout: 60_000 }).toBeGreaterThan(ms);
}

const edits: readonly (readonly [string, string])[] = [
  ["a new content", "echo mine > a.txt"],
  ["an appended line", "echo mine >> src/b.txt"],
  ["a write to mapped memory", mappedWrite],
  ["another mode", "chmod 700 src/in/c.txt"],
  ["a set time", "touch -d 2001-01-01 d/e.txt"],
  ["a new file", "echo mine > src/in/new.txt"],
  ["a removed file", "rm d/e.txt"],
  ["a file moved over another", "echo mine > d/t; mv d/t a.txt"],
  ["a moved folder", "mv src/in d/in"],
  ["a new folder with a file", "mkdir -p new/below; echo mine > new/below/x.txt"],
  ["a hard link in another folder", "ln a.txt d/link.txt; echo mine > d/link.txt"],
  ["a link in place of a folder", "mv d away; ln -s away d"],
];

/** These leave different traces in the times and names of folders. The long run tries all edits. */
const typicalEdits = ["a write to mapped memory", "a removed file", "a moved folder", "a link in place of a folder"];
const unreported = edits.filter(([name]) => inject("long") || typicalEdits.includes(name));

describe("between two commands", () => {
  test("an unchanged folder is not scanned again", async ({ scanner }) => {
    await becomeQuiet(scanner);
    const scan = await scanner.scan();
    expect(await scanner.lastIfQuiet()).toBe(scan);
  });

  test.for(edits)("a change ends that a folder is quiet: %s", async ([, line], { edited }) => {
    await becomeQuiet(edited.scanner);
    runLine(edited.workspace, line);
    expect(await edited.scanner.lastIfQuiet()).toBeNull();
    await becomeQuiet(edited.scanner);
  });

  test("a folder that was just made is scanned again: it was not held while it was scanned", async ({
    scanner,
    workspace,
  }) => {
    await becomeQuiet(scanner);
    runLine(workspace, "mkdir -p new/below");
    await scanner.scan();
    expect(await scanner.lastIfQuiet()).toBeNull();
    await scanner.scan();
    expect(await scanner.lastIfQuiet()).not.toBeNull();
  });

  test("a folder that is only read stays quiet", async ({ scanner, workspace }) => {
    await becomeQuiet(scanner);
    runLine(workspace, "cat a.txt src/b.txt; ls -R; find . -type f");
    expect(await scanner.lastIfQuiet()).not.toBeNull();
  });

  test.for(unreported)("an edit of a person is not reported for the next command: %s", async ([, line], { place }) => {
    runLine(place.workspace, line);
    expect(await callOf(place, "true")).toEqual({ changes: [], note: "" });
  });

  test.for(edits.filter(([, line]) => line.includes("a.txt")))(
    "an edit of a person is kept before the next command overwrites it: %s",
    async ([, line], { place, blobs }) => {
      runLine(place.workspace, line);
      const mine = await readFile(join(place.workspace, "a.txt"), "utf8");
      const found = await callOf(place, "echo other > a.txt");
      expect(await summaryOf(found, blobs)).toContainEqual(["modified", "a.txt", mine]);
    },
  );

  test("a change by a command is not a change by the next one", async ({ place }) => {
    expect((await callOf(place, "echo new > d/n.txt")).changes).toHaveLength(1);
    expect((await callOf(place, "true")).changes).toEqual([]);
  });

  test("a command that starts beside another one waits for a scan", async ({ place, blobs }) => {
    await place.folder.callStarted({ key: "100/0", planned: [], listsChanges: false });
    // Open and mapped: the kernel tells of the write only when the program ends.
    await using writer = await writeMapped(place.workspace);
    await place.folder.callStarted({ key: "100/1", planned: [], listsChanges: false });
    expect(await place.folder.callEnded({ key: "100/1" })).toBeNull();
    await writer[Symbol.asyncDispose]();
    const found = await place.folder.callEnded({ key: "100/0" });
    expect(await summaryOf(found ?? { changes: [], note: "" }, blobs)).toEqual([["modified", "a.txt", "one\n"]]);
  });
});

describe("after a command", () => {
  test.for([
    ["a write to mapped memory", mappedWrite, "modified", "a.txt"],
    [
      "its old time and size restored",
      "touch -r a.txt t; printf 'new\n' > a.txt; touch -r t a.txt; rm t",
      "modified",
      "a.txt",
    ],
    ["a write through another name", "ln a.txt d/l; echo new > d/l; rm d/l", "modified", "a.txt"],
    ["a write in a new folder", "mkdir n; ln src/b.txt n/l; echo new > n/l; rm -r n", "modified", "src/b.txt"],
    ["folders exchanged", "mv src x; mv d src; mv x d", "deleted", "d/e.txt"],
    [
      "a folder exchanged for a while",
      "mv src x; mkdir src; echo new > x/b.txt; rm -r src; mv x src",
      "modified",
      "src/b.txt",
    ],
  ])("a change is found: %s", async ([, line = "", kind, path], { place }) => {
    const { changes } = await callOf(place, line);
    expect(changes).toContainEqual(expect.objectContaining({ kind, path }));
  });
});

describe("the processes that hold folders", () => {
  test("know the names of files that were made later", async ({ workspace, scanner }) => {
    for (const line of ["true", "true", "echo new > d/late.txt"]) {
      runLine(workspace, line);
      await scanner.scan();
      // From then on, the folder counts as unchanged, and its names are read.
      await becomesLater(2_200);
      await scanner.scan();
    }
    const before = await scanner.scan();
    runLine(workspace, "echo more > d/late.txt");
    expect(compareScans(before, await scanner.scan())).toMatchObject([{ path: "d/late.txt" }]);
  });

  test("use no folder that another one was exchanged for", async ({ workspace, root }) => {
    using reader = createChangeReader({ root: workspace, timeoutMs: 60_000, bytesMax: 1_000_000, isWatching: true });
    using scanner = createScanner(workspace, isLarge);
    reader.hold(await scanner.scan());
    await put(root, { "outside/in/c.txt": "other\n" });
    runLine(workspace, "mv src away; ln -s ../outside src");
    // Nothing has a change time that late.
    const second = Math.floor(Date.now() / 1000) + 1_000;
    expect(await reader.changedSince(second)).toEqual({
      folders: expect.toSatisfy((paths: string[]) => paths.toSorted().join() === "src/,src/in/"),
      entries: [],
    });
  });

  test("end with their scanner, and are started again after a kill", async ({ workspace, scanner }) => {
    await becomeQuiet(scanner);
    const holders = holdersOf(workspace);
    expect(holders).toHaveLength(2);
    const [first = Number.NaN] = holders;
    process.kill(first, "SIGKILL");
    await becomeQuiet(scanner);
    expect(holdersOf(workspace)).not.toContain(first);
    scanner[Symbol.dispose]();
    await expect.poll(() => holdersOf(workspace), { timeout: 60_000 }).toEqual([]);
  });

  test("hold no folder of a file system whose change times do not tell all changes", async () => {
    using scanner = createScanner("/proc/sys/fs", isLarge);
    for (let i = 0; i < 3; i += 1) await scanner.scan();
    expect(holdersOf("/proc/sys/fs")).toEqual([]);
    expect(await scanner.lastIfQuiet()).toBeNull();
  });

  test("are not needed: without perl, every scan is made by find", async ({ workspace, root }) => {
    await mkdir(join(root, "bin"));
    for (const name of ["find", "sh", "rm"]) await symlink(programAt(name), join(root, "bin", name));
    vi.stubEnv("PATH", join(root, "bin"));
    onTestFinished(() => void vi.unstubAllEnvs());
    using scanner = createScanner(workspace, isLarge);
    for (let i = 0; i < 3; i += 1) await scanner.scan();
    const before = await scanner.scan();
    expect(await scanner.lastIfQuiet()).toBeNull();
    runLine(workspace, "rm d/e.txt");
    expect(compareScans(before, await scanner.scan())).toMatchObject([{ path: "d/e.txt", after: null }]);
  });
});

/** The running children of this process that hold folders of a workspace. */
function holdersOf(workspace: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return words.includes(workspace) && words[0] === "perl";
      } catch {
        return false;
      }
    });
}

function programAt(name: string): string {
  return execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
}
