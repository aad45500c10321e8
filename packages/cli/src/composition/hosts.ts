import { writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCodes, type TroupeError } from "@troupe/core";
import { accessModels, openOfflineTroupe, openWithCleanup, startTroupe, startWorker } from "troupe/internal";
import type { Composition, StartOptions } from "../cli.ts";
import { cleanLine } from "../render/clean.ts";

/** Hosts of agents in this process. */
export const hosts: Pick<Composition, "start" | "startWorker" | "openOffline" | "openModels"> = {
  async start({ host, port, ...options }) {
    const http = { host, port, assets: dashboardFolder() };
    const onBroken = (error: TroupeError) => exitBroken(error, options);
    const running = await openWithCleanup((cleanup) => startTroupe({ ...options, http, onBroken }, cleanup));
    return { ...running, url: running.url ?? "" };
  },
  startWorker: (options) => openWithCleanup((cleanup) => startWorker(options, cleanup)),
  openOffline: (options) => openWithCleanup((cleanup) => openOfflineTroupe(options, cleanup)),
  openModels: async (config) => accessModels(config),
};

/**
 * Ends the process at once. A failed sync must not be repeated, and closing would write. Acknowledged entries are stored, and
 * the next process continues from it.
 */
function exitBroken(error: TroupeError, { logger }: Pick<StartOptions, "logger">): void {
  logger.error({ err: error }, "a database cannot be written any more: the process exits");
  writeSync(2, `error: ${cleanLine(error.message)}\n${error.fix ? `fix:   ${cleanLine(error.fix)}\n` : ""}`);
  process.exit(exitCodes[error.code]);
}

/** Folder of the built dashboard, both in a checkout and in an installation. */
function dashboardFolder(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("@troupe/dashboard/package.json"))), "dist");
}
