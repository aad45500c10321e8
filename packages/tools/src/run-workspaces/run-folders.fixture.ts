import { execFileSync } from "node:child_process";
import { mkdir, mkdtempDisposable, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Blobs, RunFolders } from "@troupe/core";
import type { RequestWorkspace } from "@troupe/core/internal";
import { createMemoryBlobs } from "@troupe/core/memory";
import { test } from "vitest";
import { createRunFolders, type RunFoldersOptions } from "./run-folders.ts";

export const session = "0198a000-0000-7000-8000-0000000000aa";
export const run = "0198a000-0000-7000-8000-0000000000bb";

interface Fixtures {
  /** A folder for one test, removed at its end. */
  root: string;
  blobs: Blobs;
  /** The run folders of a host with its own disk. All hosts share the blob store. */
  disk: (name: string, options?: Partial<RunFoldersOptions>) => RunFolders;
}

/** A test with machines that share nothing but the blob store. */
export const foldersTest = test.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  root: async ({}, use) => {
    await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-folders-"));
    await use(made.path);
  },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  blobs: async ({}, use) => use(createMemoryBlobs()),
  disk: async ({ root, blobs }, use) => {
    const identity = async () => ({ name: "agent", email: "agent@troupe.invalid" });
    await use((name, options) => createRunFolders({ folder: join(root, name, "runs"), blobs, identity, ...options }));
  },
});

export function requestFor(workspace: Partial<RequestWorkspace>, id = run) {
  return { session, run: id, workspace: { id: "w1", path: "/nowhere", ...workspace } };
}

export async function put(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Git, as the user of a machine runs it. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync("git", [...who, ...args], {
    cwd: folder,
    env: gitEnv(),
    encoding: "utf8",
    stdio: "pipe",
  }).trimEnd();
}

const who = ["user.name=ada", "user.email=ada@example.org", "init.defaultBranch=main"].flatMap((setting) => [
  "-c",
  setting,
]);

function gitEnv(): NodeJS.ProcessEnv {
  return { ...process.env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
}

/** A repository with one commit of these files. */
export async function makeRepository(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await put(folder, files);
  const steps = ["init --quiet", "add --all", "commit --quiet --message=first"];
  // By one shell: each start of a process from a test worker is slow.
  const script = steps.map((step) => `git "$@" ${step}`).join(" && ");
  execFileSync("/bin/sh", ["-c", script, "sh", ...who], { cwd: folder, env: gitEnv() });
}
