import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { standardFolders } from "../mount-plan/machine-folders.ts";
import { keepMarked, markVariable } from "../processes/keep-marked.ts";
import { couldNotStart } from "../processes/launch.ts";
import { limitWords } from "../processes/limits.ts";
import { limitsBeside, type MachineCaps } from "../processes/resource-limits.ts";
import { runCommand } from "../processes/run-command.ts";
import { joinWords, withGroup, withRemoved } from "../processes/with-group.ts";
import { findProgram, type Programs } from "../programs.ts";
import type { Sandbox, SandboxedCommand } from "../sandbox.ts";
import { cleanEnvironment } from "./run-in-namespaces.ts";

export interface UnconfinedOptions {
  path: string;
  programs: Programs;
  caps: MachineCaps;
  /** What keeps commands to what they were given, where something other than a namespace does. */
  confine?: Confine;
}

/** Makes ready for one command: the words before it, and what has to be done when it has ended. */
export type Confine = (
  command: SandboxedCommand,
  scratch: string,
) => Promise<{ words: readonly string[]; close(): Promise<string[]> }>;

const unconfined: Confine = async () => ({ words: [], close: async () => [] });

/** Runs commands as this user, with everything that this user may: only what they start and use is held. */
export function createUnconfinedRun(options: UnconfinedOptions): Sandbox["run"] {
  const { path, programs, caps, confine = unconfined } = options;
  return async (command) => {
    const { workspace, folder = ".", env } = command;
    const scratch = await mkdtemp(join(await realpath(tmpdir()), "troupe-command-"));
    const [home, temporary] = [join(scratch, "home"), join(scratch, "tmp")];
    let removed: string[] = [];
    try {
      await Promise.all([mkdir(home), mkdir(temporary)]);
      const mark = randomBytes(16).toString("hex");
      const clean = cleanEnvironment([path, ...standardFolders].filter(Boolean).join(delimiter));
      const whole: Record<string, string> = { ...clean, HOME: home, TMPDIR: temporary, ...env, [markVariable]: mark };
      await checkProgram(command.argv[0] ?? "", whole.PATH ?? "");
      const limits = limitWords(programs.prlimit, await limitsBeside(caps));
      const { words, close } = await confine(command, scratch);
      const end = await withGroup(caps, (group) => {
        const argv = [...joinWords(group), ...limits, ...words, ...command.argv];
        const launch = { argv, cwd: join(workspace, folder), env: whole, plan: null };
        return runCommand(launch, { ...command, keeperOf: ({ pid }) => keepMarked(pid, mark, group) });
      }).finally(async () => {
        removed = await close();
      });
      return withRemoved(end, removed);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };
}

/** Else the programs before it would be what fails, each with words of its own. */
async function checkProgram(program: string, path: string): Promise<void> {
  if (program.includes("/") || (await findProgram(program, path)) !== "") return;
  throw couldNotStart("ENOENT: there is no such program");
}
