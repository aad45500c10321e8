import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { LocalOffice } from "@troupe/connectors";
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
