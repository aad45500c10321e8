import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { ConnectorErrorType, LocalOffice } from "@troupe/connectors";
import { type ErrorCode, TroupeError } from "@troupe/core";
import { RunFailure } from "@troupe/core/tool";
import type { OfficeSettings } from "../config/office-settings.ts";
import { type Home, homeFiles } from "../home/home.ts";

/** Whether the local office of a home was ever opened. */
export function hasLocalOffice(home: Home): boolean {
  return existsSync(join(homeFiles(home).office, "office.db"));
}

/**
 * Opens the local office of a home, as the user of the settings. Creates it at the first use. The connectors load here,
 * because they take longer than a short command.
 */
export async function openHomeOffice(home: Home, settings: OfficeSettings): Promise<LocalOffice> {
  const { openLocalOffice } = await import("@troupe/connectors");
  return openLocalOffice({
    folder: homeFiles(home).office,
    user: userOf(settings),
    timeZone: settings.timeZone?.value ?? null,
  });
}

/** The name without an address, or the reverse, is completed. Neither: the stored user, else a local one. */
function userOf({ name, address }: OfficeSettings): { name: string; address: string } | null {
  if (!name && !address) return null;
  const own = address?.value ?? "me@office.local";
  return { name: name?.value ?? own.split("@")[0] ?? own, address: own };
}

/** Deletes the local office. No process may have it open. */
export async function deleteLocalOffice(home: Home): Promise<void> {
  const folder = homeFiles(home).office;
  for (const file of ["office.db", "office.db-wal", "office.db-shm"]) await rm(join(folder, file), { force: true });
  // Files of the user in this folder stay, and keep it.
  await rmdir(folder).catch(() => {});
}

const codes: Readonly<Record<ConnectorErrorType, ErrorCode>> = {
  auth: "UNAUTHORIZED",
  params: "USAGE",
  rate_limit: "UNREACHABLE",
  network: "UNREACHABLE",
  permission: "FORBIDDEN",
  tool_error: "HOME_UNWRITABLE",
};

/** The error of a connector for the command line: with a code, and the fix apart from the message. */
export function officeError(thrown: unknown, home: Home): unknown {
  if (!(thrown instanceof RunFailure)) return isFull(thrown) ? diskFull(home, thrown) : thrown;
  const { type, fix } = thrown as RunFailure & { type?: ConnectorErrorType; fix?: string | null };
  if (type === undefined || !(type in codes)) return thrown;
  const message = fix ? thrown.message.replace(`; ${fix}`, "") : thrown.message;
  return new TroupeError(codes[type], message, { cause: thrown, ...(fix ? { fix } : {}) });
}

/** SQLite's code of a full disk. */
const full = 13;

function isFull(thrown: unknown): boolean {
  return thrown instanceof Error && "errcode" in thrown && thrown.errcode === full;
}

function diskFull(home: Home, cause: unknown): TroupeError {
  const { office } = homeFiles(home);
  return new TroupeError("HOME_UNWRITABLE", `no space is left for the office in ${office}`, {
    cause,
    fix: "free space on this disk, or use another home: export TROUPE_HOME=<folder>",
  });
}
