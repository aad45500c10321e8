/** Without a containing sandbox, a change of an executable file is asked about. */
import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolCall, type ToolContext } from "@troupe/core";
import { describe, expect } from "vitest";
import { createToolHost } from "../tool-host.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createFileTools } from "./create-file-tools.ts";

const grant = { tools: ["write", "edit", "apply_patch", "write_local_file"], agents: [], writes: [] };

function decide(name: string, args: unknown, context: ToolContext, contains = false) {
  const host = createToolHost({ tools: createFileTools({ sandbox: { contains } }) });
  return host.assess(ToolCall.parse({ id: "1", name, args }), { ...context, grant });
}

const patch = (path: string, text: string) => ({
  patch: `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch\n`,
});
const executable: [string, string, unknown][] = [
  ["a shell script by its name", "write", { path: "build.sh", content: "true" }],
  ["a makefile", "write", { path: "lib/Makefile", content: "all:" }],
  ["scripts of a package", "write", { path: "package.json", content: "{}" }],
  ["settings that a program runs", "write_local_file", { path: "vite.config.ts", content: "" }],
  ["a script by its first line", "write", { path: "tool", content: "#!/bin/sh\ntrue" }],
  ["an existing executable file", "write", { path: "run", content: "true" }],
  ["an existing executable file by an absolute path", "write", { path: "$FOLDER/run", content: "true" }],
  ["an existing executable file by a path with dots", "write", { path: "a/../run", content: "true" }],
  ["an existing script", "edit", { path: "script", old: "true", new: "false" }],
  ["a text that becomes a script", "edit", { path: "notes", old: "notes", new: "#!/bin/sh" }],
  [
    "a script that a patch moves",
    "apply_patch",
    { patch: "*** Begin Patch\n*** Update File: script\n*** Move to: b\n@@\n-true\n+false\n*** End Patch\n" },
  ],
  ["a script of a patch", "apply_patch", patch("tool", "#!/bin/sh")],
];

describe("without a containing sandbox, a person is asked about", () => {
  test.for(executable)("%s", async ([, name, args], { context, folder }) => {
    await writeFile(join(folder, "run"), "true\n");
    await chmod(join(folder, "run"), 0o755);
    await writeFile(join(folder, "script"), "#!/bin/sh\ntrue\n");
    await writeFile(join(folder, "notes"), "notes\n");
    const here = JSON.parse(JSON.stringify(args).replace("$FOLDER", folder));
    const assessment = decide(name, here, context);
    expect(assessment.decision).toBe("ask");
    expect(assessment.reason).toContain("no sandbox here contains commands");
    expect(decide(name, here, context, true).decision).toBe("allow");
  });

  test.for([
    ["a text", "write", { path: "notes.md", content: "x" }],
    ["a source file", "write", { path: "src/a.ts", content: "export {};" }],
    ["a pipe, which is never opened", "write", { path: "pipe", content: "x" }],
    ["a text of a patch", "apply_patch", patch("a.md", "x")],
  ] as const)("nothing else: %s", async ([, name, args], { context, folder }) => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(decide(name, args, context).decision).toBe("allow");
  });
});
