import type { DaemonStatus } from "@troupe/core";
import type { Config } from "troupe/internal";
import { chooseModel, describeOrigin, labelOf } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../failure.ts";
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
  const places = [files.user, ...(files.project ? [files.project] : [])];
  const found = places.filter(({ exists }) => exists).map(({ path }) => path);
  const detail = found.length === 0 ? `${files.user.path} does not exist: defaults hold` : `${found.join(", ")}: sound`;
  const [first] = warnings;
  return first
    ? warn("configuration", `${detail}; ${warnings.join("; ")}`, `edit ${placeOf(first, files.user.path)}`)
    : ok("configuration", detail);
}

/** Warnings about a line begin with it. */
function placeOf(warning: string, path: string): string {
  return /^(\/[^:]+):\d+:/.exec(warning)?.[1] ?? path;
}

/** Only names of variables are ever shown, never what they are set to. */
function checkProvider(config: Config, status: DaemonStatus | null): Check {
  const running = status ? `; the owner uses ${status.model ?? status.provider}` : "";
  try {
    const choice = chooseModel(config);
    if (choice.demo) return ok("provider", `${labelOf(choice)}: answers from a script, and calls no model${running}`);
    return ok("provider", `${choice.id}, by ${describeOrigin(choice.origin)}${running}`);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return warn("provider", `${message}: runs are refused${running}`, fix ?? "troupe models ls");
  }
}
