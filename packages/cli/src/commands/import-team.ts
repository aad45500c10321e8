import { lstat, mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { type ImportedTeam, importSettings, readSettings, type SettingsRole } from "@troupe/roles";
import { modelProblems } from "../agents/agent-problems.ts";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { acceptOwnFiles } from "../session/accept-own-files.ts";

export interface ImportTeamFlags {
  name: string;
  out?: string;
  prompts?: string;
  entry?: string;
  json: boolean;
}

/** A larger file is a mistake. */
const fileBytesMax = 1024 * 1024;

/** `troupe teams import`: makes a team of an `appsettings.json`. Every mistake is found before the first file is written. */
export async function importTeam(cli: Cli, given: string, flags: ImportTeamFlags): Promise<number> {
  const path = resolve(cli.cwd, given);
  const file = cleanLine(basename(path));
  const settings = readSettings(file, await readSettingsFile(path, given));
  const base = flags.prompts === undefined ? dirname(path) : resolve(cli.cwd, flags.prompts);
  const prompts = new Map<string, string>();
  for (const [i, role] of settings.roles.Roles.entries()) prompts.set(role.RoleId, await readPrompt(base, role, i));
  const { name, entry } = flags;
  const team = importSettings({ ...settings, file, name, prompts, entry });
  const folder = flags.out === undefined ? join(cli.cwd, ".troupe", "teams", name) : resolve(cli.cwd, flags.out);
  await writeTeam(folder, team);
  if (flags.out === undefined) await acceptOwnFiles(cli, folder);
  const unknownModels = (await modelProblems(cli, team.agents)).map(
    ({ message, fix }) => `${message}${fix === null ? "" : `; fix: ${fix}`}`,
  );
  report(cli, { ...flags, folder, team, warnings: [...team.warnings, ...unknownModels] });
  return 0;
}

async function readSettingsFile(path: string, given: string): Promise<string> {
  try {
    return await readText(path);
  } catch (cause) {
    throw new TroupeError("USAGE", `${JSON.stringify(cleanLine(given))} cannot be read: ${reasonOf(cause)}`, {
      fix: "name the settings file: troupe teams import appsettings.json",
      cause,
    });
  }
}

/** Only files of the folder are read: the settings can be another person's, and a model gets the text of a prompt. */
async function readPrompt(base: string, { SystemPromptFile: given }: SettingsRole, i: number): Promise<string> {
  const place = `AgentRoles.Roles[${i}].SystemPromptFile`;
  const path = resolve(base, given.replaceAll("\\", "/"));
  const shown = cleanLine(given);
  try {
    const real = await realpath(path);
    if (!real.startsWith(`${await realpath(base)}${sep}`)) throw outside(place, shown, base);
    return await readText(real);
  } catch (cause) {
    if (TroupeError.is(cause)) throw cause;
    throw new TroupeError("INVALID_CONFIG", `${place}: the prompt file ${path} cannot be read: ${reasonOf(cause)}`, {
      fix: `create ${shown}, or name the folder of the prompts: --prompts DIR`,
      cause,
    });
  }
}

function outside(place: string, shown: string, base: string): TroupeError {
  return new TroupeError("INVALID_CONFIG", `${place}: ${shown} is outside of ${base}`, {
    fix: "name the folder that contains all prompts: --prompts DIR",
  });
}

async function readText(path: string): Promise<string> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new Error("it is not a file");
  if (stats.size > fileBytesMax) throw new Error(`it has ${stats.size} bytes; the maximum is ${fileBytesMax}`);
  return await readFile(path, "utf8");
}

function reasonOf(cause: unknown): string {
  const code = errorCodeOf(cause);
  if (code === "ENOENT") return "it does not exist";
  return code ?? (cause instanceof Error ? cause.message : String(cause));
}

/** The folder must be new, so that no file can be overwritten. */
async function writeTeam(folder: string, { files }: ImportedTeam): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder);
  } catch (cause) {
    if (await lstat(folder).catch(() => null)) {
      throw new TroupeError("CONFLICT", `${folder} exists already and was not changed`, {
        fix: "choose another name: --name NAME, or another folder: --out DIR",
        cause,
      });
    }
    throw unwritable(folder, cause);
  }
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { flag: "wx" });
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw unwritable(folder, cause);
  }
}

function unwritable(folder: string, cause: unknown): TroupeError {
  return new TroupeError("USAGE", `${folder} cannot be written: ${reasonOf(cause)}`, {
    fix: "choose a folder that you can write: --out DIR",
    cause,
  });
}

interface ImportReport extends ImportTeamFlags {
  folder: string;
  team: ImportedTeam;
  warnings: readonly string[];
}

function report(cli: Cli, { name, folder, team, warnings, json, out: elsewhere }: ImportReport): void {
  const { out, err } = cli.terminal;
  for (const warning of warnings) err.line(`${err.colours.yellow("warning:")} ${cleanLine(warning)}`);
  if (json) {
    const agents = team.agents.map(({ id }) => id);
    out.line(jsonLine({ team: name, path: folder, entry: team.entry, agents, warnings }));
    return;
  }
  out.line(folder);
  err.line(err.colours.dim(`check its files: troupe agents validate ${relative(cli.cwd, folder) || "."}`));
  if (elsewhere === undefined) err.line(err.colours.dim(`run it: troupe run --team ${name} "what to do"`));
}
