// Attack tests: each one tries to escape, as a command, from every kind of sandbox that contains.
import { existsSync } from "node:fs";
import { chmod, link, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, vi } from "vitest";
import { containing, living, planned, runLine, sandboxTest as test } from "./sandbox.fixture.ts";

/** Shell lines that succeed with a right that no command has. */
const attempts: Readonly<Record<string, string>> = {
  "to mount": "mount -t tmpfs tmpfs /tmp",
  "to make a file writable": "mount -o remount,rw /usr",
  "to uncover a file": "umount /etc/shadow",
  "to uncover a folder": "umount -l /proc",
  "to change its root": "chroot / true",
  "to create namespaces": "unshare -U true || unshare -Ur true || unshare -m true",
  // Writes the current value, so that a success would change nothing.
  "to change the machine's settings":
    "for it in core_pattern pid_max hostname; do was=$(cat /proc/sys/kernel/$it); echo $was > /proc/sys/kernel/$it && exit 0; done; false",
  "to see a root below its own": "[ $(awk '$5 == \"/\"' /proc/self/mountinfo | wc -l) -gt 1 ]",
  "to see the folder that its root was built in": "ls -d /proc/1/root/home /proc/1/root/sys /proc/1/cwd/sys /.mounts",
  "to make devices": "mknod x b 1 1",
  "to become another user": "su -c true nobody || sudo -n true",
};

for (const kind of containing) {
  describe(`${kind}: a command cannot read`, () => {
    test("files beside its workspace", async ({ run, folder }) => {
      await writeFile(join(folder, "secret.txt"), "SECRET");
      const end = await run(
        kind,
        `cat ${folder}/secret.txt; ls ${folder}; cat ../secret.txt; ln -s ../secret.txt s; cat s`,
      );
      expect(end.output).not.toContain("SECRET");
      expect(end.stdout.trim()).toBe("workspace");
    });

    test("hidden folders, although its workspace is in one", async ({ sandboxOf, folder }) => {
      const home = join(folder, "troupe-home");
      const workspace = join(home, "workspaces", "a");
      await mkdir(workspace, { recursive: true });
      await writeFile(join(home, "journal.db"), "SECRET");
      await mkdir(join(home, "workspaces", "b"));
      const sandbox = await sandboxOf(kind, { readable: [folder] }, {});
      const hiding = await sandboxOf(kind, { readable: [folder] }, { hidden: [home] });

      expect((await runLine(sandbox, workspace, `cat ${home}/journal.db`)).stdout).toBe("SECRET");
      const end = await runLine(hiding, workspace, `cat ${home}/journal.db; ls ${home} ${home}/workspaces; touch mine`);
      expect(end.output).not.toContain("SECRET");
      expect(end.stdout).toBe(`${home}:\nworkspaces\n\n${home}/workspaces:\na\n`);
      expect(await readdir(workspace)).toEqual(["mine"]);
    });

    test("the user's home, keys in a workspace that is a home, and the system's secrets", async ({ run }) => {
      const end = await run(
        kind,
        `ls -A ${homedir()}/.ssh ${homedir()}/.bashrc; cat /etc/shadow /etc/gshadow; ls -A /home`,
      );
      expect(end.stdout).toBe("");
    });

    test("the environment of its parent process", async ({ run }) => {
      vi.stubEnv("ANTHROPIC_API_KEY", "sk-canary");
      const end = await run(kind, "env; cat /proc/*/environ; cat /proc/1/root/proc/1/environ");
      vi.unstubAllEnvs();
      expect(end.output).not.toContain("sk-canary");
      expect(end.output).toContain("HOME=/run/home");
      expect((await run(kind, "touch $HOME/a $TMPDIR/b; ls -A $HOME $TMPDIR | wc -l")).code).toBe(0);
    });
  });

  describe(`${kind}: a command cannot write`, () => {
    test("outside of its workspace", async ({ run, folder }) => {
      const end = await run(
        kind,
        `echo x > ${folder}/made; echo x > /etc/made; echo x > /usr/made; echo x > /made; echo x > in`,
      );
      expect(existsSync(join(folder, "made"))).toBe(false);
      expect(existsSync("/etc/made")).toBe(false);
      expect(end.code).toBe(0);
      expect(await readFile(join(folder, "workspace", "in"), "utf8")).toBe("x\n");
    });

    test("outside of its scopes", async ({ run, workspace }) => {
      await mkdir(join(workspace, "src", "test"), { recursive: true });
      await mkdir(join(workspace, "node_modules", "test"), { recursive: true });
      const line =
        "for at in . src src/test test docs node_modules/test; do touch $at/made; done; mv test moved; ls -d */";

      await run(kind, line, { writes: [["**/test", "docs"]] });

      expect(await filesNamed(workspace, "made")).toEqual(["docs/made", "src/test/made"]);
    });

    test("anywhere if its scopes have nothing in common, or are empty", async ({ run, workspace }) => {
      await mkdir(join(workspace, "a"));
      for (const writes of [[[]], [["a"], ["b"]], [["a"], []]]) {
        expect((await run(kind, "touch made a/made b/made", { writes })).code).not.toBe(0);
      }
      await run(kind, "touch a/b/made a/made", { writes: [["a"], ["a/b"]] });
      expect(await filesNamed(workspace, "made")).toEqual(["a/b/made"]);
    });

    test("through a scope that is a link", async ({ run, workspace, folder }) => {
      await mkdir(join(folder, "elsewhere"));
      await symlink("../elsewhere", join(workspace, "test"));
      await run(kind, "touch test/made", { writes: [["test"]] });
      expect(await readdir(join(folder, "elsewhere"))).toEqual([]);
    });
  });
}

for (const kind of planned) {
  describe(`${kind}: a command cannot change protected paths`, () => {
    const present = [
      ".claude/settings.json",
      ".mcp.json",
      ".git/config",
      ".git/hooks/pre-commit",
      "a/b/.vscode/tasks.json",
    ];

    test.for([
      ["by writing", "for f in $F; do echo evil > $f; echo evil >> $f; done"],
      ["by removing", "for f in $F; do rm -rf $f; echo evil > $f; done"],
      ["by renaming over", "for f in $F; do echo evil > new; mv -f new $f; done"],
      [
        "by renaming the folder above",
        "for f in .git .claude a a/b; do mv $f old-$(basename $f); done; mkdir -p .git/hooks .claude a/b/.vscode; for f in $F; do echo evil > $f; done",
      ],
      ["through a link", "for f in $F; do ln -sf $f way; echo evil > way; rm way; done"],
      ["through a hard link", "for f in $F; do rm -f way; ln $f way && echo evil > way; done"],
      [
        "by mounting",
        "mount --bind /tmp .git; umount .git/hooks; mount -o remount,rw .git/hooks; for f in $F; do echo evil > $f; done",
      ],
    ] as const)("%s", async ([, line], { run, workspace }) => {
      for (const file of present) {
        await mkdir(dirname(join(workspace, file)), { recursive: true });
        await writeFile(join(workspace, file), "good");
      }
      await run(kind, `F="${present.join(" ")}"; ${line}; true`);
      for (const file of present) expect(await readFile(join(workspace, file), "utf8"), file).toBe("good");
      expect(await filesWith(workspace, "evil")).not.toContainEqual(expect.stringMatching(/\.(git|claude|mcp|vscode)/));
    });

    test("also if a path does not exist, and no placeholder is left", async ({ run, workspace }) => {
      await mkdir(join(workspace, ".git"));
      const end = await run(
        kind,
        "for f in .claude .vscode .husky .troupe .mcp.json .envrc .git/hooks; do mkdir -p $f; echo evil > $f/x; rmdir $f; echo evil > $f; done; echo evil > .git/config.worktree; true",
      );
      expect(end.output).toContain("Read-only file system");
      expect(await readdir(workspace)).toEqual([".git"]);
      expect(await readdir(join(workspace, ".git"))).toEqual([]);
    });

    test("by a repository of its own: its hooks are removed, and the output says so", async ({ run, workspace }) => {
      const end = await run(
        kind,
        "mkdir -p sub/.git/hooks sub/.claude .git/hooks; echo evil > sub/.git/hooks/pre-commit; echo evil > .git/hooks/x; echo . > .git/commondir; touch sub/.claude/x sub/good",
      );
      expect(end.output).toContain("sub/.git/hooks");
      expect(end.output).toContain("sub/.claude");
      expect(await filesWith(workspace, "evil")).toEqual([]);
      expect(existsSync(join(workspace, ".git", "commondir"))).toBe(false);
      expect(await readdir(join(workspace, "sub"))).toEqual([".git", "good"]);
    });

    test("by an existing hard link", async ({ run, workspace }) => {
      await writeFile(join(workspace, ".mcp.json"), "good");
      await link(join(workspace, ".mcp.json"), join(workspace, "way"));
      await run(kind, "echo evil > way");
      expect(await readFile(join(workspace, ".mcp.json"), "utf8")).toBe("good");
    });

    test("by a replaced link", async ({ run, workspace }) => {
      await mkdir(join(workspace, "mine"));
      await mkdir(join(workspace, "evil"));
      await symlink("mine", join(workspace, ".claude"));
      const end = await run(kind, "rm .claude; ln -s evil .claude");
      expect(end.output).toContain(".claude");
      expect(existsSync(join(workspace, ".claude"))).toBe(true);
      await rm(join(workspace, "evil"), { recursive: true });
      expect(existsSync(join(workspace, ".claude"))).toBe(true);
    });

    test("while other commands run", async ({ sandboxOf, workspace }) => {
      const sandbox = await sandboxOf(kind);
      const waiting = (name: string) =>
        `touch ${name}; while [ ! -e go-${name} ]; do sleep 0.05; done; mkdir -p .claude; echo evil > .claude/x`;
      const started = (name: string) => vi.waitUntil(() => existsSync(join(workspace, name)));
      const first = runLine(sandbox, workspace, waiting("first"));
      await started("first");
      const second = runLine(sandbox, workspace, waiting("second"));
      await started("second");
      await runLine(sandbox, workspace, "true");

      for (const [name, running] of Object.entries({ first, second })) {
        await writeFile(join(workspace, `go-${name}`), "");
        expect((await running).output, name).toContain("Read-only file system");
      }
      expect(await readdir(workspace)).toEqual(["first", "go-first", "go-second", "second"]);
    });

    test("and a file that the user writes there meanwhile stays", async ({ sandboxOf, workspace }) => {
      const sandbox = await sandboxOf(kind);
      const slow = runLine(sandbox, workspace, "while [ ! -e go ]; do sleep 0.05; done");
      await vi.waitUntil(() => existsSync(join(workspace, ".claude")));
      await writeFile(join(workspace, ".claude", "settings.json"), "mine");
      await writeFile(join(workspace, "go"), "");
      await slow;
      expect(await readFile(join(workspace, ".claude", "settings.json"), "utf8")).toBe("mine");
    });
  });
}

for (const kind of containing) {
  describe(`${kind}: a command cannot reach`, () => {
    test("the machine's own ports, unless its owner allows the network, but ports of its own", async ({
      sandboxOf,
      workspace,
    }) => {
      const server = createServer((_, response) => response.end("REACHED")).listen(0, "127.0.0.1");
      await vi.waitUntil(() => server.listening);
      const { port } = server.address() as AddressInfo;
      // Prints the answer of the machine's port, and of a server of its own: tests start servers.
      const ask = `
        const get = (port) => fetch("http://127.0.0.1:" + port).then((r) => r.text(), (e) => e.cause.code);
        const own = require("node:http").createServer((_, r) => r.end("OWN")).listen(0, "127.0.0.1", async () => {
          console.log(await get(${port}), await get(own.address().port));
          own.close();
        })`;
      const line = { argv: [process.execPath, "-e", ask] };

      const without = await runLine(await sandboxOf(kind), workspace, "", line);
      const given = await runLine(await sandboxOf(kind, { network: true }), workspace, "", line);
      server.close();

      expect(without.output).toMatch(/^E\w+ OWN\n$/);
      expect(given.stdout).toBe("REACHED OWN\n");
    });

    test("processes of the machine", async ({ run, token, sandboxOf, workspace }) => {
      const sandbox = await sandboxOf(kind);
      const abort = new AbortController();
      const other = runLine(sandbox, workspace, `exec sleep ${token}`, { signal: abort.signal });
      await vi.waitUntil(async () => (await living(token)).length > 0);
      const end = await run(kind, `ls /proc | grep -c '^[0-9]'; kill -9 ${process.pid} -1`);
      expect(Number(end.stdout.split("\n")[0])).toBeLessThan(10);
      expect(await living(token)).not.toEqual([]);
      abort.abort();
      expect((await other).reason).toBe("aborted");
    });

    test("sockets of the machine", async ({ run }) => {
      expect((await run(kind, "find / -xdev -type s 2> /dev/null; ls -A /run")).stdout).toBe("home\n");
    });
  });

  describe(`${kind}: a command has no rights`, () => {
    test("of any kind, and cannot get any", async ({ run }) => {
      const end = await run(kind, "grep -E '^(Cap(Eff|Prm|Bnd|Amb|Inh)|NoNewPrivs)' /proc/self/status /proc/1/status");
      const values = end.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(":\t")[1]);
      expect(values).toHaveLength(12);
      expect(new Set(values)).toEqual(new Set(["0000000000000000", "1"]));
    });

    test("by any attempt", async ({ run }) => {
      const line = Object.entries(attempts).map(([what, attempt]) => `(${attempt}) > /dev/null && echo "${what}"`);
      expect((await run(kind, [...line, "echo all tried"].join("\n"))).stdout).toBe("all tried\n");
    });
  });
}

for (const kind of planned) {
  test(`${kind}: programs in a user's home are found, and keys beside them are not`, async ({
    sandboxOf,
    workspace,
    folder,
    programs,
  }) => {
    const home = join(folder, "person");
    for (const [file, text] of Object.entries({
      ".nvm/versions/node/v1/bin/mine": '#!/bin/sh\ncat "$(dirname "$0")/../lib/part"\n',
      ".nvm/versions/node/v1/lib/part": "it works\n",
      ".local/bin/tool": "#!/bin/sh\necho tool\n",
      ".local/share/keyrings/key": "SECRET",
      "bin/own": "#!/bin/sh\necho own\n",
      "notes.txt": "SECRET",
    })) {
      await mkdir(dirname(join(home, file)), { recursive: true });
      await writeFile(join(home, file), text);
      if (file.includes("bin/")) await chmod(join(home, file), 0o755);
    }
    vi.stubEnv("HOME", home);
    const made = await sandboxOf(kind);
    const path = ["bin", ".local/bin", ".nvm/versions/node/v1/bin"].map((name) => join(home, name)).join(":");
    const sandbox = await sandboxOf(kind, {}, { path: `${join(programs, kind)}:${path}` });
    const end = await runLine(
      sandbox,
      workspace,
      `mine; tool; own; cat ${home}/notes.txt ${home}/.local/share/keyrings/key`,
    );
    vi.unstubAllEnvs();

    expect(made.kind).toBe(kind);
    expect(end.stdout).toBe("it works\ntool\nown\n");
  });

  test(`${kind}: a workspace and readable files are found by the names of links to them`, async ({
    sandboxOf,
    folder,
  }) => {
    await mkdir(join(folder, "real", "workspace"), { recursive: true });
    await writeFile(join(folder, "real", "part"), "part");
    await symlink("real", join(folder, "way"));
    const workspace = join(folder, "way", "workspace");
    const line = `cat ${folder}/way/part; touch ${workspace}/made; cd ${workspace} && pwd -P`;

    const end = await runLine(await sandboxOf(kind), workspace, line, { readable: [join(folder, "way", "part")] });

    expect(end.stdout).toBe(`part${folder}/real/workspace\n`);
    expect(await readdir(workspace)).toEqual(["made"]);
  });
}

for (const kind of containing) {
  test(`${kind}: blanks, quotes and backslashes in names work`, async ({ sandboxOf, folder }) => {
    const odd = join(folder, "a b 'c' \"d\" $e \\f #g");
    await mkdir(join(odd, ".git", "hooks"), { recursive: true });
    await mkdir(join(odd, "te st"));
    const sandbox = await sandboxOf(kind);

    const end = await runLine(sandbox, odd, "pwd; touch made 'te st/made'; echo evil > .git/hooks/x");

    expect(end.stdout).toBe(`${odd}\n`);
    expect(await filesNamed(odd, "made")).toEqual(["made", "te st/made"]);
    expect(await filesWith(odd, "evil")).toEqual([]);
    await runLine(sandbox, odd, "touch more 'te st/more'", { writes: [["te st"]] });
    expect(await filesNamed(odd, "more")).toEqual(["te st/more"]);
  });
}

async function filesNamed(folder: string, name: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true });
  return all.filter((path) => path === name || path.endsWith(`/${name}`)).sort();
}

async function filesWith(folder: string, text: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files.map(async (file) => ((await readFile(file, "utf8")).includes(text) ? [file] : [])),
  );
  return found
    .flat()
    .map((file) => file.slice(folder.length + 1))
    .sort();
}
