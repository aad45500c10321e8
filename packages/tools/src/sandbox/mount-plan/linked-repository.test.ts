/**
 * The repository of a linked git worktree lies outside the workspace. Commands may commit to it and change no shared
 * settings.
 */
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { makeRepository, putFiles, setUpGit } from "../../commands/git.fixture.ts";
import { planned, runLine, sandboxTest as test } from "../sandbox.fixture.ts";

const who = "git -c user.name=a -c user.email=a@example.org -c safe.directory='*'";

for (const kind of planned) {
  describe(`${kind}: in a linked worktree`, () => {
    test("a command commits on its branch", async ({ sandboxOf, folder }) => {
      const linked = await makeLinked(folder);
      const line = `echo b > b.txt && ${who} add b.txt && ${who} commit -qm own && ${who} log --format=%s`;
      const end = await runLine(await sandboxOf(kind), linked, line);
      expect(end.output).toBe("own\nbegin\n");
      expect(setUpGit(join(folder, "repository"), "show", "side:b.txt")).toBe("b\n");
    });

    test("a command writes neither settings nor hooks, and no file of other checkouts", async ({
      sandboxOf,
      folder,
    }) => {
      const linked = await makeLinked(folder);
      const git = join(folder, "repository", ".git");
      const own = join(git, "worktrees", "linked");
      const [config, gitdir] = await Promise.all([
        readFile(join(git, "config"), "utf8"),
        readFile(join(own, "gitdir"), "utf8"),
      ]);
      const places = ["config", "hooks/pre-commit", "HEAD", "config.worktree", "info/attributes"].map((name) =>
        join(git, name),
      );
      const ofOwn = ["gitdir", "commondir", "config.worktree"].map((name) => join(own, name));
      const line = [...places, ...ofOwn, join(folder, "repository/a.txt"), join(linked, ".git")]
        .map(
          (path) => `rm -f ${path}; echo bad > ${path}; echo bad > ${path}.x && mv ${path}.x ${path}; rm -f ${path}.x`,
        )
        .join("\n");
      await runLine(await sandboxOf(kind), linked, line);
      expect(await readFile(join(git, "config"), "utf8")).toBe(config);
      expect(await readFile(join(own, "gitdir"), "utf8")).toBe(gitdir);
      expect(existsSync(join(git, "hooks/pre-commit"))).toBe(false);
      expect(existsSync(join(own, "config.worktree"))).toBe(false);
      expect(setUpGit(join(folder, "repository"), "status", "--porcelain")).toBe("");
      expect(setUpGit(linked, "status", "--porcelain")).toBe("");
    });

    test("a command leaves no commands for the next rebase, and names no other repository", async ({
      sandboxOf,
      folder,
    }) => {
      const linked = await makeLinked(folder);
      const git = join(folder, "repository", ".git");
      const own = join(git, "worktrees", "linked");
      const line = [`${git}/objects/info/alternates`, `${own}/rebase-merge/git-rebase-todo`, `${own}/sequencer/opts`]
        .map((path) => `mkdir -p $(dirname ${path}); echo exec evil strategy > ${path}`)
        .join("\n");
      await runLine(await sandboxOf(kind), linked, `${line}\nmv ${git}/objects/info ${git}/objects/other`);
      expect(existsSync(join(git, "objects/info/alternates"))).toBe(false);
      expect(existsSync(join(git, "objects/other"))).toBe(false);
      expect(existsSync(join(own, "rebase-merge/git-rebase-todo"))).toBe(false);
      expect(existsSync(join(own, "sequencer/opts"))).toBe(false);

      await mkdir(join(own, "rebase-merge"), { recursive: true });
      await writeFile(join(own, "rebase-merge/git-rebase-todo"), "exec good\n");
      await runLine(
        await sandboxOf(kind),
        linked,
        `echo exec evil > ${own}/rebase-merge/git-rebase-todo; mv ${own}/rebase-merge ${own}/r`,
      );
      expect(await readFile(join(own, "rebase-merge/git-rebase-todo"), "utf8")).toBe("exec good\n");
    });

    test("a command with a write scope only reads", async ({ sandboxOf, folder }) => {
      const linked = await makeLinked(folder);
      const line = `${who} log --format=%s; ${who} commit -q --allow-empty -m own; echo x > $(git rev-parse --git-common-dir)/objects/x`;
      for (const writes of [[[]], [["src"]]]) {
        const end = await runLine(await sandboxOf(kind), linked, line, { writes });
        expect(end.stdout).toBe("begin\n");
        expect(setUpGit(join(folder, "repository"), "log", "--format=%s", "side")).toBe("begin\n");
      }
    });

    test("a folder that only claims to be a worktree sees no repository", async ({ sandboxOf, folder }) => {
      const linked = await makeLinked(folder);
      const forged = join(folder, "forged");
      await mkdir(forged);
      await copyFile(join(linked, ".git"), join(forged, ".git"));
      const end = await runLine(await sandboxOf(kind), forged, `ls ${folder}/repository; ${who} log`);
      expect(end.stdout).toBe("");
    });
  });
}

async function makeLinked(folder: string): Promise<string> {
  const repository = join(folder, "repository");
  putFiles(repository, { "a.txt": "a\n" });
  makeRepository(repository, {});
  setUpGit(repository, "worktree", "add", "--quiet", "-b", "side", join(folder, "linked"));
  await writeFile(join(repository, ".git/info/exclude"), "");
  return join(folder, "linked");
}
