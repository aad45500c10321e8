import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { limitsBeside, type MachineCaps } from "./caps.ts";
import { keepMarked, markVariable } from "./keep-marked.ts";
import { couldNotStart } from "./launch.ts";
import { limitWords } from "./limits.ts";
import { standardFolders } from "./machine-view.ts";
import { findProgram, type Programs } from "./programs.ts";
import { runCommand } from "./run-command.ts";
import { cleanEnvironment } from "./run-contained.ts";
import type { Sandbox } from "./sandbox.ts";
import { joinWords, withGroup } from "./with-group.ts";

export interface UnconfinedOptions {
  path: string;
  programs: Programs;
  caps: MachineCaps;
}

/** Runs commands as this user, with everything that this user may: only what they start and use is held. */
export function createUnconfinedRun({ path, programs, caps }: UnconfinedOptions): Sandbox["run"] {
  return async ({ workspace, folder = ".", env, ...command }) => {
    const scratch = await mkdtemp(join(tmpdir(), "troupe-command-"));
    const [home, temporary] = [join(scratch, "home"), join(scratch, "tmp")];
    try {
      await Promise.all([mkdir(home), mkdir(temporary)]);
      const mark = randomBytes(16).toString("hex");
      const clean = cleanEnvironment([path, ...standardFolders].filter(Boolean).join(delimiter));
      const whole: Record<string, string> = { ...clean, HOME: home, TMPDIR: temporary, ...env, [markVariable]: mark };
      await checkProgram(command.argv[0] ?? "", whole.PATH ?? "");
      const limits = limitWords(programs.prlimit, await limitsBeside(caps));
      return await withGroup(caps, (group) =>
        runCommand(
          {
            argv: [...joinWords(group), ...limits, ...command.argv],
            cwd: join(workspace, folder),
            env: whole,
            plan: null,
          },
          { ...command, keeperOf: ({ pid }) => keepMarked(pid, mark, group) },
        ),
      );
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
