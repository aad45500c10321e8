// Attack tests: each one tries, by a file tool, to change a file that other programs run or obey later.
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, inject } from "vitest";
import { createDownloadTool } from "../memory/workbench-tools.ts";
import { type ProtectionClass, protectedTable } from "../workspace/protected-table.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { fileTools } from "./file-tools.test-helper.ts";

const { write, write_local_file, apply_patch, edit } = fileTools();
const download = createDownloadTool({
  get: async () => ({ bytes: Buffer.from("evil"), uploaded: { name: "x" } }),
} as never);

const tools = {
  write: [write, (path: string) => ({ path, content: "evil" })],
  write_local_file: [write_local_file, (path: string) => ({ path, content: "evil" })],
  apply_patch: [
    apply_patch,
    (path: string) => ({ patch: `*** Begin Patch\n*** Add File: ${path}\n+evil\n*** End Patch` }),
  ],
  workbench_download: [download, (path: string) => ({ local_path: path, remote_path: "x" })],
} as const;

for (const [k, [name, [tool, argumentsFor]]] of Object.entries(tools).entries()) {
  /** A path of each name of a class. In the normal run, all tools but the first one get each fourth of them. */
  const pathsOf = (wanted: ProtectionClass): string[] =>
    everyPathOf(wanted).filter((_, i) => inject("long") || k === 0 || i % 4 === k);

  describe(name, () => {
    test("does not write a path of the class never, also if a person allows it", async ({ call, folder }) => {
      for (const path of pathsOf("never")) {
        const outcome = await call(tool, argumentsFor(path), { approved: true });
        expect(outcome.error?.type, path).toBe("permission");
        expect(existsSync(join(folder, path)), path).toBe(false);
      }
    });

    test("asks before it writes a path of the class asks", async ({ call, folder }) => {
      for (const path of pathsOf("asks")) {
        const outcome = await call(tool, argumentsFor(path));
        expect(outcome.output, path).toContain("no person has allowed this call");
        expect(existsSync(join(folder, path)), path).toBe(false);
      }
      const [path = ""] = pathsOf("asks");
      expect((await call(tool, argumentsFor(path), { approved: true })).error).toBeNull();
      expect((await readFile(join(folder, path), "utf8")).trim()).toBe("evil");
    });

    test("asks for an absolute path, another case and a path with dots", async ({ call, folder }) => {
      for (const path of [
        join(folder, ".npmrc"),
        ".NpmRC",
        "./a//./.cargo/./config.toml",
        "\uff0enpmrc",
        ".n\u200cpmrc",
      ]) {
        expect((await call(tool, argumentsFor(path))).output, path).toContain("no person has allowed this call");
      }
    });

    test("does not write it by a link, which no person was asked about", async ({ call, folder }) => {
      await mkdir(join(folder, ".mvn"));
      await symlink(".mvn", join(folder, "docs"));
      const outcome = await call(tool, argumentsFor("docs/jvm.config"), { approved: true });
      expect(outcome.output).toContain("give .mvn/jvm.config as the path");
      expect(existsSync(join(folder, ".mvn/jvm.config"))).toBe(false);
    });

    test("does not change the settings of a repository with another name", async ({ call, folder }) => {
      await put(folder, { "r/HEAD": "ref: refs/heads/a", "r/objects/x": "", "r/refs/x": "" });
      for (const path of ["r/config", "r/hooks/post-checkout", "r/objects/info/alternates"]) {
        expect((await call(tool, argumentsFor(path))).output, path).toContain("r is a git repository");
      }
      expect((await call(tool, argumentsFor("r/refs/heads/b"))).error).toBeNull();
    });

    test.for([
      ["HEAD", ["config", "objects/x", "refs/x"]],
      ["objects/x", ["config", "HEAD", "refs/x"]],
      ["commondir", ["config", "HEAD"]],
    ] as const)(
      "does not make a folder a repository by its last piece, %s",
      async ([last, others], { call, folder }) => {
        await put(folder, Object.fromEntries(others.map((path) => [`r/${path}`, ""])));
        expect((await call(tool, argumentsFor(`r/${last}`))).output).toMatch(
          /make r a git repository|r is a git repository/,
        );
        expect(existsSync(join(folder, "r", last))).toBe(false);
      },
    );

    test("writes a path of the class marked without asking, and marks the change", async ({ call }) => {
      for (const path of pathsOf("marked")) {
        const { error, changes } = await call(tool, argumentsFor(path));
        expect(error, path).toBeNull();
        if (name !== "workbench_download")
          expect(changes, path).toMatchObject([{ path, runsLater: expect.any(String) }]);
      }
      const { changes } = await call(tool, argumentsFor("src/plain.ts"));
      for (const change of changes) expect(change).not.toHaveProperty("runsLater");
    });
  });
}

test("a patch does not make a repository at once", async ({ call, folder }) => {
  const files = ["HEAD", "config", "objects/x", "refs/x"].map((path) => `*** Add File: r/${path}\n+ref: refs/heads/a`);
  const outcome = await call(apply_patch, { patch: `*** Begin Patch\n${files.join("\n")}\n*** End Patch` });
  expect(outcome.error?.type).toBe("permission");
  expect(existsSync(join(folder, "r"))).toBe(false);
});

test("a patch asks if one of its files needs it, also as the new name of another", async ({ call, folder }) => {
  await put(folder, { "a.txt": "old\n" });
  const patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: lefthook.yml\n@@\n-old\n+new\n*** End Patch";
  expect((await call(apply_patch, { patch })).output).toContain("lefthook.yml, which runs at the user's next commit");
});

test("an edit asks", async ({ call, folder }) => {
  await put(folder, { "mise.toml": "old\n" });
  expect((await call(edit, { path: "mise.toml", old: "old", new: "evil" })).output).toContain("no person has allowed");
  expect(await readFile(join(folder, "mise.toml"), "utf8")).toBe("old\n");
});

function everyPathOf(wanted: ProtectionClass): string[] {
  const names = protectedTable.filter((row) => row.class === wanted).flatMap((row) => row.names);
  return names.map((name, i) => `d${i}/${name.replace("*", "x")}`);
}

async function put(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
