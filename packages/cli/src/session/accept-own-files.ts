import { relative, sep } from "node:path";
import { createProjectTrust } from "@troupe/tools";
import { homeFiles, prepareHome } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine } from "../render/clean.ts";
import { userName } from "./control.ts";

/**
 * Accepts an agent file or a team's folder that the user has just written by a command, if it replaces another definition.
 * Without it the user's own change would wait for `troupe trust`. Other files of the folder are not accepted by this.
 */
export async function acceptOwnFiles(cli: Cli, path: string): Promise<void> {
  const { composition, home, cwd, env, terminal } = cli;
  const { problems } = await composition.loadAgents({ home, workspace: cwd, env });
  const isOwn = (file: string): boolean => file === path || file.startsWith(path + sep);
  if (!problems.some((problem) => problem.code === "needs-trust" && isOwn(problem.path))) return;
  await prepareHome(home);
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const at = new Date(cli.now()).toISOString();
  if (await trust.acceptDefinitions(cwd, path, { at, by: userName(env) })) return;
  const note = `${cleanLine(relative(cwd, path))} is not used yet, because other files of this folder are not trusted: troupe trust`;
  terminal.err.line(terminal.err.colours.yellow(note));
}
