import { relative, resolve } from "node:path";
import { shortList } from "@troupe/core/internal";
import {
  createProjectTrust,
  hasIgnoredFiles,
  isAcceptedDefinition,
  type Project,
  type ProjectTrust,
} from "@troupe/tools";
import { describeIgnoredFiles, homeFiles, prepareHome } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine } from "../render/clean.ts";
import { userName } from "./control.ts";
import type { RunRequestInput } from "./submit.ts";

/**
 * Before a run: asks the user at the terminal whether to trust the project, if there is no decision for its current files.
 * Otherwise prints which files are ignored. A demo in its own folder and a continued session need no decision.
 */
export async function offerTrust(
  cli: Cli,
  input: Pick<RunRequestInput, "workspace" | "scenario" | "continues">,
  options: { mayAsk: boolean; notice: (text: string) => void },
): Promise<void> {
  if (input.continues !== null || (input.scenario !== null && input.workspace === null)) return;
  const trust = createProjectTrust({ file: homeFiles(cli.home).trust });
  const project = await trust.inspect(resolve(cli.cwd, input.workspace ?? "."));
  await noteHeldBack(cli, project, options.notice);
  if (!hasIgnoredFiles(project)) return;
  const { err } = cli.terminal;
  const isAsked = options.mayAsk && cli.keyboard.isTerminal && err.isTerminal && isUndecided(project);
  if (!isAsked) {
    const fix = project.problem ? "" : ": ignored, because the project is not trusted (troupe trust)";
    options.notice(cleanLine(`${describeIgnoredFiles(project)}${fix}`));
    return;
  }
  err.line(
    `${cleanLine(describeIgnoredFiles(project))}: trust? [y/N]  ${err.colours.dim("(troupe trust shows the files)")}`,
  );
  const key = await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal);
  if (key === null) return;
  // The question has not shown the agents and teams.
  const definitions = project.definitions.filter((file) => isAcceptedDefinition(project, file));
  await saveDecision(cli, trust, { ...project, definitions }, key === "y" ? "accepted" : "declined");
}

/** Names the agent and team files that would replace others if the user trusted them. */
async function noteHeldBack({ composition, home, env }: Cli, project: Project, notice: (text: string) => void) {
  if (project.definitions.every((file) => isAcceptedDefinition(project, file))) return;
  const { problems } = await composition.loadAgents({ home, env, workspace: project.folder });
  const paths = problems.filter(({ code }) => code === "needs-trust").map(({ path }) => relative(project.folder, path));
  if (paths.length === 0) return;
  const files = shortList(paths.map(cleanLine));
  notice(`not used in place of your own or shipped ones, because you have not trusted it: ${files} (troupe trust)`);
}

/** False if the user declined the current files. */
function isUndecided({ status }: Project): boolean {
  return status === "untrusted" || status === "changed";
}

export async function saveDecision(
  cli: Pick<Cli, "home" | "env" | "now">,
  trust: ProjectTrust,
  project: Project,
  decision: "accepted" | "declined",
): Promise<void> {
  await prepareHome(cli.home);
  await trust.record(project, { decision, at: new Date(cli.now()).toISOString(), by: userName(cli.env) });
}
