import { link, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe } from "vitest";
import { readTool } from "../tools/files/read.ts";
import { writeTool } from "../tools/files/write.ts";
import { workspaceTest } from "../tools/workspace.fixture.ts";
import { resolveInWorkspace } from "./workspace-path.ts";

/** A workspace beside what it must not reach: `inside/` is the workspace, all the rest is out of bounds. */
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
  { path: "link-to-nothing", as: "a link to what is not there yet" },
  { path: "link-to-nothing/file.txt", as: "a file behind such a link" },
  { path: "link-to-proc/environ", as: "the process's own environment" },
  { path: "loop", as: "a link to itself" },
  { path: "", as: "nothing" },
  { path: "plain.txt\0.md", as: "a NUL character" },
];

describe("no path leads out of the workspace:", () => {
  test.for(escapes)("$as ($path)", async ({ path }, { inside, call, expect }) => {
    const outside = dirname(inside);
    const args = { path: path.replace("{outside}", outside) };

    await expect(resolveInWorkspace(inside, args.path)).rejects.toThrow();
    const read = await call(readTool, args, { workspace: inside });
    expect(read.error).toMatchObject({ type: expect.stringMatching(/^(permission|params)$/) });
    expect(read.output).not.toContain("SECRET");

    const written = await call(writeTool, { ...args, content: "PWNED" }, { workspace: inside });
    expect(written.error).toMatchObject({ type: expect.stringMatching(/^(permission|params)$/) });
    expect(await outsideOf(outside)).toEqual({ "secret.txt": "SECRET", "inside-too/secret.txt": "SECRET" });
  });
});

const roads: { path: string; shown: string; absolute: string }[] = [
  { path: "plain.txt", shown: "plain.txt", absolute: "plain.txt" },
  { path: "./docs//./a.md", shown: "docs/a.md", absolute: "docs/a.md" },
  { path: "not/there/yet.md", shown: "not/there/yet.md", absolute: "not/there/yet.md" },
  { path: "link-inside/a.md", shown: "link-inside/a.md", absolute: "docs/a.md" },
  { path: "{inside}/docs/a.md", shown: "docs/a.md", absolute: "docs/a.md" },
  { path: "..dots/a.md", shown: "..dots/a.md", absolute: "..dots/a.md" },
];

describe("a path in the workspace is found:", () => {
  test.for(roads)("$path", async ({ path, shown, absolute }, { inside, expect }) => {
    const place = await resolveInWorkspace(inside, path.replace("{inside}", inside));
    expect(place).toEqual({ absolute: join(inside, absolute), shown, isLink: false });
  });
});

test("the workspace may itself be reached through a link", async ({ inside, folder, expect }) => {
  const alias = join(folder, "alias");
  await symlink(inside, alias);

  expect((await resolveInWorkspace(alias, "plain.txt")).absolute).toBe(join(inside, "plain.txt"));
  expect((await resolveInWorkspace(alias, join(alias, "plain.txt"))).shown).toBe("plain.txt");
});

test("a file that is hard-linked is not written", async ({ inside, folder, call, expect }) => {
  await link(join(folder, "secret.txt"), join(inside, "hard.txt"));

  const outcome = await call(writeTool, { path: "hard.txt", content: "PWNED" }, { workspace: inside });

  expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("hard-linked") });
  expect((await outsideOf(folder))["secret.txt"]).toBe("SECRET");
});

async function outsideOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isFile() && !path.startsWith("inside/")) found[path] = await readFile(join(folder, path), "utf8");
  }
  return found;
}
