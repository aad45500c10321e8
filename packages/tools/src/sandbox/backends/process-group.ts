import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { standardProgramFolders } from "../mount-plan/machine-folders.ts";
import { withRestored } from "../processes/command-output.ts";
import { withControlGroup } from "../processes/control-group.ts";
import { couldNotStart } from "../processes/launch.ts";
import { createMarkReaper, markVariable } from "../processes/reaper.ts";
import { limitsWithoutNamespace, prlimitArguments, type ResourceLimits } from "../processes/resource-limits.ts";
import { runCommand } from "../processes/run-command.ts";
import { findProgram, type Programs } from "../programs.ts";
import type { Sandbox, SandboxedCommand } from "../sandbox.ts";
import { cleanEnvironment } from "./run-in-namespaces.ts";

export interface ProcessGroupOptions {
  path: string;
  programs: Programs;
  limits: ResourceLimits;
  /** Confines commands by other means than namespaces. @default no confinement */
  confine?: Confine;
}

/** Prepares one command: the arguments to put before it, and the cleanup after it. */
export type Confine = (
  command: SandboxedCommand,
  scratch: string,
) => Promise<{ prefix: readonly string[]; close(): Promise<string[]> }>;

const noConfinement: Confine = async () => ({ prefix: [], close: async () => [] });

/** Runs commands with all rights of this user. Only their processes and resources are controlled. */
export function createProcessGroupRun(options: ProcessGroupOptions): Sandbox["run"] {
  const { path, programs, limits, confine = noConfinement } = options;
  return async (command) => {
    const { workspace, folder = ".", env } = command;
    const scratch = await mkdtemp(join(await realpath(tmpdir()), "troupe-command-"));
    const [home, temporary] = [join(scratch, "home"), join(scratch, "tmp")];
    let restored: string[] = [];
    try {
      await Promise.all([mkdir(home), mkdir(temporary)]);
      const mark = randomBytes(16).toString("hex");
      const clean = cleanEnvironment([path, ...standardProgramFolders].filter(Boolean).join(delimiter));
      const whole: Record<string, string> = { ...clean, HOME: home, TMPDIR: temporary, ...env, [markVariable]: mark };
      await checkProgram(command.argv[0] ?? "", whole.PATH ?? "");
      const limited = prlimitArguments(programs.prlimit, await limitsWithoutNamespace(limits));
      const { prefix, close } = await confine(command, scratch);
      const result = await withControlGroup(limits, (group) => {
        const argv = [...limited, ...prefix, ...command.argv];
        const launch = { argv, cwd: join(workspace, folder), env: whole, setup: null, group };
        return runCommand(launch, { ...command, createReaper: ({ pid }) => createMarkReaper(pid, mark, group) });
      }).finally(async () => {
        restored = await close();
      });
      return withRestored(result, restored);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };
}

/** Fails early: otherwise the programs before the command would fail, each with a message of its own. */
async function checkProgram(program: string, path: string): Promise<void> {
  if (program.includes("/") || (await findProgram(program, path)) !== "") return;
  throw couldNotStart("ENOENT: the program does not exist");
}
