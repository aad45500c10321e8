import { existsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCodes, type TroupeError } from "@troupe/core";
import { systemIds } from "@troupe/core/system";
import { journalVersion, openRecord, readIntegrity, recordVersion } from "@troupe/recorder";
import { validateAgents, validateTeams } from "@troupe/roles";
import { createHttpClient, replaySession } from "@troupe/runtime";
import { createFolderBlobs, loadPolicy, openApprovalRules, policyWarnings, shippedToolSpecs } from "@troupe/tools";
import {
  accessModels,
  createHomeAgentSource,
  homeFiles,
  openOfflineTroupe,
  openSandbox,
  openWithCleanup,
  readConfig,
  readHomeFeed,
  readStoredWebhooks,
  readToolSpecs,
  sandboxFacts,
  startTroupe,
  startWorker,
} from "troupe/internal";
import type { Composition, StartOptions } from "./cli.ts";
import { cleanLine } from "./render/clean.ts";
import { createServiceClient } from "./session/service-client.ts";

/** Loaded at first use: the NATS client takes a sixth of a short command's start. */
const streams = async () => (await import("./nats/stream-maintenance.ts")).streamMaintenance;

/**
 * The real composition. This is the one module that imports every package.
 */
export const composition: Composition = {
  async start({ host, port, ...options }) {
    const http = { host, port, assets: dashboardFolder() };
    const onBroken = (error: TroupeError) => exitBroken(error, options);
    const running = await openWithCleanup((cleanup) => startTroupe({ ...options, http, onBroken }, cleanup));
    return { ...running, url: running.url ?? "" };
  },
  startWorker: (options) => openWithCleanup((cleanup) => startWorker(options, cleanup)),
  checkNats: async (options) => (await import("./nats/server.ts")).checkNats(options),
  streams: {
    check: async (options) => (await streams()).check(options),
    purge: async (options) => (await streams()).purge(options),
    restore: async (options) => (await streams()).restore(options),
  },
  readIntegrity(home) {
    const { record: file } = homeFiles(home);
    return existsSync(file) ? readIntegrity({ file }) : null;
  },
  watchHosts: async (options) => (await import("./nats/list-hosts.ts")).watchHosts(options),
  openOffline: (options) => openWithCleanup((cleanup) => openOfflineTroupe(options, cleanup)),
  connect: createHttpClient,
  createLocalClient: ({ service }) => createServiceClient(service),
  newId: () => systemIds().next(),
  async openReader(home) {
    const { record: file } = homeFiles(home);
    if (!existsSync(file)) return null;
    const { reader, close } = await openRecord({ file });
    return Object.assign(reader, { close });
  },
  async readPolicy(home) {
    const policy = await loadPolicy(homeFiles(home).policy);
    const { commands, savedFiles } = policy;
    return {
      layer: policy.layer,
      freeMb: policy.disk?.freeMb ?? null,
      ...(commands && savedFiles ? { files: { loss: commands.loss, savedFiles } } : {}),
      warnings: policyWarnings(policy, shippedToolSpecs()),
    };
  },
  async readSandbox(home) {
    const policy = await loadPolicy(homeFiles(home).policy);
    return sandboxFacts(await openSandbox({ home, policy, isUsed: true, usage: null }));
  },
  readRules: async (home) => [...(await openApprovalRules({ file: homeFiles(home).rules })).list()],
  readWebhooks(home) {
    const { webhooks: file } = homeFiles(home);
    return existsSync(file) ? readStoredWebhooks(file) : [];
  },
  readConfig,
  openModels: accessModels,
  toolSpecs: readToolSpecs,
  loadAgents: ({ home, workspace, env }) => createHomeAgentSource(home, env).load(workspace),
  async replay({ home, session, current, env }) {
    const from = await readHomeFeed(home, session);
    const today = current ? { agentSource: createHomeAgentSource(home, env), tools: shippedToolSpecs() } : {};
    return await replaySession({ session, from, ...today });
  },
  readFeed: readHomeFeed,
  openBlobs: (home) => createFolderBlobs({ folder: homeFiles(home).blobs }),
  validateAgents,
  validateTeams,
  storeVersions: { journal: journalVersion, record: recordVersion },
};

/**
 * Ends the process at once. A failed sync must not be repeated, and closing would write. Acknowledged entries are stored, and
 * the next process continues from it.
 */
function exitBroken(error: TroupeError, { logger }: Pick<StartOptions, "logger">): void {
  logger.error({ err: error }, "the journal cannot be written any more: the process exits");
  writeSync(2, `error: ${cleanLine(error.message)}\n${error.fix ? `fix:   ${cleanLine(error.fix)}\n` : ""}`);
  process.exit(exitCodes[error.code]);
}

/** Folder of the built dashboard, both in a checkout and in an installation. */
function dashboardFolder(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("@troupe/dashboard/package.json"))), "dist");
}
