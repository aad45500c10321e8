import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { parseConfig, userConfigFile } from "troupe/internal";
import type { Cli } from "../cli.ts";

/**
 * Sets the default team in the user's configuration, or removes it. All other lines, comments included, stay as they are.
 * Returns the path of the file.
 */
export async function setUserTeam(cli: Pick<Cli, "env" | "cwd">, team: string | null): Promise<string> {
  const path = userConfigFile(cli);
  const before = await readFile(path, "utf8").catch((cause: unknown) => {
    if (errorCodeOf(cause) === "ENOENT") return null;
    throw unwritable(path, cause);
  });
  if (before === null && team === null) return path;
  const after = withTeam(before ?? "", team);
  // The file is checked before and after: a line that is part of another value must not be changed.
  parseConfig(before ?? "", path);
  if ((readTeam(after, path) ?? null) !== team) {
    throw new TroupeError("INVALID_CONFIG", `${path}: the setting team is not on a line of its own`, {
      fix: team === null ? `remove team from ${path}` : `write team: ${team} into ${path}`,
    });
  }
  await replaceFile(path, after);
  return path;
}

function readTeam(text: string, path: string): string | undefined {
  try {
    return parseConfig(text, path).value.team;
  } catch {
    return "";
  }
}

const teamLine = /^team[ \t]*:[^\r\n]*(\r?\n|$)/m;
const explanation = /^# team:[^\r\n]*(\r?\n|$)/m;

/** The text with one line changed, added or removed. */
function withTeam(text: string, team: string | null): string {
  if (team === null) return text.replace(teamLine, "");
  if (teamLine.test(text)) {
    return text.replace(
      teamLine,
      (line, end: string) => `team: ${team}${/[ \t]+#[^\r\n]*/.exec(line)?.[0] ?? ""}${end}`,
    );
  }
  // Below the explanation of `troupe config init`.
  if (explanation.test(text)) return text.replace(explanation, (line) => `${line.trimEnd()}\nteam: ${team}\n`);
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}team: ${team}\n`;
}

/** A kill leaves the old file or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): TroupeError {
  return new TroupeError("INVALID_CONFIG", `${path} cannot be changed`, {
    cause,
    fix: "export TROUPE_CONFIG=<a file that you can write>",
  });
}
