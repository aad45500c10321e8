import type { Tool } from "@troupe/core/tool";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createGitTool } from "./git.ts";
import { createGitCommitTool } from "./git-commit.ts";
import { createGitDiffTool } from "./git-diff.ts";
import { type GitIdentity, readGitIdentity } from "./git-identity.ts";
import { createTestTool } from "./project-tests/create-test-tool.ts";
import { createShellTool } from "./shell.ts";

export interface CommandToolsOptions {
  sandbox: Sandbox;
  /** Author of commits. @default the user of this machine, from their own git configuration */
  identity?: () => Promise<GitIdentity>;
}

/** Creates the tools that start programs. All of them run in the sandbox. */
export function createCommandTools({ sandbox, identity = userOfMachine() }: CommandToolsOptions): Tool[] {
  const parts = { sandbox, identity };
  return [
    createShellTool(parts),
    createGitTool(parts),
    createGitDiffTool(parts),
    createGitCommitTool(parts),
    createTestTool(parts),
  ];
}

/** Reads the identity at first use and then caches it. */
function userOfMachine(): () => Promise<GitIdentity> {
  let identity: Promise<GitIdentity> | null = null;
  return () => {
    identity ??= readGitIdentity(process.env);
    return identity;
  };
}
