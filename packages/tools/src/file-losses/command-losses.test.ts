/** A command that deletes or overwrites what git does not have needs an approval. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import type { FileLosses } from "@troupe/core/internal";
import { beforeAll, describe, expect, inject } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { reviewCommand } from "./command-losses.ts";
import { createCreatedFiles } from "./created-files.ts";
import { gitStates } from "./git-states.ts";
import {
  type CommandHost,
  createCommandHost,
  git,
  makeRepository,
  shell,
  userGit,
  writeFiles,
} from "./losses.fixture.ts";

let commands: CommandHost;
/** Repositories that no test changes: to examine a call changes nothing. */
let dirty: string;
let clean: string;
beforeAll(async () => {
  commands = await createCommandHost();
  const base = await mkdtemp(join(await realpath(tmpdir()), "troupe-losses-"));
  [dirty, clean] = [join(base, "dirty"), join(base, "clean")];
  for (const folder of [dirty, clean]) {
    await mkdir(folder);
    await makeRepository(folder);
  }
  await writeFiles(dirty, { "lib/a.ts": "lib" });
  userGit(dirty, "add", "lib");
  userGit(dirty, "commit", "-q", "-m", "second", "--", "lib");
  userGit(clean, "reset", "-q", "--hard");
  userGit(clean, "clean", "-fdxq");
  return () => rm(base, { recursive: true });
});

/** Git's answers about the two repositories: they stay the same. */
const answers = new Map<string, ReturnType<typeof gitStates>>();
const statesOnce: typeof gitStates = (workspace) => {
  const answer = answers.get(workspace) ?? gitStates(workspace, [""], new AbortController().signal);
  answers.set(workspace, answer);
  return answer;
};

/** A tool host starts git twice for a line. The normal run asks it about lines of some lengths, the long run about all. */
const lengthStep = inject("long") ? 1 : 8;

/** The decision on a shell line in one of the two repositories, and the files that it would lose. */
async function decide(line: string, context: ToolContext): Promise<{ decision: string; files: string[] }> {
  if (line.length % lengthStep === 0) {
    const { decision, losses } = await commands.examine(shell(line), context);
    return { decision, files: pathsOf(losses) };
  }
  const options = { context, created: createCreatedFiles(null), contained: commands.contains, states: statesOnce };
  const { losses } = await reviewCommand({ line }, options);
  return { decision: losses === null ? "allow" : "ask", files: pathsOf(losses) };
}

function pathsOf(losses: FileLosses | null | undefined): string[] {
  return (losses?.files ?? []).map(({ path }) => path).toSorted();
}

describe("a command asks before it loses", () => {
  test.for([
    ["rm -rf src", ["src/a.ts", "src/b.ts"]],
    ["rm -r -f -- src/", ["src/a.ts", "src/b.ts"]],
    ["\\rm notes.txt", ["notes.txt"]],
    ["/bin/rm notes.txt", ["notes.txt"]],
    ["r''m notes.txt", ["notes.txt"]],
    ["RM notes.txt", ["notes.txt"]],
    ["unlink notes.txt", ["notes.txt"]],
    ["shred -u notes.txt", ["notes.txt"]],
    ["rm changed.txt", ["changed.txt"]],
    ["rm staged.txt", ["staged.txt"]],
    ["rm .env", [".env"]],
    ["rm -rf data", ["data/table.csv"]],
    ["rm data/table.csv", ["data/table.csv"]],
    ["rm *.txt", ["changed.txt", "notes.txt", "staged.txt"]],
    ["rm n?tes.txt", ["notes.txt"]],
    ["rm [mn]otes.txt", ["notes.txt"]],
    ["rm src/{a,b}.ts", ["src/a.ts", "src/b.ts"]],
    ["rm */*.ts", ["src/a.ts", "src/b.ts"]],
    ["rm 'notes.txt'", ["notes.txt"]],
    ['rm "notes.txt"', ["notes.txt"]],
    ["cd src && rm a.ts", ["src/a.ts"]],
    ["cd src; rm a.ts", ["src/a.ts"]],
    ["(cd src && rm a.ts)", ["src/a.ts"]],
    ["cd lib && cd ../src && rm *", ["src/a.ts", "src/b.ts"]],
    ["cd src || exit 1; rm b.ts", ["src/b.ts"]],
    ["X=src; rm -rf $X", ["src/a.ts", "src/b.ts"]],
    [`X=src; rm -rf "./\${X}"`, ["src/a.ts", "src/b.ts"]],
    [`export D=src && rm -rf \${D:-lib}`, ["src/a.ts", "src/b.ts"]],
    ["C='rm -rf src'; $C", ["src/a.ts", "src/b.ts"]],
    ['for f in src/*.ts; do rm "$f"; done', ["src/a.ts", "src/b.ts"]],
    ["if true; then rm notes.txt; fi", ["notes.txt"]],
    ["case x in x) rm notes.txt;; esac", ["notes.txt"]],
    ["while false; do rm notes.txt; done", ["notes.txt"]],
    ["true || rm notes.txt", ["notes.txt"]],
    ["echo $(rm notes.txt)", ["notes.txt"]],
    ["echo `rm notes.txt`", ["notes.txt"]],
    ["ls | rm notes.txt", ["notes.txt"]],
    ["sleep 1 & rm notes.txt", ["notes.txt"]],
    ["git status &>/dev/null rm notes.txt", ["notes.txt"]],
    ["sh -c 'rm notes.txt'", ["notes.txt"]],
    ['bash -ec "rm notes.txt"', ["notes.txt"]],
    ["eval 'rm notes.txt'", ["notes.txt"]],
    ["eval rm notes.txt", ["notes.txt"]],
    ["trap 'rm notes.txt' EXIT", ["notes.txt"]],
    ["env A=1 rm notes.txt", ["notes.txt"]],
    ["env -u HOME rm notes.txt", ["notes.txt"]],
    ["sudo -u root rm notes.txt", ["notes.txt"]],
    ["timeout -s KILL 5 rm notes.txt", ["notes.txt"]],
    ["nice -n 5 nohup rm notes.txt", ["notes.txt"]],
    ["command rm notes.txt", ["notes.txt"]],
    ["exec rm notes.txt", ["notes.txt"]],
    ["busybox rm notes.txt", ["notes.txt"]],
    ["time rm notes.txt", ["notes.txt"]],
    ["npx rimraf src", ["src/a.ts", "src/b.ts"]],
    ["sh <<'EOF'\nrm notes.txt\nEOF", ["notes.txt"]],
    ["> notes.txt", ["notes.txt"]],
    ["echo x > notes.txt", ["notes.txt"]],
    ["echo x >| notes.txt", ["notes.txt"]],
    ["echo x &> notes.txt", ["notes.txt"]],
    ["{ echo x; } > notes.txt", ["notes.txt"]],
    ["cat > notes.txt <<'EOF'\nnew\nEOF", ["notes.txt"]],
    ["mv clean.txt notes.txt", ["notes.txt"]],
    ["mv clean.txt changed.txt src", []],
    ["mv notes.txt /tmp/", ["notes.txt"]],
    ["mv notes.txt node_modules/x/", ["notes.txt"]],
    ["cp clean.txt notes.txt", ["notes.txt"]],
    ["cp -t src lib/a.ts", ["src/a.ts"]],
    ["install clean.txt notes.txt", ["notes.txt"]],
    ["ln -sf clean.txt notes.txt", ["notes.txt"]],
    ["dd if=/dev/zero of=notes.txt count=1", ["notes.txt"]],
    ["echo x | tee notes.txt", ["notes.txt"]],
    ["truncate -s 0 notes.txt", ["notes.txt"]],
    ["sort clean.txt | sponge notes.txt", ["notes.txt"]],
    ["sort -o notes.txt clean.txt", ["notes.txt"]],
    ["sed -i 's/n/m/' notes.txt", ["notes.txt"]],
    ["sed -i.bak -e 's/n/m/' notes.txt", ["notes.txt"]],
    ["perl -pi -e 's/n/m/' notes.txt", ["notes.txt"]],
    ["rsync -a --delete lib/ src/", ["src/a.ts", "src/b.ts"]],
    ["tar xf old.tar -C docs", ["docs/guide.md"]],
    ["unzip -o old.zip -d docs", ["docs/guide.md"]],
    ["find . -name '*.md' -delete", ["docs/guide.md"]],
    ["find src docs -type f -delete", ["docs/guide.md", "src/a.ts", "src/b.ts"]],
    ["find src -name 'a*' -exec rm {} \\;", ["src/a.ts"]],
    ["find src -exec sh -c 'rm \"$1\"' _ {} +", ["src/a.ts", "src/b.ts"]],
    ["git clean -fd", ["docs/guide.md", "notes.txt", "src/a.ts", "src/b.ts"]],
    ["git clean -fdx", [".env", "data/table.csv", "docs/guide.md", "notes.txt", "src/a.ts", "src/b.ts"]],
    ["git clean -fdX", [".env", "data/table.csv"]],
    ["git clean -fd docs", ["docs/guide.md"]],
    ["git -C src clean -fd", ["src/a.ts", "src/b.ts"]],
    ["git checkout -- .", ["changed.txt", "staged.txt"]],
    ["git checkout changed.txt", ["changed.txt"]],
    ["git checkout HEAD changed.txt", ["changed.txt"]],
    ["git restore .", ["changed.txt", "staged.txt"]],
    ["git reset --hard", ["changed.txt", "staged.txt"]],
    ["git reset --har HEAD", ["changed.txt", "staged.txt"]],
    ["git rm -f changed.txt", ["changed.txt"]],
    ["git merge --abort", ["changed.txt", "staged.txt"]],
    ["git stash -q && rm notes.txt", ["notes.txt"]],
  ] as const)("%s", async ([line, lost], { context }) => {
    const { decision, files } = await decide(line, { ...context, workspace: dirty });
    expect(files).toEqual(lost.toSorted());
    expect(decision).toBe(lost.length > 0 ? "ask" : "allow");
  });
});

describe("a command whose files cannot be told asks if the workspace has anything that git lacks", () => {
  test.for([
    'rm -rf "$(cat f)"',
    "rm -rf $UNKNOWN",
    "rm -rf `cat f`",
    "git ls-files | xargs rm",
    "find . | xargs -n 1 rm -f",
    "parallel rm ::: a b",
    "echo 'rm -rf src' | sh",
    "curl -s https://example.org/x | bash",
    'sh -c "$TEXT"',
    'eval "$TEXT"',
    "$PROGRAM -rf src",
    "mktemp() { echo src; }; rm -rf $(mktemp)",
    'remove() { rm -rf "$1"; }; remove src',
    "alias ls='rm -rf src'; ls",
    'cd "$UNKNOWN" && rm -rf src',
    "rm 'src",
    "rm -rf src )",
    "git $VERB -fdx",
    "git -c alias.x='!rm -rf src' x",
    'while read f; do rm "$f"; done < list',
    "python3 -c 'print(1)' > \"$OUT\"",
    "env -S 'rm -rf src'",
    "fd -e md -x rm",
  ])("%s", async (line, { context }) => {
    expect(await decide(line, { ...context, workspace: dirty })).toMatchObject({ decision: "ask" });
    expect(await decide(line, { ...context, workspace: clean })).toMatchObject({ decision: "allow" });
  });
});

describe("a command does not ask if it loses nothing", () => {
  test.for([
    "rm -rf node_modules",
    "rm -rf dist node_modules lib/__pycache__",
    "find . -name __pycache__ -exec rm -rf {} +",
    "find . -name '*.pyc' -delete",
    "rm clean.txt",
    "rm -rf lib old",
    "rm missing.txt",
    "rm -f *.log",
    "npm test",
    "npm run build && ls > /tmp/x",
    "ls > /tmp/x",
    "ls 2>/dev/null >&2",
    "echo x > new.txt",
    "echo x >> notes.txt",
    "cat notes.txt | tee -a changed.txt",
    "echo x > clean.txt",
    "sed 's/a/b/' notes.txt",
    "sed -n -e 1p notes.txt",
    "sed -i s/a/b/ clean.txt",
    "grep -r rm src",
    "echo rm -rf src",
    "printf '%s' 'rm -rf src'",
    "git commit -am 'rm -rf src'",
    "git status; git diff; git log -5",
    "git stash",
    "git checkout -b topic",
    "git checkout main",
    "git restore --staged clean.txt",
    "git clean -nfd",
    "git reset",
    "git rm clean.txt",
    "git add -A && git commit -m all",
    "cp notes.txt copy.txt",
    "cp -n clean.txt notes.txt",
    "mv notes.txt renamed.txt",
    "mv src lib/",
    "mkdir -p build && cd build && touch x && rm x",
    'D=$(mktemp -d); cp notes.txt $D; rm -rf "$D"',
    "T=/tmp/work.$$; mkdir $T; rm -rf $T",
    'rm -rf ~/.cache/x "$HOME/y" $TMPDIR/z',
    "tar czf /tmp/out.tgz src",
    "tar xf old.tar -C node_modules",
    "unzip old.zip",
    "python3 - <<'EOF'\nimport os\nEOF",
    "node -e 'console.log(1)'",
    "find . -name '*.md' | head -5",
    "timeout 5 grep -r rm src",
    "rmdir src",
    "ln -s clean.txt link.txt",
    "git branch -d gone",
    "if [ -f x ]; then echo yes; else echo no; fi",
  ])("%s", async (line, { context }) => {
    expect(await decide(line, { ...context, workspace: dirty })).toMatchObject({ decision: "allow" });
  });

  test("a file that the run has made itself, by a tool or by a command", async ({ context, folder }) => {
    await makeRepository(folder);
    const write = { id: "1", name: "write", args: { path: "made.txt", content: "by the run" }, problem: null };
    expect((await commands.run(write, context)).error).toBeNull();
    expect((await commands.run(shell("echo 1 > own.txt; cp notes.txt copy.txt"), context)).error).toBeNull();
    const removal = shell("rm made.txt own.txt copy.txt");
    expect(await commands.examine(removal, context)).toMatchObject({ decision: "allow" });
    await writeFile(join(folder, "own.txt"), "by the user");
    expect(await commands.examine(removal, context)).toMatchObject({
      decision: "ask",
      losses: { files: [{ path: "own.txt" }] },
    });
    expect((await commands.run(shell("mv notes.txt moved.txt"), context)).error).toBeNull();
    expect(await commands.examine(shell("rm moved.txt"), context)).toMatchObject({ decision: "ask" });
  });
});

test("calls of git ask in the same way", async ({ context, folder }) => {
  await makeRepository(folder);
  expect(await commands.examine(git("restore", "."), context)).toMatchObject({ decision: "ask", losses: { count: 2 } });
  expect(await commands.examine(git("checkout", "--", "clean.txt"), context)).toMatchObject({ decision: "allow" });
});

test("a branch and a stash that only git has count as lost", async ({ context, folder }) => {
  await makeRepository(folder);
  userGit(folder, "stash");
  userGit(folder, "checkout", "-q", "-b", "topic");
  userGit(folder, "commit", "-q", "--allow-empty", "-m", "only here");
  userGit(folder, "checkout", "-q", "main");
  expect(await commands.examine(shell("git branch -D topic"), context)).toMatchObject({ losses: { count: 1 } });
  expect(await commands.examine(shell("git stash drop"), context)).toMatchObject({ losses: { count: 1 } });
  expect(await commands.examine(shell("git branch -D main"), context)).toMatchObject({ decision: "allow" });
});

test("without a repository, git has nothing", async ({ context, folder }) => {
  await writeFiles(folder, { "a.txt": "a", "node_modules/x.js": "x" });
  const found = await commands.examine(shell("rm -rf a.txt node_modules"), context);
  expect(found.losses?.files.map(({ path }) => path)).toEqual(["a.txt", "node_modules/x.js"]);
});

test("links do not hide a file", async ({ context, folder }) => {
  await makeRepository(folder);
  await symlink("src", join(folder, "link"));
  await symlink("notes.txt", join(folder, "alias.txt"));
  userGit(folder, "add", "link", "alias.txt");
  userGit(folder, "commit", "-q", "-m", "links", "--", "link", "alias.txt");
  expect((await commands.examine(shell("rm link/a.ts"), context)).losses?.files).toEqual([
    { path: "src/a.ts", bytes: 1 },
  ]);
  expect((await commands.examine(shell("echo x > alias.txt"), context)).losses?.files[0]?.path).toBe("notes.txt");
  expect(await commands.examine(shell("rm alias.txt"), context)).toMatchObject({ decision: "allow" });
});

test("the index cannot hide a change", async ({ context, folder }) => {
  await makeRepository(folder);
  userGit(folder, "update-index", "--assume-unchanged", "changed.txt");
  expect(await commands.examine(shell("rm changed.txt"), context)).toMatchObject({ losses: { count: 1 } });
});

test("no program of the repository runs", async ({ context, folder }) => {
  await makeRepository(folder);
  await mkdir(join(folder, ".git", "hooks"), { recursive: true });
  const script = `#!/bin/sh\ntouch ${folder}/ran\ncat\n`;
  await writeFile(join(folder, ".git", "run.sh"), script, { mode: 0o755 });
  userGit(folder, "config", "core.fsmonitor", `${folder}/.git/run.sh`);
  userGit(folder, "config", "filter.x.clean", `${folder}/.git/run.sh`);
  await writeFile(join(folder, ".gitattributes"), "* filter=x\n");
  await commands.examine(shell("rm -rf changed.txt ran"), context);
  await commands.examine(shell("rm -rf $X"), context);
  expect((await commands.examine(shell("rm ran"), context)).losses).toBeUndefined();
});

test("a run in a copy of its own loses nothing of the user", async ({ context, folder }) => {
  await makeRepository(folder);
  const own = { ...context, project: null };
  expect(await commands.examine(shell("rm -rf src"), own)).toMatchObject({ decision: "allow" });
  expect(await commands.examine(shell("rm -rf src"), { ...context, project: folder })).toMatchObject({
    decision: "ask",
  });
});

describe("the policy", () => {
  test("can allow and deny it", async ({ context, folder }) => {
    await makeRepository(folder);
    const allowing = await createCommandHost({ policy: { commands: { loss: "allow" } } });
    expect(await allowing.examine(shell("rm -rf src"), context)).toMatchObject({ decision: "allow" });
    const denying = await createCommandHost({ policy: { commands: { loss: "deny" } } });
    expect(await denying.examine(shell("rm -rf src"), context)).toMatchObject({ decision: "deny" });
    expect((await denying.run(shell("rm -rf src"), { ...context, approved: true })).output).toContain("denies it");
  });

  test("is checked again where the command runs", async ({ context, folder }) => {
    await makeRepository(folder);
    const refused = await commands.run(shell("rm -rf src"), context);
    expect(refused.error).toMatchObject({ type: "permission" });
    expect(refused.output).toContain("src/a.ts, src/b.ts");
    expect((await commands.run(shell("rm -rf src"), { ...context, approved: true })).error).toBeNull();
  });
});

test("the question names the files, their number and their size", async ({ context, folder }) => {
  await makeRepository(folder);
  const found = await commands.examine(shell("rm -rf src docs notes.txt data .env"), context);
  expect(found.reason).toBe(
    "it deletes or overwrites 6 files that git does not have (21 bytes): .env, data/table.csv, docs/guide.md, notes.txt, src/a.ts and 1 others",
  );
  expect(found.losses).toMatchObject({ count: 6, bytes: 21 });
});

test("without a sandbox, files outside of the workspace count as well", async ({ context, folder }) => {
  await makeRepository(folder);
  const open = await createCommandHost({ isSandboxed: false });
  const { losses } = await open.examine(shell("rm -rf /home"), context);
  expect(losses?.files.map(({ path }) => path)).toEqual(["/home"]);
});
