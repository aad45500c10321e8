// A repository is untrusted data, and its configuration can make git run programs in two dozen ways. Each of them here
// would leave a canary: git_diff and git_commit never leave one, nor does a read-only git call.
import { appendFileSync, chmodSync, cpSync, utimesSync } from "node:fs";
import { mkdtempDisposable, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPolicy } from "@troupe/core";
import { describe, expect, inject } from "vitest";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { createCommandTools } from "./create-command-tools.ts";
import { makeRepository, putFiles, setUpGit } from "./git.fixture.ts";

const identity = async () => ({ name: "Ada", email: "ada@example.org" });
/** A sandbox that contains would hide the canaries, so no command has one. Some tools are told that it contains. */
const sandbox = await createSandbox({ policy: { ...defaultPolicy.sandbox, mode: "off" } });
const tools = createCommandTools({ sandbox: { ...sandbox, contains: true }, identity });
const uncontainedTools = createCommandTools({ sandbox, identity });
const grant = { tools: tools.map(({ spec }) => spec.name), agents: [], writes: [] };

const hooks = [
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "post-index-change",
  "reference-transaction",
  "pre-auto-gc",
  "post-checkout",
  "post-rewrite",
  "fsmonitor-watchman",
  "pre-push",
  "post-merge",
];

interface Hostile {
  workspace: string;
  /** The names of the programs that have run in this test. */
  canaries: () => Promise<string[]>;
}

interface Fixtures {
  /** A folder with the repository and the nest of the canaries. */
  original: string;
  /** A repository that would run `canary NAME` in every possible way. Tests that only read share it. */
  readOnly: Hostile;
  /** A copy of it. */
  hostile: Hostile;
}

const test = workspaceTest.extend<Fixtures>({
  original: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
    async ({}, use) => {
      await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-hostile-"));
      putOriginal(made.path);
      await use(made.path);
    },
    { scope: "file" },
  ],
  readOnly: async ({ original }, use) => {
    const nest = join(original, "nest");
    const canaries = async () => (await readdir(nest)).filter((name) => name !== ".keep");
    await use({ workspace: join(original, "repository"), canaries });
    for (const name of await canaries()) await rm(join(nest, name));
  },
  hostile: async ({ readOnly, folder }, use) => {
    const workspace = join(folder, "repository");
    cpSync(readOnly.workspace, workspace, { recursive: true, preserveTimestamps: true });
    await use({ ...readOnly, workspace });
  },
});

/** Makes the repository, which names its programs by their paths, also in a copy. */
function putOriginal(folder: string): void {
  const [workspace, nest] = [join(folder, "repository"), join(folder, "nest")];
  putFiles(folder, { "repository/.keep": "", "nest/.keep": "", canary: `#!/bin/sh\ntouch "${nest}/$1"\ncat\n` });
  chmodSync(join(folder, "canary"), 0o755);
  const canary = (name: string): string => `${join(folder, "canary")} ${name}`;
  makeRepository(workspace, {
    "a.txt": "one\n",
    "b.txt": "b\n",
    "c.bin": "c\n",
    "sub/inner.txt": "inner\n",
    "d.md": "d\n",
  });
  putInSubmodule(workspace, canary("submodule"));
  setUpGit(workspace, "branch", "other");
  putFiles(workspace, {
    ".gitattributes": "*.txt diff=evil filter=evil merge=evil\n*.md diff=words\n*.bin filter=required\n",
    "a.txt": "two\n",
    "d.md": "dd\n",
    "new.txt": "new\n",
  });
  // Makes the file look changed, so that git reads it again through its filter.
  utimesSync(join(workspace, "c.bin"), 1, 1);
  armConfig(workspace, canary);
  putFiles(
    workspace,
    Object.fromEntries(
      hooks.map((name) => [`.git/hooks/${name}`, `#!/bin/sh\n${canary(`hook-${name}`)} </dev/null\n`]),
    ),
  );
  for (const name of hooks) chmodSync(join(workspace, ".git/hooks", name), 0o755);
}

function armConfig(workspace: string, canary: (name: string) => string): void {
  const settings: Record<string, string> = {
    "core.hooksPath": ".git/hooks",
    "core.pager": canary("pager"),
    "pager.diff": canary("pager-diff"),
    "core.editor": canary("editor"),
    "sequence.editor": canary("sequence-editor"),
    "core.askPass": canary("ask-pass"),
    "core.sshCommand": canary("ssh"),
    "core.gitProxy": canary("proxy"),
    "credential.helper": `!${canary("credential")}`,
    "core.alternateRefsCommand": canary("alternates"),
    "diff.external": canary("diff-external"),
    "diff.evil.textconv": canary("textconv"),
    "diff.words.command": canary("diff-command"),
    "filter.evil.clean": canary("clean"),
    "filter.evil.smudge": canary("smudge"),
    "filter.required.process": canary("process"),
    "filter.required.required": "true",
    "merge.evil.driver": canary("merge-driver"),
    "gpg.program": canary("gpg"),
    "gpg.ssh.program": canary("gpg-ssh"),
    "commit.gpgSign": "true",
    "log.showSignature": "true",
    "trailer.sign.command": canary("trailer"),
    "hook.evil.command": canary("config-hook"),
    "hook.evil.event": "pre-commit",
    "interactive.diffFilter": canary("interactive"),
    "alias.status": `!${canary("alias-status")}`,
    "alias.diff": `!${canary("alias-diff")}`,
    "alias.evil": `!${canary("alias")}`,
    "remote.origin.url": "ext::sh -c 'true'",
    "remote.origin.uploadpack": canary("upload-pack"),
    "remote.origin.promisor": "true",
    "extensions.partialClone": "origin",
    "submodule.recurse": "true",
    "diff.submodule": "diff",
    "status.submoduleSummary": "true",
    "diff.ignoreSubmodules": "none",
    "submodule.module.ignore": "none",
    "submodule.module.active": "true",
    "core.fsmonitor": canary("fsmonitor"),
  };
  appendFileSync(join(workspace, ".git/config"), Object.entries(settings).map(configLines).join(""));
}

function configLines([key, value]: [string, string]): string {
  const [section = "", ...names] = key.split(".");
  const name = names.pop();
  const head = names.length > 0 ? `[${section} ${JSON.stringify(names.join("."))}]` : `[${section}]`;
  return `${head}\n\t${name} = ${JSON.stringify(value)}\n`;
}

/** A nested repository: git would read it with its own configuration and filters. */
function putInSubmodule(workspace: string, filter: string): void {
  const inner = join(workspace, "module");
  putFiles(inner, { "x.txt": "x\n" });
  makeRepository(inner, {});
  putFiles(workspace, { ".gitmodules": '[submodule "module"]\n\tpath = module\n\turl = ./module\n\tignore = none\n' });
  setUpGit(workspace, "-c", "advice.addEmbeddedRepo=false", "add", "module", ".gitmodules");
  setUpGit(workspace, "commit", "--quiet", "--message=module");
  putFiles(inner, { "x.txt": "y\n", ".gitattributes": "*.txt filter=inner\n" });
  setUpGit(inner, "config", "filter.inner.clean", filter);
}

const furtherReads = [
  ...["status --short", "diff HEAD -- a.txt", "show HEAD", "stash list", "describe --always", "shortlog HEAD"],
  ...["cat-file -p HEAD:a.txt", "show other:a.txt"],
];

describe("no program of a hostile repository runs", () => {
  const diffs = [
    {},
    { staged: true },
    { base: "other" },
    { base: "other...HEAD", stat: true },
    { paths: ["a.txt", "d.md", "module"] },
    { stat: true },
  ];
  // Without arguments, against another commit and in the index.
  test.for(diffs.filter((_, i) => inject("long") || i < 3))(
    "by git_diff %j",
    async (args, { readOnly: { workspace, canaries }, call }) => {
      const outcome = await call(toolNamed("git_diff"), args, { workspace, grant });

      expect(outcome.error).toBeNull();
      expect(await canaries()).toEqual([]);
    },
  );

  test("by git_commit, which refuses files that its filters would change", async ({ hostile, call }) => {
    const { workspace, canaries } = hostile;
    const commit = toolNamed("git_commit");

    const refused = await call(commit, { message: "all", all: true }, { workspace, grant });
    const outcome = await call(commit, { message: "one", paths: ["d.md", "module"] }, { workspace, grant });

    expect(refused.error?.message).toMatch(/^nothing was committed: .*a\.txt.* go through a filter/);
    expect(outcome.output).toMatch(/^committed [0-9a-f]{12} on main: one\nmodified d\.md \(\+1 -1\)$/);
    expect(await canaries()).toEqual([]);
  });

  test.for(
    [
      // Each of them would run other programs. The long run tries further forms.
      ...["status", "diff", "log -p", "log --format=%G?%GK", "blame a.txt", "grep o", "branch -a", "ls-files -m"],
      ...["log -p --all -- module", "show 0000000000000000000000000000000000000001"],
      ...(inject("long") ? furtherReads : []),
    ].map((line) => line.split(" ")),
  )("by git %j", async (args, { readOnly: { workspace, canaries }, call }) => {
    await call(toolNamed("git"), { args }, { workspace, grant });
    expect(await canaries()).toEqual([]);
  });

  test.for(
    [
      "add d.md",
      "commit -v -m x",
      "checkout other",
      "stash",
      "merge other",
      "fetch origin",
      "tag -s v1 -m x",
      "evil",
      "gc",
      "rebase other",
      "submodule status",
      "add -p",
      ...(inject("long") ? ["commit -m x", "push origin main", "commit --amend --no-edit"] : []),
    ].map((line) => line.split(" ")),
  )("by git %j without a sandbox that contains it", async (args, { hostile: { workspace, canaries }, call }) => {
    await call(toolNamed("git", uncontainedTools), { args }, { workspace, grant, approved: true });
    expect(await canaries()).toEqual([]);
  });
});

test("git without protection writes the canaries", async ({ hostile: { workspace, canaries } }) => {
  setUpGit(workspace, "config", "--unset", "filter.required.required");
  const calls = [
    ["status"],
    ["log", "-p"],
    ["diff"],
    ["blame", "a.txt"],
    ["add", "d.md"],
    ["commit", "-m", "x"],
    ["evil"],
  ];
  for (const [name = "", ...args] of calls) {
    try {
      setUpGit(workspace, name, ...args);
    } catch {
      // Some of the settings break git.
    }
  }
  expect((await canaries()).sort()).toEqual(
    expect.arrayContaining([
      "alias",
      "clean",
      "diff-command",
      "diff-external",
      "fsmonitor",
      "hook-pre-commit",
      "process",
      "submodule",
      "textconv",
    ]),
  );
});

function toolNamed(name: string, among = tools) {
  const tool = among.find(({ spec }) => spec.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}
