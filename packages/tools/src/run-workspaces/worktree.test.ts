/** A run's own worktree: agents change the same file side by side, and each leaves a branch. */
import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { git, makeRepository, put, requestFor, run, foldersTest as test } from "./run-folders.fixture.ts";
import { branchOf } from "./worktree.ts";

const begun = { journaled: null, isResumed: false };
const other = "0198a000-0000-7000-8000-0000000000cc";
const call = { key: "1/0" };

describe("two runs", () => {
  test("change the same file side by side, and leave two branches", async ({ disk, root }) => {
    const repository = join(root, "repository");
    await makeRepository(repository, { "a.txt": "first\n" });
    const host = disk("a");
    const requests = [run, other].map((id) => requestFor({ mode: "worktree", path: repository }, id));
    const folders = await Promise.all(requests.map((request) => host.open(request, begun)));
    for (const [i, folder] of folders.entries()) await put(folder.path, { "a.txt": `of ${i}\n`, [`new-${i}`]: "n" });
    const collected = await Promise.all(requests.map((request) => host.finish(request, { journaled: null })));
    for (const [i, id] of [run, other].entries()) {
      const commit = git(repository, "rev-parse", branchOf(id));
      expect(collected[i]).toEqual({ artifacts: [{ name: `branch ${branchOf(id)}`, ref: commit }], warnings: [] });
      expect(git(repository, "show", `${branchOf(id)}:a.txt`)).toBe(`of ${i}`);
      expect(git(repository, "show", `${branchOf(id)}:new-${i}`)).toBe("n");
      await expect(stat(folders[i]?.path ?? "")).rejects.toThrow("ENOENT");
    }
    expect(await readFile(join(repository, "a.txt"), "utf8")).toBe("first\n");
    expect(git(repository, "status", "--porcelain")).toBe("");
    expect(git(repository, "for-each-ref", "refs/troupe")).toBe("");
    expect(git(repository, "worktree", "list").split("\n")).toHaveLength(1);
    // A repetition after a kill gives the same result.
    expect(await host.finish(requests[0] ?? requestFor({}), { journaled: null })).toEqual(collected[0]);
  });
});

describe("a missing worktree", () => {
  test("is recreated with the committed changes and the changes of the newest call", async ({ disk, root }) => {
    const repository = join(root, "repository");
    await makeRepository(repository, { "a.txt": "first\n", "gone.txt": "x", ".gitignore": "ignored\n" });
    const request = requestFor({ mode: "worktree", path: repository });
    const first = await disk("a").open(request, begun);
    await put(first.path, { "b.txt": "committed" });
    git(first.path, "add", "b.txt");
    git(first.path, "commit", "--quiet", "--message=own");
    await put(first.path, { "a.txt": "changed\n", "new.txt": "new", ignored: "i" });
    await rm(join(first.path, "gone.txt"));
    const journaled = (await first.callEnded(call))?.folderRef ?? null;
    expect(await first.callEnded(call)).toBeNull();
    await put(first.path, { "a.txt": "half a call" });
    await rm(first.path, { recursive: true });

    const second = await disk("b").open(request, { journaled, isResumed: true });
    expect(await readFile(join(second.path, "a.txt"), "utf8")).toBe("changed\n");
    expect(await readFile(join(second.path, "b.txt"), "utf8")).toBe("committed");
    expect(await readFile(join(second.path, "new.txt"), "utf8")).toBe("new");
    await expect(stat(join(second.path, "gone.txt"))).rejects.toThrow("ENOENT");
    expect(
      git(second.path, "status", "--porcelain")
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["M a.txt", "D gone.txt", "?? new.txt"]);
    await disk("b").finish(request, { journaled });
    expect(git(repository, "log", "--format=%s", branchOf(run)).split("\n")).toEqual([
      "Uncommitted changes of a troupe agent",
      "own",
      "first",
    ]);
  });

  test("is used at its path, by a host with another home", async ({ disk, root }) => {
    const repository = join(root, "repository");
    await makeRepository(repository, { "a.txt": "first\n" });
    const request = requestFor({ mode: "worktree", path: repository });
    const first = await disk("a").open(request, begun);
    await put(first.path, { "new.txt": "not committed" });
    const second = await disk("b").open(request, { journaled: null, isResumed: true });
    expect(second.path).toBe(first.path);
  });

  test("without its branch is lost; so is one without its snapshot", async ({ disk, root }) => {
    const repository = join(root, "repository");
    await makeRepository(repository, { "a.txt": "first\n" });
    const request = requestFor({ mode: "worktree", path: repository });
    const { path } = await disk("a").open(request, begun);
    await rm(path, { recursive: true });
    const facts = { journaled: "0123456789012345678901234567890123456789", isResumed: true };
    await expect(disk("a").open(request, facts)).rejects.toThrow(/snapshot 012345678901 .* not in the repository/);
    await rm(path, { recursive: true });
    git(repository, "worktree", "prune");
    git(repository, "branch", "-D", branchOf(run));
    await expect(disk("a").open(request, facts)).rejects.toMatchObject({
      runError: { type: "workspace_lost", message: expect.stringContaining(branchOf(run)) },
    });
  });
});

describe("no worktree can be made", () => {
  test("from a folder without a repository or commit, or inside the repository: each with a fix", async ({
    disk,
    root,
  }) => {
    const repository = join(root, "repository");
    await mkdir(repository);
    const request = requestFor({ mode: "worktree", path: repository });
    const open = (host = disk("a")) => host.open(request, begun).catch((error) => error.runError);
    expect(await open()).toMatchObject({
      type: "params",
      recoverable: true,
      message: expect.stringContaining("git init"),
    });
    git(repository, "init", "--quiet");
    expect(await open()).toMatchObject({ type: "params", message: expect.stringContaining("commit first") });
    await put(repository, { a: "" });
    git(repository, "add", "--all");
    git(repository, "commit", "--quiet", "--message=first");
    const inside = disk("a", { folder: join(repository, "home") });
    expect(await open(inside)).toMatchObject({ type: "params", message: expect.stringContaining("TROUPE_HOME") });
  });
});

describe("a leftover worktree at the next start", () => {
  test("is committed and removed", async ({ disk, root }) => {
    const repository = join(root, "repository");
    await makeRepository(repository, { "a.txt": "first\n" });
    const host = disk("a");
    const { path } = await host.open(requestFor({ mode: "worktree", path: repository }), begun);
    await put(path, { "new.txt": "n" });
    await host.removeLeftovers(async () => true);
    await expect(stat(path)).rejects.toThrow("ENOENT");
    expect(git(repository, "show", `${branchOf(run)}:new.txt`)).toBe("n");
  });

  test("stays if a commit would need a program of the repository", async ({ disk, root }) => {
    const repository = join(root, "repository");
    await makeRepository(repository, { "a.txt": "first\n", ".gitattributes": "*.bin filter=large\n" });
    git(repository, "config", "filter.large.clean", `touch ${join(root, "ran")}`);
    const host = disk("a");
    const request = requestFor({ mode: "worktree", path: repository });
    const { path } = await host.open(request, begun);
    await put(path, { "x.bin": "large" });
    const { warnings } = await host.finish(request, { journaled: null });
    expect(warnings).toEqual([expect.stringMatching(/^x\.bin go through a filter .* in /)]);
    await stat(join(path, "x.bin"));
    await expect(stat(join(root, "ran"))).rejects.toThrow("ENOENT");
  });
});

test("no hook of the repository runs, and no link of the agent is followed", async ({ disk, root }) => {
  const repository = join(root, "repository");
  await makeRepository(repository, { "a.txt": "first\n" });
  for (const hook of ["post-checkout", "pre-commit", "reference-transaction"]) {
    await writeFile(join(repository, ".git/hooks", hook), `#!/bin/sh\ntouch ${join(root, "ran")}\n`, { mode: 0o755 });
  }
  const host = disk("a");
  const request = requestFor({ mode: "worktree", path: repository });
  const { path, callEnded: keep } = await host.open(request, begun);
  await put(root, { victim: "v" });
  const own = git(path, "-c", "core.hooksPath=/dev/null", "rev-parse", "--absolute-git-dir");
  for (const name of ["index", "COMMIT_EDITMSG"]) {
    await rm(join(own, name), { force: true });
    await symlink(join(root, "victim"), join(own, name));
  }
  await put(path, { "new.txt": "n" });
  await keep(call);
  await host.finish(request, { journaled: null });
  expect(git(repository, "show", `${branchOf(run)}:new.txt`)).toBe("n");
  expect(await readFile(join(root, "victim"), "utf8")).toBe("v");
  await expect(stat(join(root, "ran"))).rejects.toThrow("ENOENT");
});
