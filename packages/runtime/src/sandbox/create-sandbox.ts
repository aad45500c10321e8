import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxPolicy } from "../policy/policy.ts";
import { runCommand } from "./run-command.ts";
import type { Sandbox } from "./sandbox.ts";

export interface CreateSandboxOptions {
  /** @default contained as well as can be, without network */
  policy?: SandboxPolicy;
  /** Folders that no command may see, whatever else it may read: those with keys and records. */
  hidden?: readonly string[];
  /** Where programs are looked for, those that make a sandbox included. @default this process's PATH */
  path?: string;
}

/**
 * The best sandbox that this machine has and its policy allows.
 *
 * @example
 * const sandbox = await createSandbox();
 * if (!sandbox.contains) console.warn(sandbox.detail, sandbox.fix);
 */
export async function createSandbox({ path = process.env.PATH ?? "" }: CreateSandboxOptions = {}): Promise<Sandbox> {
  return {
    kind: "process-group",
    contains: false,
    detail: "commands run unconfined, in a process group of their own",
    fix: null,
    run: ({ workspace, folder = ".", env, ...command }) =>
      runCommand({
        ...command,
        cwd: join(workspace, folder),
        env: { PATH: path, HOME: workspace, LANG: process.env.LANG ?? "C.UTF-8", TMPDIR: tmpdir(), ...env },
      }),
  };
}
