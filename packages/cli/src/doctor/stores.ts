import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import type { Cli } from "../cli.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Larger ones would keep the user waiting for minutes. */
const checkedBytesMax = 1024 ** 3;

export interface DatabaseFacts {
  name: string;
  path: string;
  /** The newest version that this build can read. */
  newestVersion: number;
  /** What to do when it is damaged. */
  repair: string;
}

/** Whether a database can be read by this build, and its pages are sound. Opens it for reading only. */
export function checkDatabase(facts: DatabaseFacts): Check {
  const { name, path, newestVersion, repair } = facts;
  if (!existsSync(path)) return ok(name, `${path} does not exist yet`);
  const bytes = statSync(path).size;
  try {
    const database = new Database(path, { readonly: true, timeout: 2_000 });
    try {
      const version = Number(database.pragma("user_version", { simple: true }));
      if (version > newestVersion) {
        const detail = `${path} is of version ${version}; this build reads up to ${newestVersion}`;
        return fail(name, detail, "npm install -g @troupe/cli@latest");
      }
      const described = `${path}, version ${version}, ${formatBytes(bytes)}`;
      if (bytes > checkedBytesMax) return ok(name, `${described}, too large to check its pages here`);
      const finding = String(database.pragma("quick_check(1)", { simple: true }));
      return finding === "ok" ? ok(name, described) : fail(name, `${path} is damaged: ${finding}`, repair);
    } finally {
      database.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const busy = error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
    return busy ? warn(name, `${path} is busy: ${why}`, "troupe doctor") : fail(name, `${path}: ${why}`, repair);
  }
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_024 && unit < units.length - 1) {
    amount /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** What the record could not take for true. A record that cannot be read at all is told of above. */
export function checkIntegrity({ composition, home }: Cli): Check[] {
  try {
    const report = composition.readIntegrity(home);
    if (!report || report.session === null) return [];
    const forked = `${report.forked === 1 ? "1 run has" : `${report.forked} runs have`} two entries at one place`;
    const aside = `${report.quarantined === 1 ? "1 entry was" : `${report.quarantined} entries were`} set aside`;
    return [warn("history", `${forked}, ${aside}`, `troupe sessions show ${report.session}`)];
  } catch {
    return [];
  }
}
