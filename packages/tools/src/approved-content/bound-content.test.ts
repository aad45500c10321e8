/** An approval is bound to the content that the call runs. */
import { existsSync } from "node:fs";
import { mkdtempDisposable, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPolicy, type ToolCall, type ToolContext } from "@troupe/core";
import { type ApprovalRule, type BoundContent, hashArguments, isCovered, staleApproval } from "@troupe/core/internal";
import { beforeAll, describe, expect } from "vitest";
import { createShellTool } from "../commands/shell.ts";
import { type CommandHost, createCommandHost, shell, writeFiles } from "../file-losses/losses.fixture.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { createToolHost } from "../tool-host.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { boundContent } from "./bound-content.ts";

let open: CommandHost;
beforeAll(async () => {
  open = await createCommandHost({ isSandboxed: false });
});

const pathsOf = (found: readonly BoundContent[]): string[] => found.map(({ path }) => path);

const files = {
  "build.sh": "echo build",
  "lib/tool.py": "print(1)",
  "a.js": "1",
  "env.sh": "A=1",
  Makefile: "include inc.mk\nall:\n\techo 1\n",
  "inc.mk": "X=1\n",
  "package.json": JSON.stringify({
    scripts: { test: "node a.js", build: "sh build.sh", prebuild: "./pre", all: "make" },
  }),
  pre: "#!/bin/sh\n",
  "Cargo.toml": "[package]",
};

test.for([
  ["sh build.sh", ["build.sh"]],
  ["sh -e ./build.sh x", ["build.sh"]],
  ["./build.sh", ["build.sh"]],
  ["bash < build.sh", ["."]],
  [". ./env.sh && echo 1", ["env.sh"]],
  ["node a.js", ["a.js"]],
  ["node --import ./a.js -e 1", ["a.js"]],
  ["python3 lib/tool.py", ["lib/tool.py"]],
  ["cd lib && python3 -m tool", ["lib/tool.py"]],
  ["env A=1 timeout 5 sh build.sh", ["build.sh"]],
  ["sh -c 'sh build.sh'", ["build.sh"]],
  ["sh missing.sh", ["missing.sh"]],
  ["make", ["."]],
  ["just build", ["."]],
  ["$PROGRAM", ["."]],
  ["sh 'build.sh", ["."]],
  ["npm test", ["a.js", "package.json"]],
  ["npm run build", ["build.sh", "package.json", "pre"]],
  ["pnpm build", ["build.sh", "package.json", "pre"]],
  ["yarn all", ["package.json", "."]],
  ["cargo fmt", ["Cargo.lock", "Cargo.toml", "build.rs"]],
  ["cargo run", ["Cargo.lock", "Cargo.toml", "build.rs", "."]],
  ["ls -l; git status; echo x > y; rm a.js", []],
  ["/usr/bin/env ls", []],
] as const)("%s is bound to its files", async ([line, paths], { folder }) => {
  await writeFiles(folder, files);
  expect(pathsOf(boundContent({ line }, folder))).toEqual(paths);
});

test("files of a workspace below a folder of the system are bound, programs of the system are not", async () => {
  // Containers often have their project in /opt or /usr/src. Tests may write into this one.
  const system = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  await using made = await mkdtempDisposable(join(system, "troupe-bound-"));
  await writeFiles(made.path, files);
  expect(pathsOf(boundContent({ line: "sh build.sh && /bin/ls" }, made.path))).toEqual(["build.sh"]);
});

/** The steps of a host: the question, a change, then the comparison and the call. */
async function approveAndChange(context: ToolContext, call: ToolCall, change: () => Promise<unknown>) {
  const asked = await open.examine(call, context);
  await change();
  const now = await open.examine(call, { ...context, approved: true });
  const approval = {
    ...(asked.bound ? { bound: asked.bound } : {}),
    ...(asked.losses ? { losses: asked.losses } : {}),
  };
  const outcome = await open.run(call, { ...context, approved: true, approval });
  return { asked, stale: staleApproval(approval, now), outcome };
}

describe("an approved call does not run if its files have changed", () => {
  test.for([
    ["a script", "sh build.sh", "build.sh", (folder: string) => writeFile(join(folder, "build.sh"), "touch ran")],
    [
      "a link to a script",
      "sh link.sh",
      "link.sh",
      async (folder: string) => {
        await rm(join(folder, "link.sh"));
        await symlink("a.js", join(folder, "link.sh"));
      },
    ],
    [
      "a script of the package",
      "npm run build",
      "package.json",
      (folder: string) => writeFile(join(folder, "package.json"), '{"scripts":{"build":"touch ran"}}'),
    ],
    [
      "a script that a script of the package starts",
      "npm run build",
      "build.sh",
      (folder: string) => writeFile(join(folder, "build.sh"), "touch ran"),
    ],
    [
      "an included file",
      "make",
      "a file of the workspace",
      // Of another size: two writes within one step of the kernel's clock can have the same time.
      (folder: string) => writeFile(join(folder, "inc.mk"), "X=22\n"),
    ],
    [
      "a swapped folder",
      "sh lib/run.sh",
      "lib/run.sh",
      async (folder: string) => {
        await rename(join(folder, "lib"), join(folder, "away"));
        await writeFiles(folder, { "lib/run.sh": "touch ran" });
      },
    ],
    [
      "files that it deletes",
      "rm -rf gone",
      "other files",
      (folder: string) => writeFiles(folder, { "gone/two.txt": "2" }),
    ],
  ] as const)("%s", async ([, line, named, change], { context, folder }) => {
    await writeFiles(folder, { ...files, "lib/run.sh": "echo run", "gone/one.txt": "1" });
    await symlink("build.sh", join(folder, "link.sh"));
    const { asked, stale, outcome } = await approveAndChange(context, shell(line), () => change(folder));
    expect(asked.decision).toBe("ask");
    expect(stale).toContain(named);
    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining(named) });
  });

  test("and runs if nothing has changed", async ({ context, folder }) => {
    await writeFiles(folder, files);
    const { stale, outcome } = await approveAndChange(context, shell("sh build.sh"), async () => {});
    expect(stale).toBeNull();
    expect(outcome).toMatchObject({ error: null, output: expect.stringContaining("build") });
  });
});

describe("an approval for the rest of the run", () => {
  const allowanceOf = async (context: ToolContext, call: ToolCall) => {
    const { risk, covers = ["*"] } = await open.examine(call, context);
    return { tool: call.name, risk, covers };
  };

  test("does not cover a script with another content", async ({ context, folder }) => {
    await writeFiles(folder, files);
    const before = await allowanceOf(context, shell("sh build.sh"));
    expect(isCovered(await allowanceOf(context, shell("sh build.sh")), [before])).toBe(true);
    await writeFile(join(folder, "build.sh"), "touch ran");
    expect(isCovered(await allowanceOf(context, shell("sh build.sh")), [before])).toBe(false);
  });

  test("does not cover other lost files", async ({ context, folder }) => {
    await writeFiles(folder, { "gone/one.txt": "1" });
    const before = await allowanceOf(context, shell("rm -rf gone"));
    expect(isCovered(await allowanceOf(context, shell("rm -rf gone")), [before])).toBe(true);
    await writeFiles(folder, { "gone/two.txt": "2" });
    expect(isCovered(await allowanceOf(context, shell("rm -rf gone")), [before])).toBe(false);
  });
});

test("a stored rule for a command is for its script as it was", async ({ context, folder }) => {
  await writeFiles(folder, files);
  const call = shell("sh build.sh");
  const { bound = [] } = await open.examine(call, context);
  const rule: ApprovalRule = {
    ...{ id: "r", decision: "allow", tool: "shell", argsHash: hashArguments(call.args), args: call.args, by: "ada" },
    ...{ workspace: folder, agent: null, createdAt: "2026-01-01T00:00:00.000Z", bound },
  };
  const sandbox = await createSandbox({ policy: { ...defaultPolicy.sandbox, mode: "off" } });
  const host = createToolHost({ tools: [createShellTool({ sandbox })], rules: { match: () => rule } });
  expect(await host.examine?.(call, context)).toMatchObject({ decision: "allow" });
  await writeFile(join(folder, "build.sh"), "touch ran");
  expect(await host.examine?.(call, context)).toMatchObject({
    decision: "ask",
    reason: expect.stringContaining("build.sh has changed"),
  });
  expect((await host.run(call, context)).error).toMatchObject({ type: "permission" });
});

test("a call that needs no approval is bound to nothing", async ({ context, folder }) => {
  await writeFiles(folder, files);
  const sandboxed = await createCommandHost();
  const found = await sandboxed.examine(shell("sh build.sh"), context);
  expect(found).toMatchObject({ decision: "allow" });
  expect(found.bound).toBeUndefined();
});
