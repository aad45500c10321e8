import { existsSync } from "node:fs";
import type { DaemonStatus } from "@troupe/core";
import { createProjectTrust } from "@troupe/tools";
import { type Config, chooseModel, describeChanges, describeOrigin, homeFiles, providerLabel } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** The configuration, and which model answers here. Calls nobody: `troupe models test` does. */
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
  const detail = found.length === 0 ? `${files.user.path} does not exist: defaults hold` : `${found.join(", ")}: sound`;
  const [first] = warnings;
  return first
    ? warn("configuration", `${detail}; ${warnings.join("; ")}`, `edit ${fileToEdit(first, files.user.path)}`)
    : ok("configuration", detail);
}

/** Warnings about a line begin with it. */
function fileToEdit(warning: string, path: string): string {
  return /^(\/[^:]+):\d+:/.exec(warning)?.[1] ?? path;
}

/** Only names of variables are ever shown, never what they are set to. */
function checkProvider(config: Config, status: DaemonStatus | null): Check {
  const running = status ? `; the owner uses ${status.model ?? status.provider}` : "";
  try {
    const choice = chooseModel(config);
    if (choice.demo)
      return ok("provider", `${providerLabel(choice)}: answers from a script, and calls no model${running}`);
    return ok("provider", `${choice.id}, by ${describeOrigin(choice.origin)}${running}`);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return warn("provider", `${message}: runs are refused${running}`, fix ?? "troupe models ls");
  }
}

/** What this folder brings, and whether it counts. */
export async function checkTrust({ home, cwd }: Cli): Promise<Check> {
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  try {
    // Without it nothing would be known of any folder.
    await trust.list();
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("trust", message, fix ?? "troupe trust ls");
  }
  const project = await trust.inspect(cwd);
  const count = project.files.length === 1 ? "1 file" : `${project.files.length} files`;
  if (project.problem) return warn("trust", project.problem.message, project.problem.fix ?? "troupe trust");
  if (project.status === "nothing") return ok("trust", "this folder brings nothing that has to be trusted");
  if (project.status === "trusted") return ok("trust", `what this folder brings is trusted: ${count}`);
  if (project.status === "declined")
    return ok("trust", `what this folder brings was declined, and is not used: ${count}`);
  const why =
    project.status === "changed" ? `it is another since it was trusted: ${describeChanges(project)}` : "not trusted";
  return warn("trust", `${count} of this folder not in force: ${why}`, "troupe trust");
}

export async function checkPolicy({ composition, home }: Cli): Promise<Check> {
  const { policy } = homeFiles(home);
  try {
    const { warnings } = await composition.readPolicy(home);
    const found = existsSync(policy) ? `${policy} is sound` : `${policy} does not exist: the default one holds`;
    const rules = await composition.readRules(home);
    const detail = `${found}; ${rules.length === 1 ? "1 stored rule" : `${rules.length} stored rules`}`;
    const [warning] = warnings;
    return warning ? warn("policy", `${detail}; ${warning}`, `edit ${policy}`) : ok("policy", detail);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("policy", message, fix ?? `edit ${policy}`);
  }
}

/** What the daemon found is what holds; where there is none, it is found out now. */
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
    const registry = await cli.composition.loadAgents({ home: cli.home, workspace: cli.cwd, env: cli.env });
    const detail = `${registry.agents.length} usable, ${registry.problems.length} problems`;
    const worst = registry.problems.find((problem) => problem.severity === "error") ?? registry.problems[0];
    if (!worst) return ok("agents", detail);
    return warn("agents", `${detail}: ${worst.message}`, `troupe agents validate ${worst.path}`);
  } catch (error) {
    return fail("agents", toTroupeError(error).message, "troupe agents ls");
  }
}
