import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe } from "vitest";
import { fileTools } from "../files/file-tools.test-helper.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { readHeldFile } from "./file-version.ts";
import type { FolderAccess } from "./open-folder.ts";
import { openFolder, readWorkspaceFile, resolvePath } from "./resolve-path.ts";

const { read, ls, edit, write, write_local_file, apply_patch } = fileTools();
const holdings: FolderAccess[] = ["handles", "names"];

/** A workspace, `inside/`, beside folders that it must not reach. */
const test = workspaceTest.extend<{ inside: string }>({
  inside: async ({ folder }, use) => {
    const inside = join(folder, "inside");
    await mkdir(join(inside, "docs"), { recursive: true });
    await mkdir(join(folder, "inside-too"));
    await writeFile(join(folder, "secret.txt"), "SECRET");
    await writeFile(join(folder, "inside-too", "secret.txt"), "SECRET");
    await writeFile(join(inside, "plain.txt"), "plain");
    await symlink("../secret.txt", join(inside, "link-to-file"));
    await symlink("..", join(inside, "link-to-folder"));
    await symlink("../not-there-yet", join(inside, "link-to-nothing"));
    await symlink("loop", join(inside, "loop"));
    await symlink("docs", join(inside, "link-inside"));
    await symlink("/proc/self", join(inside, "link-to-proc"));
    await symlink("/proc/self/root", join(inside, "link-to-root"));
    await symlink("link-to-folder", join(inside, "link-to-link"));
    await symlink("docs/../../secret.txt", join(inside, "link-detour"));
    await symlink(join(inside, "docs"), join(inside, "link-absolute"));
    await symlink("link-one", join(inside, "link-chain"));
    await symlink("docs/link-up/plain.txt", join(inside, "link-one"));
    await symlink("..", join(inside, "docs", "link-up"));
    await writeFile(join(inside, "docs", "a.md"), "a");
    await use(inside);
  },
});

const escapes: { path: string; as: string }[] = [
  { path: "../secret.txt", as: "the folder above" },
  { path: "docs/../../secret.txt", as: "the folder above, on a detour" },
  { path: "docs/..", as: ".. that would stay inside" },
  { path: "{outside}/secret.txt", as: "an absolute path" },
  { path: "{outside}/inside-too/secret.txt", as: "a sibling whose name begins the same" },
  { path: "{outside}/inside/../secret.txt", as: "an absolute path with .." },
  { path: "/etc/passwd", as: "a file of the system" },
  { path: "link-to-file", as: "a link to a file outside" },
  { path: "link-to-folder/secret.txt", as: "a file behind a link to a folder outside" },
  { path: "link-to-folder/new/file.txt", as: "a new file behind such a link" },
  { path: "link-to-nothing", as: "a link to a missing file" },
  { path: "link-to-nothing/file.txt", as: "a file behind such a link" },
  { path: "link-to-proc/environ", as: "the process's own environment" },
  { path: "link-to-root/etc/passwd", as: "the root of everything, by a link of the kernel's" },
  { path: "/proc/self/root/etc/passwd", as: "the same by its own name" },
  { path: "link-to-link/secret.txt", as: "a link to a link to a folder outside" },
  { path: "link-detour", as: "a link that leaves on a detour" },
  { path: "link-to-folder/", as: "a link to a folder outside, followed for its slash" },
  { path: "link-to-file/", as: "a link to a file outside, followed for its slash" },
  { path: "docs/link-up/link-to-file", as: "a link behind a link" },
  { path: "loop", as: "a link to itself" },
  { path: "", as: "nothing" },
  { path: "plain.txt\0.md", as: "a NUL character" },
];

describe("no path leads out of the workspace:", () => {
  test.for(escapes)("$as ($path)", async ({ path }, { inside, call, expect }) => {
    const outside = dirname(inside);
    const args = { path: path.replace("{outside}", outside) };
    const refused = { type: expect.stringMatching(/^(permission|params)$/) };

    for (const holding of holdings) await expect(resolvePath(inside, args.path, holding)).rejects.toThrow();
    for (const tool of [read, ls]) {
      const outcome = await call(tool, args, { workspace: inside });
      expect(outcome.error).toMatchObject(refused);
      expect(outcome.output).not.toContain("SECRET");
    }
    const content = "PWNED";
    for (const [tool, more] of [
      [write, { content }],
      [write_local_file, { content }],
      [edit, { old: "SECRET", new: content }],
      [apply_patch, null],
    ] as const) {
      const given = more ? { ...args, ...more } : { patch: patchOf(args.path, content) };
      expect((await call(tool, given, { workspace: inside })).error).toMatchObject(refused);
    }
    expect(await outsideOf(outside)).toEqual({ "secret.txt": "SECRET", "inside-too/secret.txt": "SECRET" });
  });
});

describe("a path that only looks like a way out is a name in the workspace, or missing:", () => {
  test.for([
    "\uff0e\uff0e/secret.txt",
    "\u2025/secret.txt",
    ".\u200c./secret.txt",
    "%2e%2e/secret.txt",
    "..\\secret.txt",
    "~/secret.txt",
    "LINK-TO-FOLDER/secret.txt",
    "docs\u2215..\u2215..\u2215secret.txt",
    "file:///etc/passwd",
  ])("%s", async (path, { inside, folder, call, expect }) => {
    expect((await call(read, { path }, { workspace: inside })).output).not.toContain("SECRET");
    await call(write, { path, content: "PWNED" }, { workspace: inside });
    expect(await outsideOf(folder)).toEqual({ "secret.txt": "SECRET", "inside-too/secret.txt": "SECRET" });
  });
});

const roads: { path: string; shown: string; real: string; isLink?: boolean }[] = [
  { path: "plain.txt", shown: "plain.txt", real: "plain.txt" },
  { path: "plain.txt/", shown: "plain.txt", real: "plain.txt" },
  { path: "./docs//./a.md", shown: "docs/a.md", real: "docs/a.md" },
  { path: "not/there/yet.md", shown: "not/there/yet.md", real: "not/there/yet.md" },
  { path: "link-inside/a.md", shown: "link-inside/a.md", real: "docs/a.md" },
  { path: "link-inside/", shown: "link-inside", real: "docs", isLink: true },
  { path: "docs/link-up/plain.txt", shown: "docs/link-up/plain.txt", real: "plain.txt" },
  { path: "link-chain", shown: "link-chain", real: "plain.txt", isLink: true },
  { path: "link-absolute/a.md", shown: "link-absolute/a.md", real: "docs/a.md" },
  { path: "{inside}/docs/a.md", shown: "docs/a.md", real: "docs/a.md" },
  { path: "{inside}", shown: ".", real: "" },
  { path: "..dots/a.md", shown: "..dots/a.md", real: "..dots/a.md" },
];

describe.for(holdings)("with folders held by their %s", (holding) => {
  test.for(roads)("a path in the workspace is found: $path", async (road, { inside, expect }) => {
    await using place = await resolvePath(inside, road.path.replace("{inside}", inside), holding);
    const { shown, real, isLink, key } = place;
    expect({ shown, real, isLink }).toEqual({ shown: road.shown, real: road.real, isLink: road.isLink ?? false });
    expect(key).toBe(`${inside}/${real}`);
  });

  test("the workspace may itself be reached through a link", async ({ inside, folder, expect }) => {
    const alias = join(folder, "alias");
    await symlink(inside, alias);
    for (const path of ["plain.txt", join(alias, "plain.txt"), join(inside, "plain.txt")]) {
      const { bytes, real } = await readWorkspaceFile(alias, path, { holding });
      expect([bytes.toString(), real]).toEqual(["plain", "plain.txt"]);
    }
  });

  test("a program can start in a folder of it, and in no other", async ({ inside, expect }) => {
    await using folder = await openFolder(inside, "link-inside", holding);
    expect(execFileSync("pwd", { cwd: folder.path }).toString().trim()).toBe(join(inside, "docs"));
    await expect(openFolder(inside, "plain.txt", holding)).rejects.toThrow("is not a folder");
    await expect(openFolder(inside, "link-to-folder", holding)).rejects.toThrow("leads out");
  });

  test("a file is read through the checked handle, also if its name is replaced", async ({ inside, expect }) => {
    await using place = await resolvePath(inside, "docs/a.md", holding);
    await rename(join(inside, "docs"), join(inside, "docs-before"));
    await symlink("..", join(inside, "docs"));
    await writeFile(join(inside, "..", "a.md"), "SECRET");
    if (place.found.kind !== "file") throw new Error("not found");
    const read = readHeldFile(place.found.file, 100);
    if (holding === "names") await expect(read).rejects.toThrow();
    else expect((await read)?.bytes.toString()).toBe("a");
  });

  test("a folder, pipe or socket is not a file, and no read waits for a pipe", async ({ inside, expect }) => {
    execFileSync("mkfifo", [join(inside, "pipe")]);
    await using pipe = await resolvePath(inside, "pipe", holding);
    expect(pipe.found).toEqual({ kind: "special", what: "a pipe" });
    await expect(readWorkspaceFile(inside, "docs", { holding })).rejects.toThrow("is not a file");
  });
});

describe("a file with another hard link", () => {
  test("is not written", async ({ inside, folder, call, expect }) => {
    await link(join(folder, "secret.txt"), join(inside, "hard.txt"));

    const outcome = await call(write, { path: "hard.txt", content: "PWNED" }, { workspace: inside });

    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("hard-linked") });
    expect((await outsideOf(folder))["secret.txt"]).toBe("SECRET");
  });

  test("is read: package stores are full of them", async ({ inside, call, expect }) => {
    await link(join(inside, "plain.txt"), join(inside, "hard.txt"));
    expect((await call(read, { path: "hard.txt" }, { workspace: inside })).output).toContain("plain");
  });
});

describe("protected paths are not written, made or deleted", () => {
  const ways = [".claude/settings.json", ".CLAUDE/settings.json", "way-in/settings.json", ".mcp.json", ".git/hooks/x"];
  test.for(ways)("by %s", async (path, { inside, folder, call, expect }) => {
    await mkdir(join(inside, ".claude"));
    await symlink(".claude", join(inside, "way-in"));
    const before = await namesOf(folder);
    for (const [tool, args] of [
      [write, { path, content: "x" }],
      [apply_patch, { patch: patchOf(path, "x") }],
    ] as const) {
      const outcome = await call(tool, args, { workspace: inside });
      expect(outcome.error).toMatchObject({
        type: "permission",
        message: expect.stringContaining("no agent may write it"),
      });
    }
    expect(await namesOf(folder)).toEqual(before);
  });
});

describe("with write scopes", () => {
  const grant = { tools: ["write"], agents: [], writes: [["docs", "test"], ["docs"]] };

  test("an agent writes in them, by any path", async ({ inside, call, expect }) => {
    for (const path of ["docs/new.md", "link-inside/other.md"]) {
      expect((await call(write, { path, content: "x" }, { workspace: inside, grant })).error).toBeNull();
    }
  });

  test.for(["new.md", "test/new.md", "docs/link-up/new.md", "docs-not/new.md"])(
    "an agent does not write %s",
    async (path, { inside, call, expect }) => {
      const { error } = await call(write, { path, content: "x" }, { workspace: inside, grant });
      expect(error).toMatchObject({ type: "permission" });
      expect(error?.message).toContain("this agent may write only in docs, test, and there only in docs");
    },
  );

  test("an empty list allows no folder", async ({ inside, call, expect }) => {
    const nowhere = { ...grant, writes: [[]] };
    const { error } = await call(write, { path: "docs/b.md", content: "x" }, { workspace: inside, grant: nowhere });
    expect(error?.message).toBe("docs/b.md was not changed: this agent may write nothing");
  });
});

function patchOf(path: string, line: string): string {
  return `*** Begin Patch\n*** Add File: ${path}\n+${line}\n*** End Patch`;
}

/** Without entry types, `readdir` would follow links. */
async function namesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
}

async function outsideOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isFile() && !path.startsWith("inside/")) found[path] = await readFile(join(folder, path), "utf8");
  }
  return found;
}
