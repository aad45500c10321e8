import { systemIds } from "@troupe/core/system";
import { createHttpClient } from "@troupe/runtime";
import type { Composition } from "./cli.ts";

// Loaded at first use: most commands ask a running daemon, and need none of them. All at once would be most of their start.
const agents = async () => (await import("./composition/agents.ts")).agents;
const hosts = async () => (await import("./composition/hosts.ts")).hosts;
const policies = async () => (await import("./composition/policies.ts")).policies;
const stores = async () => (await import("./composition/stores.ts")).stores;
const streams = async () => (await import("./nats/stream-maintenance.ts")).streamMaintenance;

/**
 * The real composition. Together with its folder it is the one place that imports every package.
 */
export const composition: Composition = {
  start: async (options) => (await hosts()).start(options),
  startWorker: async (options) => (await hosts()).startWorker(options),
  openOffline: async (options) => (await hosts()).openOffline(options),
  checkNats: async (options) => (await import("./nats/server.ts")).checkNats(options),
  watchHosts: async (options) => (await import("./nats/list-hosts.ts")).watchHosts(options),
  streams: {
    check: async (options) => (await streams()).check(options),
    purge: async (options) => (await streams()).purge(options),
    restore: async (options) => (await streams()).restore(options),
  },
  connect: createHttpClient,
  createLocalClient: async ({ service }) => (await import("./session/service-client.ts")).createServiceClient(service),
  newId: () => systemIds().next(),
  readConfig: async (options) => (await import("./composition/settings.ts")).readConfig(options),
  openModels: async (config) => (await hosts()).openModels(config),
  readIntegrity: async (home) => (await stores()).readIntegrity(home),
  openReader: async (home) => (await stores()).openReader(home),
  readWebhooks: async (home) => (await stores()).readWebhooks(home),
  readFeed: async (home, session) => (await stores()).readFeed(home, session),
  openBlobs: async (home) => (await stores()).openBlobs(home),
  storeVersions: async () => (await stores()).versions,
  readPolicy: async (home) => (await policies()).readPolicy(home),
  readSandbox: async (home) => (await policies()).readSandbox(home),
  readRules: async (home) => (await policies()).readRules(home),
  toolSpecs: async (options) => (await agents()).toolSpecs(options),
  loadAgents: async (options) => (await agents()).loadAgents(options),
  replay: async (options) => (await agents()).replay(options),
  validateAgents: async (...args) => (await agents()).validateAgents(...args),
  validateTeams: async (...args) => (await agents()).validateTeams(...args),
};
