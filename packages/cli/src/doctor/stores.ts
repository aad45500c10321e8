import { existsSync, statSync } from "node:fs";
import { formatBytes } from "@troupe/core/texts";
import { isBusy, openSqlite } from "@troupe/recorder/internal";
import type { Cli } from "../cli.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** A check of a larger database would take minutes. */
const checkedBytesMax = 1024 ** 3;

export interface DatabaseFacts {
  name: string;
  path: string;
  /** The newest version that this build can read. */
  newestVersion: number;
  /** The fix if it is damaged. */
  repair: string;
}

/** Checks that this build can read a database and that its pages are intact. Opens it for reading only. */
export function checkDatabase(facts: DatabaseFacts): Check {
  const { name, path, newestVersion, repair } = facts;
  if (!existsSync(path)) return ok(name, `${path} does not exist yet`);
  const bytes = statSync(path).size;
  try {
    const database = openSqlite(path, { readOnly: true, busyTimeoutMs: 2_000 });
    try {
      const version = Number(database.pragma("user_version"));
      if (version > newestVersion) {
        const detail = `${path} has version ${version}; this build reads up to ${newestVersion}`;
        return fail(name, detail, "npm install -g @troupe/cli@latest");
      }
      const described = `${path}, version ${version}, ${formatBytes(bytes)}`;
      if (bytes > checkedBytesMax) return ok(name, `${described}, too large for a page check`);
      const finding = String(database.pragma("quick_check(1)"));
      return finding === "ok" ? ok(name, described) : fail(name, `${path} is damaged: ${finding}`, repair);
    } finally {
      database.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return isBusy(error)
      ? warn(name, `${path} is busy: ${why}`, "troupe doctor")
      : fail(name, `${path}: ${why}`, repair);
  }
}

/** Damaged entries in the record. An unreadable record is the finding of `checkDatabase`. */
export async function checkIntegrity({ composition, home }: Cli): Promise<Check[]> {
  try {
    const report = await composition.readIntegrity(home);
    if (!report || report.session === null) return [];
    const forked = `${report.forked === 1 ? "1 run has" : `${report.forked} runs have`} two entries at the same position`;
    const aside = `${report.quarantined === 1 ? "1 entry was" : `${report.quarantined} entries were`} set aside`;
    return [warn("history", `${forked}, ${aside}`, `troupe sessions show ${report.session}`)];
  } catch {
    return [];
  }
}
