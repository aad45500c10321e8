import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { TroupeError } from "@troupe/core";
import { errorCodeOf, type SessionArchive } from "@troupe/core/internal";
import type { Control } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { jsonLine } from "../render/clean.ts";
import { withControl } from "../session/control.ts";

/** `troupe sessions import`: stores an exported session. */
export async function importSession(cli: Cli, given: string, { json }: { json: boolean }): Promise<number> {
  const text = given === "-" ? await readAll(cli.stdin.open()) : await readExport(resolve(cli.cwd, given));
  const imported = await withControl(cli, (control) => archiveOf(control).import(text));
  const { session, outcome, runs, items } = imported;
  const line =
    outcome === "known"
      ? `this home has session ${session} already; nothing was changed`
      : `imported session ${session}: ${runs} ${runs === 1 ? "run" : "runs"}, ${items} entries and commands`;
  cli.terminal.out.line(json ? jsonLine(imported) : line);
  return 0;
}

async function readExport(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new TroupeError("USAGE", `cannot read ${path}: ${errorCodeOf(cause) ?? "unknown error"}`, {
      cause,
      fix: `check the path: ls -l ${path}`,
    });
  }
}

export function archiveOf({ sessionArchive }: Control): SessionArchive {
  if (sessionArchive) return sessionArchive;
  throw new TroupeError("USAGE", "the process that owns this home cannot change whole sessions", {
    fix: "stop it, and run the command again",
  });
}
