import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { DaemonStatus } from "@troupe/core";
import { type AgentProblem, lackOfTools } from "@troupe/core/internal";
import { createProjectTrust } from "@troupe/tools";
import { type Config, chooseModel, describeChanges, describeOrigin, homeFiles, providerLabel } from "troupe/internal";
import { allProblems } from "../agents/agent-problems.ts";
import type { Cli, FilePolicy } from "../cli.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Checks the configuration and the default model. Calls no model: `troupe models test` does. */
export async function checkModels(cli: Cli, status: DaemonStatus | null): Promise<Check[]> {
  const { home, env, cwd, composition } = cli;
  let config: Config;
  try {
    config = await composition.readConfig({ home, env, cwd, workspace: cwd });
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return [fail("configuration", message, fix ?? "troupe config path")];
  }
  return [checkFiles(config), checkProvider(config, status)];
}

function checkFiles({ files, warnings }: Config): Check {
  const all = [files.user, ...(files.project ? [files.project] : [])];
  const found = all.filter(({ exists }) => exists).map(({ path }) => path);
  const detail =
    found.length === 0 ? `${files.user.path} does not exist: defaults apply` : `${found.join(", ")}: valid`;
  const [first] = warnings;
  return first
    ? warn("configuration", `${detail}; ${warnings.join("; ")}`, `edit ${fileToEdit(first, files.user.path)}`)
    : ok("configuration", detail);
}

/** Warnings about a line start with its path and number. */
function fileToEdit(warning: string, path: string): string {
  return /^(\/[^:]+):\d+:/.exec(warning)?.[1] ?? path;
}

/** Shows names of variables, never their values. */
function checkProvider(config: Config, status: DaemonStatus | null): Check {
  const running = status ? `; the owner uses ${status.model ?? status.provider}` : "";
  try {
    const choice = chooseModel(config);
    if (choice.demo)
      return ok("provider", `${providerLabel(choice)}: answers from a script and calls no model${running}`);
    return ok("provider", `${choice.id}, by ${describeOrigin(choice.origin)}${running}`);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return warn("provider", `${message}: runs are refused${running}`, fix ?? "troupe models ls");
  }
}

/** Checks whether the project of this folder is trusted. */
export async function checkTrust({ home, cwd }: Cli): Promise<Check> {
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  try {
    // Rejects if `trust.json` is damaged.
    await trust.list();
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("trust", message, fix ?? "troupe trust ls");
  }
  const project = await trust.inspect(cwd);
  const count = project.files.length === 1 ? "1 file" : `${project.files.length} files`;
  if (project.problem) return warn("trust", project.problem.message, project.problem.fix ?? "troupe trust");
  if (project.status === "nothing") return ok("trust", "this project has no files that need trust");
  if (project.status === "trusted") return ok("trust", `this project is trusted: ${count}`);
  if (project.status === "declined")
    return ok("trust", `you declined to trust this project; its files are ignored: ${count}`);
  const why =
    project.status === "changed" ? `it changed since you trusted it: ${describeChanges(project)}` : "it is not trusted";
  return warn("trust", `${count} of this project ignored: ${why}`, "troupe trust");
}

export async function checkPolicy({ composition, home }: Cli): Promise<Check> {
  const { policy } = homeFiles(home);
  try {
    const { warnings, files } = await composition.readPolicy(home);
    const found = existsSync(policy) ? `${policy} is valid` : `${policy} does not exist: the default policy applies`;
    const rules = await composition.readRules(home);
    const stored = rules.length === 1 ? "1 stored rule" : `${rules.length} stored rules`;
    const detail = [found, ...(files ? [describeFilePolicy(files)] : []), stored].join("; ");
    const [warning] = warnings;
    return warning ? warn("policy", `${detail}; ${warning}`, `edit ${policy}`) : ok("policy", detail);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("policy", message, fix ?? `edit ${policy}`);
  }
}

/** The keys of the policy about files that commands change, with their values. */
function describeFilePolicy({ loss, savedFiles: { fileMb, totalMb } }: FilePolicy): string {
  return `commands.loss: ${loss}, savedFiles: ${fileMb} MB a file and ${totalMb} MB in all`;
}

/** The sandbox of the running daemon; without a daemon, the sandbox is tested now. */
export async function checkSandbox({ composition, home }: Cli, status: DaemonStatus | null): Promise<Check> {
  try {
    const { kind, contains, detail, fix } = status?.sandbox ?? (await composition.readSandbox(home));
    const found = `${kind}: ${detail}`;
    return contains && fix === null
      ? ok("sandbox", found)
      : warn("sandbox", found, fix ?? `edit ${homeFiles(home).policy}`);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("sandbox", message, fix ?? "edit policy.yaml");
  }
}

export async function checkAgents(cli: Cli): Promise<Check> {
  try {
    const place = { home: cli.home, workspace: cli.cwd, env: cli.env };
    const registry = await cli.composition.loadAgents(place);
    const specs = await cli.composition.toolSpecs(place);
    const problems = await allProblems(cli, registry, specs);
    const usable = registry.agents.filter((agent) => lackOfTools(agent, specs) === null);
    const teams = registry.teams?.length ?? 0;
    const detail = `${usable.length} usable, ${teams} teams, ${problems.length} problems`;
    const worst = problems.find((problem) => problem.severity === "error") ?? problems[0];
    if (!worst) return ok("agents", detail);
    const broken = [...new Set(problems.flatMap(brokenTeamOf))];
    const named = broken.length > 0 ? `${detail}; broken teams: ${broken.join(", ")}` : detail;
    const [team] = brokenTeamOf(worst);
    const fix = team === undefined ? `agents validate ${worst.path}` : `teams validate ${dirname(worst.path)}`;
    return warn("agents", `${named}: ${worst.message}`, `troupe ${fix}`);
  } catch (error) {
    return fail("agents", toTroupeError(error).message, "troupe agents ls");
  }
}

/** The team whose file has the error; empty for any other problem. */
function brokenTeamOf({ path, severity }: AgentProblem): string[] {
  const folder = dirname(path);
  return severity === "error" && basename(dirname(folder)) === "teams" ? [basename(folder)] : [];
}
