import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { foldedName } from "./folded-name.ts";
import { type ProtectionClass, protectedInRepository, protectedTable } from "./protected-table.ts";
import { leadsToProtected, protectionOf, protectionOfEntry } from "./protection.ts";

const rows = protectedTable.flatMap((row) => row.names.map((name) => [name.replace("*", "x"), row.class] as const));

describe("the table of protected paths", () => {
  it.each(rows)("%s is %s: at the top, in a folder, below it, and in another case", (name, wanted) => {
    for (const path of [name, `a/b/${name}`, `${name}/x/y`, name.toUpperCase()]) {
      expect(protectionOf(path)?.class, path).toBe(wanted);
    }
    expect(protectionOfEntry(`a/${name}`)?.class).toBe(wanted);
  });

  it("has each name once, and all of them folded", () => {
    const names = protectedTable.flatMap((row) => row.names);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(names.filter((name) => name !== name.split("/").map(foldedName).join("/"))).toEqual([]);
  });

  it.each([
    ["jenkinsfile2", null],
    ["src/config.toml", null],
    ["cargo/config.toml", null],
    ["mise.toml.md", null],
    ["workflows/ci.yml", null],
    ["x.pth.txt", null],
    [".github/ISSUE_TEMPLATE.md", null],
    ["package.json", null],
    [".github/workflows/.vscode/x", "never"],
    [".mvn/.troupe/x", "never"],
    [".git/objects/ab/cd", null],
    [".git/rebase-merge/done", null],
    [".git/worktrees/w/index", null],
    [".git/worktrees/w/config.worktree", "never"],
    [".git/objects/info/alternates", "never"],
  ] satisfies [string, ProtectionClass | null][])("%s is %s", (path, wanted) => {
    expect(protectionOf(path)?.class ?? null).toBe(wanted);
  });

  it("finds links that lead to a protected path under another name", () => {
    for (const path of [".cargo", "a/.cargo", ".config", "library", ".local"])
      expect(leadsToProtected(path), path).toBe(true);
    for (const path of ["cargo", ".github", "config.toml"]) expect(leadsToProtected(path), path).toBe(false);
  });

  it("is shown in README.md", async () => {
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const shown = protectedTable.map(
      (row) => `| ${row.class} | ${row.names.map((name) => `\`${name}\``).join(" ")} | ${row.reason} |`,
    );
    const inRepository = protectedInRepository.map(
      (row) => `| never | in a repository: ${row.names.map((name) => `\`${name}\``).join(" ")} | ${row.reason} |`,
    );
    expect(readme).toContain([...shown, ...inRepository].join("\n"));
  });
});
