// The git tools of agents, in real repositories.
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "@troupe/core/tool";
import { describe, expect, inject } from "vitest";
import { createAnySandbox } from "../sandbox/any-sandbox.fixture.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createCommandTools } from "./create-command-tools.ts";
import { makeRepository, putFiles, setUpGit } from "./git.fixture.ts";
import { isReadOnly } from "./git-read-only.ts";
import { gitRisk } from "./git-risk.ts";

const identity = async () => ({ name: "Ada", email: "ada@example.org" });
const tools = createCommandTools({ sandbox: await createAnySandbox(), identity });
const git = toolNamed("git");
const gitDiff = toolNamed("git_diff");
const gitCommit = toolNamed("git_commit");
const grant = { tools: tools.map(({ spec }) => spec.name), agents: [], writes: [] };
const allowed = { grant, approved: true };

describe("git_diff shows", () => {
  test("uncommitted changes and untracked files", async ({ folder, call }) => {
    makeRepository(folder, { "a.txt": "one\n", "b.txt": "b\n" });
    putFiles(folder, { "a.txt": "two\n", "new/c.txt": "c" });

    const { output, error } = await call(gitDiff, {}, allowed);

    expect(error).toBeNull();
    expect(output).toContain("-one\n+two\n");
    expect(output).toMatch(/\[untracked: new\/\]\n$/);
    expect(output).not.toContain("b.txt");
  });

  test("only staged changes, only some paths, or only the statistics", async ({ folder, call }) => {
    makeRepository(folder, { "a.txt": "one\n", "b.txt": "b\n", "*.txt": "star\n" });
    putFiles(folder, { "a.txt": "two\n", "b.txt": "bb\n" });
    setUpGit(folder, "add", "a.txt");

    expect((await call(gitDiff, { staged: true }, allowed)).output).not.toContain("b.txt");
    expect((await call(gitDiff, { paths: ["b.txt"] }, allowed)).output).not.toContain("a.txt");
    expect((await call(gitDiff, { paths: ["*.txt"] }, allowed)).output).toBe("no differences");
    expect((await call(gitDiff, { stat: true }, allowed)).output).toMatch(
      /a\.txt \| 2 \+-\n b\.txt \| 2 \+-\n 2 files changed/,
    );
  });

  test("the changes of a branch", async ({ folder, call }) => {
    makeRepository(folder, { "a.txt": "one\n" });
    setUpGit(folder, "switch", "--quiet", "--create", "feature/x");
    putFiles(folder, { "a.txt": "two\n" });
    setUpGit(folder, "commit", "--quiet", "--all", "--message=two");

    for (const base of inject("long")
      ? ["main", "main..HEAD", "main...feature/x", "HEAD~1"]
      : ["main...feature/x", "HEAD~1"]) {
      expect((await call(gitDiff, { base }, allowed)).output).toContain("-one\n+two\n");
    }
    expect((await call(gitDiff, { base: "nowhere" }, allowed)).error).toMatchObject({
      type: "params",
      message: expect.stringContaining('"nowhere" is not a commit, branch or tag'),
    });
  });

  test("files before the first commit", async ({ folder, call }) => {
    setUpGit(folder, "init", "--quiet");
    putFiles(folder, { "a.txt": "one\n" });
    expect((await call(gitDiff, {}, allowed)).output).toBe("\n[untracked: a.txt]\n");
    setUpGit(folder, "add", "a.txt");
    expect((await call(gitDiff, { staged: true }, allowed)).output).toContain("+one\n");
  });
});

describe("git_commit", () => {
  test("commits all changes, and lists them", async ({ folder, call }) => {
    makeRepository(folder, { "a.txt": "one\n", "gone.txt": "x\n", "image.bin": Buffer.from([0, 1, 255]) });
    putFiles(folder, { "a.txt": "one\ntwo\n", "src/new.txt": "grüße\n", "image.bin": Buffer.from([0, 254]) });
    await rm(join(folder, "gone.txt"));

    const { output, changes, error } = await call(gitCommit, { message: "# Two\n\nWhy.", all: true }, allowed);

    expect(error).toBeNull();
    expect(output).toMatch(
      /^committed [0-9a-f]{12} on main: # Two\nmodified a\.txt \(\+1 -0\)\ndeleted gone\.txt \(\+0 -1\)\nmodified image\.bin.*\ncreated src\/new\.txt \(\+1 -0\)$/,
    );
    expect(setUpGit(folder, "log", "-1", "--format=%an <%ae> %B").trim()).toBe("Ada <ada@example.org> # Two\n\nWhy.");
    expect(setUpGit(folder, "status", "--porcelain")).toBe("");
    // The calls that changed the files reported the lines: a second report would count them twice.
    expect(changes).toEqual([]);
  });

  test("commits only some paths, with any other staged files", async ({ folder, call }) => {
    makeRepository(folder, { "a.txt": "a\n", "b.txt": "b\n" });
    putFiles(folder, { "a.txt": "aa\n", "b.txt": "bb\n", "c.txt": "c\n" });
    setUpGit(folder, "add", "a.txt");

    const { output } = await call(gitCommit, { message: "B and C", paths: ["b.txt", "./c.txt"] }, allowed);

    expect(output).toMatch(/modified b\.txt.*\ncreated c\.txt/);
    expect(setUpGit(folder, "status", "--porcelain")).toBe("M  a.txt\n");
  });

  test("commits staged changes, and refuses if there are none", async ({ folder, call }) => {
    makeRepository(folder, { "a.txt": "a\n" });
    putFiles(folder, { "a.txt": "aa\n" });

    expect((await call(gitCommit, { message: "x" }, allowed)).error).toMatchObject({
      type: "params",
      message: "nothing was committed: nothing is staged: give paths, or all",
    });
    setUpGit(folder, "add", "a.txt");
    expect((await call(gitCommit, { message: "x" }, allowed)).output).toMatch(
      /^committed .* on main: x\nmodified a\.txt/,
    );
    expect((await call(gitCommit, { message: "x", all: true }, allowed)).error?.message).toMatch(
      /nothing has changed there that git does not ignore$/,
    );
  });

  test("makes the first commit of a repository", async ({ folder, call }) => {
    expect((await call(git, { args: ["init", "--initial-branch=main"] }, allowed)).error).toBeNull();
    putFiles(folder, { "a.txt": "a\n" });
    expect((await call(gitCommit, { message: "begin", all: true }, allowed)).output).toMatch(
      /^committed .* on main: begin\ncreated a\.txt \(\+1 -0\)$/,
    );
  });
});

test("without a repository, each of them has an error with a fix", async ({ call }) => {
  for (const [tool, args] of [
    [git, { args: ["status"] }],
    [gitDiff, {}],
    [gitCommit, { message: "x", all: true }],
  ] as const) {
    expect((await call(tool, args, allowed)).error).toMatchObject({
      type: "tool_error",
      message: expect.stringContaining("not in a git repository: run git with init first"),
    });
  }
});

test("a repository above the workspace is not the workspace's", async ({ folder, call }) => {
  makeRepository(folder, { "inside/a.txt": "a\n", "secret.txt": "s\n" });
  const outcome = await call(gitDiff, {}, { ...allowed, workspace: join(folder, "inside") });
  expect(outcome.error?.message).toContain("not in a git repository");
});

test("a repository with files or a Git folder elsewhere is refused", async ({ folder, call }) => {
  putFiles(folder, { "elsewhere/secret.txt": "SECRET", "inside/a.txt": "a" });
  const inside = join(folder, "inside");
  makeRepository(inside, {});
  setUpGit(inside, "config", "core.worktree", join(folder, "elsewhere"));
  const refused = await call(gitDiff, {}, { ...allowed, workspace: inside });
  expect(refused.error?.message).toContain("keeps a part of itself outside");

  const linked = join(folder, "linked");
  makeRepository(folder, { "x.txt": "x" });
  setUpGit(folder, "worktree", "add", "--quiet", linked);
  putFiles(folder, { "forged/.git": readFileSync(join(linked, ".git")) });
  const forged = await call(gitDiff, {}, { ...allowed, workspace: join(folder, "forged") });
  expect(forged.error?.message).toContain("outside");
});

test("a linked worktree works like any repository", async ({ folder, call }) => {
  const [repository, linked] = [join(folder, "repository"), join(folder, "linked")];
  putFiles(repository, { "x.txt": "x\n" });
  makeRepository(repository, {});
  setUpGit(repository, "worktree", "add", "--quiet", "-b", "side", linked);
  putFiles(linked, { "x.txt": "changed\n" });
  const inside = { ...allowed, workspace: linked };
  expect((await call(gitDiff, {}, inside)).output).toContain("+changed");
  const committed = await call(gitCommit, { message: "own", all: true }, inside);
  expect(committed.error).toBeNull();
  expect(setUpGit(repository, "log", "--format=%s", "side")).toBe("own\nbegin\n");
  expect((await call(git, { args: ["status", "--short", "--branch"] }, inside)).output).toContain("## side");
});

test("git returns its output and exit code", async ({ folder, call }) => {
  makeRepository(folder, { "a.txt": "needle\n" });
  expect((await call(git, { args: ["log", "--format=%s"] }, { grant })).output).toBe("exit code 0\nbegin\n");
  expect((await call(git, { args: ["grep", "haystack"] }, { grant })).output).toBe("exit code 1\n[no output]");
  expect((await call(git, { args: ["show", "nowhere"] }, { grant })).output).toMatch(
    /^exit code 128\nfatal: ambiguous argument/,
  );
});

describe("a call of git is refused:", () => {
  test.for([["-c", "alias.x=!touch canary", "x"], ["--exec-path=.", "status"], ["x"], ["difftool"], ["help", "log"]])(
    "is %j",
    async (args, { folder, call }) => {
      makeRepository(folder, { "a.txt": "a" });
      setUpGit(folder, "config", "alias.x", "!touch canary");
      expect((await call(git, { args }, allowed)).error).toMatchObject({ type: "params" });
      expect(setUpGit(folder, "status", "--porcelain")).toBe("");
    },
  );
});

describe("a read-only call is of low risk:", () => {
  test.for(
    [
      "status -sb",
      "log --oneline -5",
      "log -n 5 -p main..feature -- src/a.ts",
      "show HEAD~2:src/a.ts",
      "show --stat HEAD",
      "diff main...HEAD --stat",
      "diff --cached",
      "blame -L 1,5 src/a.ts",
      "branch",
      "branch -a",
      "branch --list feature/*",
      "tag -l v*",
      "remote -v",
      "stash list",
      "stash show -p stash@{0}",
      "rev-parse --abbrev-ref HEAD",
      "ls-files -o --exclude-standard",
      "grep -n word -- src",
      "describe --tags",
      "shortlog -sn HEAD",
      "cat-file -p HEAD",
      "reflog -5",
    ].map((line) => line.split(" ")),
  )("%j", (args) => {
    expect(isReadOnly(args)).toBe(true);
    expect(gitRisk(args)).toBe("low");
  });
});

describe("a call that runs, writes or reads elsewhere is not read-only:", () => {
  test.for(
    [
      "log --output=x",
      "log --outpu=x",
      "diff --ext-diff",
      "diff --textconv",
      "diff --text-conv",
      "diff -Oorder",
      "diff --output x",
      "diff /etc/passwd /dev/null",
      "diff -- ../x y",
      "diff --no-index a b",
      "show --show-signature",
      "grep -O less x",
      "grep --open-files-in-pager=x y",
      "grep -Ox y",
      "grep -f /etc/passwd",
      "grep --no-index x",
      "branch new",
      "branch -d old",
      "tag v1",
      "stash",
      "stash pop",
      "stash drop",
      "remote add x y",
      "remote update",
      "ls-files --exclude-from=/etc/passwd",
      "cat-file --batch",
      "cat-file --textconv x",
      "reflog expire --all",
      "blame --contents /etc/passwd a",
      "status -v",
      "log --submodule=diff",
      "describe --dirty",
      "rev-parse --parseopt",
      "config --list",
      "ls-remote x",
      "archive --output=x HEAD",
    ].map((line) => line.split(" ")),
  )("%j", (args) => {
    expect(isReadOnly(args)).toBe(false);
    expect(gitRisk(args)).not.toBe("low");
  });
});

describe("a call that rewrites history, discards work or contacts other repositories is of high risk:", () => {
  test.for(
    [
      "push",
      "fetch origin",
      "pull",
      "clone x",
      "reset --hard",
      "reset --har HEAD~1",
      "clean -fd",
      "filter-branch",
      "gc --prune=now",
      "config user.name x",
      "remote add x y",
      "submodule update",
      "worktree add x",
      "rebase -x make main",
      "commit --amend",
      "commit --am -m x",
      "branch -D x",
      "branch -avD x",
      "tag -d v1",
      "checkout -qf main",
      "switch --discard-changes x",
      "bisect run sh",
      "update-ref -d x",
      "init /tmp/x",
      "init ../x",
      "add --pathspec-from-file=x ../y",
      "stash clear",
      "commit -F /etc/passwd",
    ].map((line) => line.split(" ")),
  )("%j", (args) => {
    expect(gitRisk(args)).toBe("high");
  });
});

describe("the rest is of medium risk:", () => {
  test.for(
    [
      "add -A",
      "commit -m message",
      "restore a.ts",
      "switch -c new",
      "checkout main",
      "merge feature",
      "branch new",
      "tag v1",
      "stash",
      "init",
    ].map((line) => line.split(" ")),
  )("%j", (args) => {
    expect(gitRisk(args)).toBe("medium");
  });
});

function toolNamed(name: string): Tool {
  const tool = tools.find(({ spec }) => spec.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}
