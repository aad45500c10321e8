import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { acquireHome, createBackup, createHomeRedactor, restoreBackup, userConfigFile } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { jsonLine } from "../render/clean.ts";

interface StoreFlags {
  force: boolean;
  json: boolean;
}

/** `troupe backup`: saves the home in one file. A daemon can run. */
export async function backup(cli: Cli, given: string, { force, json }: StoreFlags): Promise<number> {
  const file = resolve(cli.cwd, given);
  if (!force && existsSync(file)) {
    throw new TroupeError("USAGE", `${file} exists already`, { fix: "name another file, or add --force" });
  }
  const redact = createHomeRedactor({ env: cli.env });
  const facts = await createBackup({ home: cli.home, file, configuration: userConfigFile(cli), redact });
  const { sessions, runs, items, files } = facts;
  const line = `saved ${sessions} sessions with ${runs} runs, ${items} entries and commands, and ${files} files in ${file}`;
  cli.terminal.out.line(json ? jsonLine({ file, ...facts }) : line);
  return 0;
}

/** `troupe restore`: restores a backup into the home. */
export async function restore(cli: Cli, given: string, { force, json }: StoreFlags): Promise<number> {
  const { out, err } = cli.terminal;
  const file = resolve(cli.cwd, given);
  if (!existsSync(file)) {
    throw new TroupeError("USAGE", `${file} does not exist`, { fix: "name a file that troupe backup has written" });
  }
  const home = await acquireHome(cli.home);
  try {
    const restored = await restoreBackup({ home, file, force, configuration: userConfigFile(cli) });
    const { sessions, runs, replaced } = restored;
    if (json) out.line(jsonLine(restored));
    else out.line(`restored ${sessions} sessions with ${runs} runs into ${restored.home}`);
    if (!json && replaced !== null) err.line(`the sessions that were there are in ${replaced}`);
    return 0;
  } finally {
    await home.release();
  }
}
