import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, vi } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { readWorkspaceFile, resolvePath } from "./resolve-path.ts";
import { secretPlaces } from "./secret-places.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

function makeHome(folder: string): string {
  for (const path of [".ssh/id", ".netrc", ".config/gh/hosts.yml", "dotfiles/aws/credentials", "project/a.txt"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "content");
  }
  symlinkSync("dotfiles/aws", join(folder, ".aws"));
  symlinkSync("../.ssh", join(folder, "project", "keys"));
  linkSync(join(folder, ".netrc"), join(folder, "project", "linked"));
  vi.stubEnv("HOME", folder);
  return folder;
}

describe("file tools in a home", () => {
  test.for([
    ".ssh/id",
    ".ssh",
    ".ssh/missing",
    ".SSH/id",
    ".ſsh/id",
    ".s\u200bsh/new",
    ".netrc",
    ".aws/credentials",
    "dotfiles/aws/credentials",
    ".config/gh/hosts.yml",
    "project/keys/id",
    "project/linked",
    ".gnupg/new",
  ])("do not reach %s", async (path, { folder }) => {
    const home = makeHome(folder);
    await expect(resolvePath(home, path)).rejects.toMatchObject({
      runError: { type: "permission", message: expect.stringContaining("not visible to agents") },
    });
  });

  test("reach everything else", async ({ folder }) => {
    const home = makeHome(folder);
    expect((await readWorkspaceFile(home, "project/a.txt")).bytes.toString()).toBe("content");
    for (const path of [".", ".config", "dotfiles", "project", ".sshd", "project/.npmrc", "project/.ssh"]) {
      await using resolved = await resolvePath(home, path);
      expect(resolved.shown).toBe(path);
    }
  });

  test("of which the workspace is a part see no secret either", async ({ folder }) => {
    const home = makeHome(folder);
    await expect(resolvePath(join(home, "dotfiles"), "aws/credentials")).rejects.toThrow("not visible to agents");
    await expect(resolvePath(join(home, ".ssh"), "id")).rejects.toThrow("not visible to agents");
    await expect(resolvePath(join(home, "project"), "linked")).rejects.toThrow("not visible to agents");
  });
});

test("every secret place is a relative path with a reason, and stands in the list once", () => {
  const paths = secretPlaces.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  for (const { path, reason } of secretPlaces) {
    expect(path).not.toMatch(/^\/|\/$|\.\.|\/\//);
    expect(reason).not.toBe("");
  }
});
