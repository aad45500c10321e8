// Attack tests: each one tries, as a command, to change a file that other programs run or obey later.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, vi } from "vitest";
import { type ProtectionClass, protectedTable } from "../workspace/protected-table.ts";
import { containing, planned, runLine, sandboxTest as test } from "./sandbox.fixture.ts";

const closed = [...namesOf("never"), ...namesOf("asks")];

for (const kind of containing) {
  describe(`${kind}: a file that runs later`, () => {
    test("cannot be made by a command, for each name of the table", async ({ run, workspace }) => {
      const paths = closed.map((name) => `a/${name}`);
      const folders = new Set(paths.map((path) => dirname(path)));
      const line = `mkdir -p ${[...folders].join(" ")}; for f in ${paths.join(" ")}; do echo evil > $f; done; true`;
      const end = await run(kind, line);
      const made = closed.filter((name) => existsSync(join(workspace, "a", name)));
      expect(made).toEqual([]);
      expect(end.output).toMatch(
        /undone, because no command may write it: .*a\/\.npmrc.*; for a\/\S+, a file tool can ask a person/,
      );
    });

    test("cannot be changed by a command, for each name of the table", async ({ run, workspace }) => {
      await put(workspace, Object.fromEntries(closed.map((name) => [`b/${name}`, "good"])));
      const names = closed.map((name) => `b/${name}`).join(" ");
      const line = `for f in ${names}; do echo evil > $f; echo evil > new; mv -f new $f; done; rm -f ${names}; true`;
      await run(kind, line);
      const changed = [];
      for (const name of closed) {
        if ((await readFile(join(workspace, "b", name), "utf8").catch(() => "")) !== "good") changed.push(name);
      }
      expect(changed).toEqual([]);
    });

    test("cannot be reached by a link to its folder", async ({ run, workspace }) => {
      await run(kind, "mkdir x; echo evil > x/config.toml; ln -s x .cargo; ln -s ../x sub.cargo; ln -s x .config");
      expect(await readdir(workspace)).toEqual(["sub.cargo", "x"]);
    });

    test("can be changed by a command where it is only marked", async ({ run, workspace }) => {
      await run(
        kind,
        "mkdir -p .github/workflows; for f in .github/workflows/ci.yml AGENTS.md conftest.py; do echo x > $f; done",
      );
      expect(await readdir(workspace)).toEqual([".github", "AGENTS.md", "conftest.py"]);
    });
  });
}

for (const kind of planned) {
  describe(`${kind}: a repository with another name`, () => {
    const bare = { "r/HEAD": "ref: refs/heads/main\n", "r/config": "good", "r/objects/x": "", "r/refs/x": "" };

    test("keeps its settings and hooks", async ({ run, workspace }) => {
      await put(workspace, { ...bare, "r/hooks/x": "good" });
      await run(
        kind,
        "echo evil > r/config; echo evil > r/hooks/x; mv r s; mv r/hooks r/h; rm -rf r/config; echo evil > r/config",
      );
      expect(await readFile(join(workspace, "r/config"), "utf8")).toBe("good");
      expect(await readFile(join(workspace, "r/hooks/x"), "utf8")).toBe("good");
    });

    test("gets no settings that it did not have", async ({ run, workspace }) => {
      await put(workspace, { "r/HEAD": bare["r/HEAD"], "r/objects/x": "", "r/refs/x": "" });
      await run(
        kind,
        "echo evil > r/config; mkdir -p r/hooks; echo evil > r/hooks/x; echo evil > r/commondir; mkdir -p r/objects/info; echo evil > r/objects/info/alternates",
      );
      expect((await readdir(join(workspace, "r"))).sort()).toEqual(["HEAD", "objects", "refs"]);
      expect(await readdir(join(workspace, "r/objects/info"))).toEqual([]);
    });

    test("is none after the command that made it, and the output says so", async ({ run, workspace }) => {
      const end = await run(
        kind,
        "mkdir -p r/objects r/refs; echo 'ref: refs/heads/main' > r/HEAD; echo evil > r/config",
      );
      expect(await readdir(join(workspace, "r"))).toEqual(["config", "objects", "refs"]);
      expect(end.output).toContain("r/HEAD");
    });

    test("is none if several commands make its pieces, in any order", async ({ sandboxOf, workspace }) => {
      const sandbox = await sandboxOf(kind);
      const pieces = ["echo evil > config", "mkdir objects", "ln -s refs/heads/main HEAD", "mkdir -p refs/heads"];
      for (const piece of pieces) await runLine(sandbox, workspace, piece);
      expect(await readdir(workspace)).toEqual(["config", "objects", "refs"]);
    });

    test("is none if it names another folder as its repository", async ({ run, workspace }) => {
      await run(
        kind,
        "mkdir -p y/objects y/refs x; echo evil > y/config; echo ../y > x/commondir; echo 'ref: refs/heads/a' > x/HEAD",
      );
      expect(await readdir(join(workspace, "x"))).toEqual(["commondir"]);
    });

    test("leaves a user's own folder named config alone", async ({ run, workspace }) => {
      await put(workspace, { "config/mine": "mine" });
      await run(kind, "mkdir objects refs; echo 'ref: refs/heads/a' > HEAD");
      expect(await readFile(join(workspace, "config/mine"), "utf8")).toBe("mine");
      expect(existsSync(join(workspace, "HEAD"))).toBe(false);
    });
  });

  describe(`${kind}: the parts of .git that no commit changes`, () => {
    const inGit = [
      ...["objects/info/alternates", "rebase-merge/git-rebase-todo", "rebase-merge/strategy", "sequencer/opts"],
      ...["worktrees/w/config.worktree", "worktrees/w/commondir", "worktrees/w/rebase-merge/git-rebase-todo"],
      ...["remotes/origin", "branches/main", "modules/m/config"],
    ];
    const evil = "exec touch /tmp/strategy";

    test("cannot be made by a command", async ({ run, workspace }) => {
      await put(workspace, { ".git/HEAD": "ref: refs/heads/main\n", ".git/info/exclude": "" });
      await run(kind, `cd .git; for f in ${inGit.join(" ")}; do mkdir -p \${f%/*}; echo ${evil} > $f; done; true`);
      expect(inGit.filter((name) => existsSync(join(workspace, ".git", name)))).toEqual([]);
    });

    test("cannot be changed by a command", async ({ run, workspace }) => {
      const before = "exec good strategy";
      await put(workspace, Object.fromEntries(inGit.map((name) => [`.git/${name}`, before])));
      await run(kind, `cd .git; for f in ${inGit.join(" ")}; do echo ${evil} > $f; rm -rf $f; done; true`);
      for (const name of inGit) expect(await readFile(join(workspace, ".git", name), "utf8"), name).toBe(before);
    });

    test("can be made where git makes them in ordinary work", async ({ run, workspace }) => {
      await put(workspace, { ".git/HEAD": "ref: refs/heads/main\n" });
      await run(
        kind,
        "mkdir .git/rebase-merge; printf 'pick a one\\n# x\\n' > .git/rebase-merge/git-rebase-todo; echo ort > .git/rebase-merge/strategy",
      );
      expect(await readdir(join(workspace, ".git/rebase-merge"))).toEqual(["git-rebase-todo", "strategy"]);
    });
  });

  test(`${kind}: a protected link stays, with its target`, async ({ run, workspace }) => {
    await put(workspace, { "x/config.toml": "good" });
    await symlink("x", join(workspace, ".cargo"));
    await run(kind, "rm .cargo; mkdir .cargo; echo evil > .cargo/config.toml");
    expect(await readFile(join(workspace, ".cargo/config.toml"), "utf8")).toBe("good");
  });
}

/** The names of a class, with a text for each `*`. */
function namesOf(wanted: ProtectionClass): string[] {
  const rows = protectedTable.filter((row) => row.class === wanted);
  return rows.flatMap(({ names }) => names.map((name) => name.replace("*", "x")));
}

async function put(workspace: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
}

for (const kind of containing) {
  describe(`${kind}: a protected file that a person makes while a command runs`, () => {
    test("is kept, and the output says where", async ({ sandboxOf, folder, workspace }) => {
      const removedFolder = join(folder, "removed");
      const sandbox = await sandboxOf(kind, {}, { removedFolder });
      const running = runLine(sandbox, workspace, "touch started; while [ ! -e go ]; do sleep 0.05; done");
      await vi.waitUntil(() => existsSync(join(workspace, "started")));
      await mkdir(join(workspace, "sub/.cursor"), { recursive: true });
      await writeFile(join(workspace, "sub/.cursor/mcp.json"), "mine");
      await writeFile(join(workspace, "go"), "");
      const { output } = await running;

      expect(existsSync(join(workspace, "sub/.cursor"))).toBe(false);
      const saved = /kept for the user in (\S+)\]/.exec(output)?.[1] ?? "";
      expect(saved.startsWith(removedFolder)).toBe(true);
      expect(await readFile(join(saved, "sub/.cursor/mcp.json"), "utf8")).toBe("mine");
    });
  });
}
