/** Project files count only if the user accepted exactly these bytes: any change ends the trust. */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtempDisposable, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test as plainTest } from "vitest";
import { projectCaps } from "./project-files.ts";
import {
  createProjectTrust,
  hasIgnoredFiles,
  isAcceptedDefinition,
  type ProjectTrust,
  type TrustStatus,
  trustedFile,
} from "./project-trust.ts";

const decision = { decision: "accepted", at: "2026-11-18T12:00:00.000Z", by: "ada" } as const;

interface Fixture {
  folder: string;
  file: string;
  trust: ProjectTrust;
  write(path: string, text: string): Promise<void>;
  status(): Promise<TrustStatus>;
  accept(): Promise<void>;
}

const test = plainTest.extend<{ place: Fixture }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  place: async ({}, use) => {
    await using root = await mkdtempDisposable(join(tmpdir(), "troupe-trust-"));
    const [folder, file] = [join(root.path, "project"), join(root.path, "trust.json")];
    await mkdir(folder);
    const trust = createProjectTrust({ file });
    await use({
      folder,
      file,
      trust,
      async write(path, text) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      },
      status: async () => (await trust.inspect(folder)).status,
      accept: async () => trust.record(await trust.inspect(folder), decision),
    });
  },
});

const collected = {
  ".troupe/config.yaml": "model: openai/x",
  ".troupe/tools/dice.mjs": "export default []",
  ".troupe/tools/lib/more.mjs": "export const x = 1",
  ".troupe/hooks/start.sh": "#!/bin/sh",
  ".troupe/commands/ship.md": "Ship it",
  ".claude/settings.json": "{}",
  ".claude/settings.local.json": "{}",
  ".claude/commands/a/b.md": "b",
  ".claude/hooks/pre.sh": "#!/bin/sh",
  ".mcp.json": "{}",
};

describe("a folder", () => {
  test("that is missing, or has no such file, needs no trust", async ({ place }) => {
    expect((await place.trust.inspect("/nonexistent/folder")).status).toBe("nothing");
    await place.write("src/config.yaml", "x");
    await place.write(".troupe/agents/coder.md", "---\nname: coder\n---\n");
    await place.write(".claude/agents/coder.md", "---\nname: coder\n---\n");
    await place.write(".claude/notes.json", "{}");
    const project = await place.trust.inspect(place.folder);
    expect(project).toMatchObject({ status: "nothing", files: [] });
    expect(hasIgnoredFiles(project)).toBe(false);
  });

  test("needs trust for these files, and all of them are listed", async ({ place }) => {
    for (const [path, text] of Object.entries(collected)) await place.write(path, text);
    const { files, status } = await place.trust.inspect(place.folder);
    expect(files.map(({ path }) => path)).toEqual(Object.keys(collected).sort());
    expect(files.filter(({ used }) => used).map(({ path }) => path)).toEqual([
      ".troupe/config.yaml",
      ".troupe/tools/dice.mjs",
      ".troupe/tools/lib/more.mjs",
    ]);
    expect(status).toBe("untrusted");
  });

  test("is trusted once the user has accepted it, also by another path", async ({ place }) => {
    await place.write(".troupe/config.yaml", "model: openai/x");
    const before = await place.trust.inspect(place.folder);
    expect(trustedFile(before, ".troupe/config.yaml")).toBeNull();
    await place.accept();
    const link = `${place.folder}-link`;
    await symlink(place.folder, link);
    const project = await place.trust.inspect(link);
    expect(project.status).toBe("trusted");
    expect(trustedFile(project, ".troupe/config.yaml")?.bytes.toString()).toBe("model: openai/x");
    expect((await stat(place.file)).mode & 0o777).toBe(0o600);
  });

  test("that was declined is not asked about again until it changes", async ({ place }) => {
    await place.write(".troupe/config.yaml", "model: openai/x");
    await place.trust.record(await place.trust.inspect(place.folder), { ...decision, decision: "declined" });
    expect(await place.status()).toBe("declined");
    await place.write(".troupe/config.yaml", "model: openai/y");
    expect(await place.status()).toBe("untrusted");
  });

  test("without files for troupe is not mentioned", async ({ place }) => {
    await place.write(".claude/settings.json", "{}");
    expect(hasIgnoredFiles(await place.trust.inspect(place.folder))).toBe(false);
  });

  test("can be forgotten by its path, even if it is gone", async ({ place }) => {
    await place.write(".troupe/config.yaml", "model: openai/x");
    await place.accept();
    const { folder } = await place.trust.inspect(place.folder);
    await rm(place.folder, { recursive: true });
    expect(await place.trust.forget(folder)).toMatchObject({ folder });
    expect(await place.trust.forget(folder)).toBeNull();
    expect(await place.trust.list()).toEqual([]);
  });
});

describe("agent and team files", () => {
  const write = async ({ write: add }: Fixture): Promise<void> => {
    await add(".troupe/agents/main.md", "main");
    await add(".troupe/teams/coding/team.yaml", "team");
    await add(".claude/agents/deep/coder.md", "coder");
    await add(".troupe/agents/notes.txt", "no definition");
  };
  const paths = [".claude/agents/deep/coder.md", ".troupe/agents/main.md", ".troupe/teams/coding/team.yaml"];

  test("need no trust, and are accepted with their bytes", async ({ place }) => {
    await write(place);
    const before = await place.trust.inspect(place.folder);
    expect(before).toMatchObject({ status: "nothing", files: [] });
    expect(hasIgnoredFiles(before)).toBe(false);
    expect(before.definitions.map(({ path, kind, used }) => [path, kind, used])).toEqual([
      [paths[0], "agents", false],
      [paths[1], "agents", false],
      [paths[2], "teams", false],
    ]);
    expect(before.acceptedDefinitions.size).toBe(0);
    await place.accept();
    const after = await place.trust.inspect(place.folder);
    expect([...after.acceptedDefinitions.keys()]).toEqual(paths);
    await place.write(".troupe/agents/main.md", "maim");
    const edited = await place.trust.inspect(place.folder);
    expect(edited.definitions.map((file) => isAcceptedDefinition(edited, file))).toEqual([true, false, true]);
  });

  test("end no trust in other files; a change of those ends theirs", async ({ place }) => {
    await write(place);
    await place.write(".troupe/config.yaml", "model: openai/x");
    await place.accept();
    await place.write(".troupe/agents/main.md", "maim");
    expect(await place.status()).toBe("trusted");
    await place.write(".troupe/config.yaml", "model: openai/y");
    const changed = await place.trust.inspect(place.folder);
    expect([changed.status, changed.acceptedDefinitions.size]).toEqual(["changed", 0]);
  });

  test("of a declined folder, and behind links, are not accepted", async ({ place }) => {
    await write(place);
    await symlink(join(place.folder, ".troupe/agents/main.md"), join(place.folder, ".troupe/agents/link.md"));
    const shown = await place.trust.inspect(place.folder);
    expect(shown.definitions.map(({ path }) => path)).toEqual(paths);
    await place.trust.record(shown, { ...decision, decision: "declined" });
    expect((await place.trust.inspect(place.folder)).acceptedDefinitions.size).toBe(0);
  });
});

describe("trust ends", () => {
  const changes: [string, (place: Fixture) => Promise<unknown>, string[]][] = [
    ["with one byte", ({ write }) => write(".mcp.json", "{ }"), ["changed .mcp.json"]],
    ["with a new file", ({ write }) => write(".troupe/hooks/b.sh", ""), ["new .troupe/hooks/b.sh"]],
    [
      "with an empty settings file",
      ({ write }) => write(".claude/settings.x.json", ""),
      ["new .claude/settings.x.json"],
    ],
    ["without a file", ({ folder }) => rm(join(folder, ".mcp.json")), ["gone .mcp.json"]],
    [
      "with another name for the same bytes",
      ({ folder }) => rename(join(folder, ".troupe/tools/dice.mjs"), join(folder, ".troupe/tools/dive.mjs")),
      ["new .troupe/tools/dive.mjs", "gone .troupe/tools/dice.mjs"],
    ],
    [
      "with two contents that are swapped",
      async ({ write }) => {
        await write(".troupe/tools/dice.mjs", collected[".troupe/tools/lib/more.mjs"]);
        await write(".troupe/tools/lib/more.mjs", collected[".troupe/tools/dice.mjs"]);
      },
      ["changed .troupe/tools/dice.mjs", "changed .troupe/tools/lib/more.mjs"],
    ],
    [
      "with a link to another content",
      async ({ folder, write }) => {
        await write(".troupe/commands/other.md", collected[".troupe/commands/ship.md"]);
        await rm(join(folder, ".troupe/tools/dice.mjs"));
        await symlink("../commands/other.md", join(folder, ".troupe/tools/dice.mjs"));
      },
      ["new .troupe/commands/other.md", "changed .troupe/tools/dice.mjs"],
    ],
  ];
  test.for(changes)("%s", async ([, change, told], { place }) => {
    for (const [path, text] of Object.entries(collected)) await place.write(path, text);
    await place.accept();
    expect(await place.status()).toBe("trusted");
    await change(place);
    const project = await place.trust.inspect(place.folder);
    expect(project).toMatchObject({ status: "changed", changes: told });
    expect(trustedFile(project, ".troupe/config.yaml")).toBeNull();
    expect(hasIgnoredFiles(project)).toBe(true);
  });

  test("and returns with the old content", async ({ place }) => {
    await place.write(".mcp.json", "{}");
    await place.accept();
    await place.write(".mcp.json", "{ }");
    expect(await place.status()).toBe("changed");
    await place.write(".mcp.json", "{}");
    expect(await place.status()).toBe("trusted");
  });

  test("covers the files that were shown, not the files at the time of acceptance", async ({ place }) => {
    await place.write(".mcp.json", "{}");
    const shown = await place.trust.inspect(place.folder);
    await place.write(".mcp.json", '{"evil":1}');
    await place.trust.record(shown, decision);
    expect(await place.status()).toBe("changed");
  });
});

describe("files that cannot be hashed reliably cannot be trusted, and the error has a fix", () => {
  const cases: [string, (place: Fixture) => Promise<unknown>, string][] = [
    [
      "a link out of the folder",
      async ({ folder, write }) => {
        await write(".troupe/x", "");
        await symlink("/etc/hostname", join(folder, ".troupe/config.yaml"));
      },
      "leads out of the folder",
    ],
    [
      "a link to a folder that agents write",
      async ({ folder, write }) => {
        await write("src/tool.mjs", "");
        await write(".troupe/tools/x", "");
        await symlink("../../src/tool.mjs", join(folder, ".troupe/tools/tool.mjs"));
      },
      "which agents may write",
    ],
    ["a broken link", ({ folder }) => symlink("none", join(folder, ".mcp.json")), "leads nowhere"],
    [
      "a folder that is a link",
      async ({ folder, write }) => {
        await write("mine/tools/a.mjs", "");
        await symlink("mine", join(folder, ".troupe"));
      },
      "link to a folder",
    ],
    [
      "a tree that is a link",
      async ({ folder, write }) => {
        await write(".troupe/commands/a.mjs", "");
        await symlink("commands", join(folder, ".troupe/tools"));
      },
      "link to a folder",
    ],
    [
      "a pipe",
      async ({ folder, write }) => {
        await write(".troupe/x", "");
        await promisify(execFile)("mkfifo", [join(folder, ".troupe/config.yaml")]);
      },
      "not a regular file",
    ],
    ["a folder in place of a file", ({ write }) => write(".mcp.json/x", ""), "it is a folder"],
    [
      "more bytes than the limit",
      ({ write }) => write(".troupe/tools/a.mjs", "x".repeat(projectCaps.bytes + 1)),
      `more than ${projectCaps.bytes} bytes`,
    ],
    [
      "more files than the limit",
      async ({ write, folder }) => {
        await write(".troupe/hooks/0", "");
        for (let i = 1; i <= projectCaps.files; i++) writeFileSync(join(folder, `.troupe/hooks/${i}`), "");
      },
      `more than ${projectCaps.files} files`,
    ],
    ["too many nested folders", ({ write }) => write(`.claude/hooks/${"d/".repeat(20)}x`, ""), "folders deep"],
  ];
  test.for(cases)("%s", async ([, make, why], { place }) => {
    await place.write(".mcp.json.not", "");
    await make(place);
    const project = await place.trust.inspect(place.folder);
    expect(project).toMatchObject({ status: "refused", files: [] });
    expect(project.problem).toMatchObject({ code: "INVALID_CONFIG", message: expect.stringContaining(why) });
    expect(project.problem?.fix).toBeTruthy();
  });

  test("an accepted file, once a link replaces it", async ({ place }) => {
    await place.write(".troupe/config.yaml", "model: a/b");
    await place.accept();
    await rm(join(place.folder, ".troupe/config.yaml"));
    await symlink("/etc/hostname", join(place.folder, ".troupe/config.yaml"));
    expect(await place.status()).toBe("refused");
  });
});

describe("the file of trust decisions", () => {
  test("that is damaged trusts nothing, and stays unchanged", async ({ place }) => {
    await place.write(".mcp.json", "{}");
    await place.accept();
    await writeFile(place.file, '{"version":1,"folders":[{}]}');
    const project = await place.trust.inspect(place.folder);
    expect(project).toMatchObject({ status: "refused", problem: { code: "INVALID_POLICY" } });
    await expect(place.accept()).rejects.toMatchObject({ code: "INVALID_POLICY" });
    expect(await readFile(place.file, "utf8")).toBe('{"version":1,"folders":[{}]}');
  });

  test("keeps all of several concurrent decisions", async ({ place }) => {
    const folders = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        await place.write(`p${i}/.mcp.json`, `${i}`);
        return join(place.folder, `p${i}`);
      }),
    );
    await Promise.all(
      folders.map(async (folder) => {
        const other = createProjectTrust({ file: place.file });
        await other.record(await other.inspect(folder), decision);
      }),
    );
    expect(await place.trust.list()).toHaveLength(12);
  });

  test("survives a process that was killed during a write", async ({ place }) => {
    await place.write(".mcp.json", "{}");
    await writeFile(`${place.file}.lock`, "");
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(`${place.file}.lock`, longAgo, longAgo);
    await place.accept();
    expect(await place.status()).toBe("trusted");
  });
});
