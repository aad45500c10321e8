import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { defaultPolicy, type Policy, ToolCall, type ToolContext } from "@troupe/core";
import type { ToolExamination } from "@troupe/core/internal";
import { createGitTool } from "../commands/git.ts";
import { createShellTool } from "../commands/shell.ts";
import { createFileTools } from "../files/create-file-tools.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { createToolHost, type LocalToolHost } from "../tool-host.ts";

const identity = { name: "Ada", email: "ada@example.org" };

const own = [`user.name=${identity.name}`, `user.email=${identity.email}`, "init.defaultBranch=main"].flatMap(
  (setting) => ["-c", setting],
);

/** Runs git as a user would. */
export function userGit(folder: string, ...args: string[]): string {
  return execFileSync("git", [...own, ...args], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs several commands of git, one after the other. */
export function userShell(folder: string, lines: readonly string[]): void {
  execFileSync("/bin/sh", ["-c", lines.map((line) => `git "$@" ${line}`).join(" && "), "sh", ...own], { cwd: folder });
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/**
 * A repository with files in each state: `clean.txt`, `lib/clean.ts` (as in git), `changed.txt`, `staged.txt`, and
 * untracked (`notes.txt`, `src`, `docs`), ignored (`data`, `.env`) and regenerable ones (`node_modules`, `dist`).
 */
export async function makeRepository(folder: string): Promise<void> {
  await writeFiles(folder, {
    ".gitignore": "node_modules/\ndist/\ndata/\n.env\n__pycache__/\n",
    "clean.txt": "clean",
    "changed.txt": "before",
    "staged.txt": "before",
    "lib/clean.ts": "clean",
    "old/clean.md": "clean",
    "package.json": "{}",
  });
  // By one shell: each start of a process from a test worker is slow.
  userShell(folder, ["init -q", "add -A", "commit -q -m first"]);
  await writeFiles(folder, {
    "changed.txt": "after",
    "staged.txt": "after",
    "notes.txt": "notes",
    "src/a.ts": "a",
    "src/b.ts": "bb",
    "docs/guide.md": "guide",
    "data/table.csv": "1,2",
    ".env": "KEY=1",
    "node_modules/x/index.js": "x",
    "dist/out.js": "out",
    "lib/__pycache__/a.pyc": "pyc",
  });
  userGit(folder, "add", "staged.txt");
}

/** A tool host with commands and file tools, in the sandbox of this machine or without one. */
export async function createCommandHost({ policy = {}, isSandboxed = true }: HostChoices = {}): Promise<CommandHost> {
  const whole: Policy = { ...defaultPolicy, ...policy };
  const mode = isSandboxed ? "auto" : "off";
  const sandbox = await createSandbox({ policy: { ...defaultPolicy.sandbox, mode } });
  const tools = [
    createShellTool({ sandbox }),
    createGitTool({ sandbox, identity: async () => identity }),
    ...createFileTools(),
  ];
  const host = createToolHost({ tools, policy: whole });
  return {
    host,
    contains: sandbox.contains,
    async examine(call, context) {
      const found = await host.examine?.(call, granting(context));
      if (found === undefined) throw new Error("this host does not examine calls");
      return found;
    },
    run: (call, context) => host.run(call, granting(context)),
  };
}

export interface HostChoices {
  policy?: Partial<Policy>;
  isSandboxed?: boolean;
}

export interface CommandHost {
  host: LocalToolHost;
  contains: boolean;
  examine(call: ToolCall, context: ToolContext): Promise<ToolExamination>;
  run(call: ToolCall, context: ToolContext): ReturnType<LocalToolHost["run"]>;
}

function granting(context: ToolContext): ToolContext {
  return { ...context, grant: { ...context.grant, tools: ["shell", "git", "write", "edit", "read", "apply_patch"] } };
}

export const shell = (command: string) => ToolCall.parse({ id: "1", name: "shell", args: { command } });
export const git = (...args: string[]) => ToolCall.parse({ id: "1", name: "git", args: { args } });
