import { randomUUID } from "node:crypto";
import { AgentDefinition, type AgentRegistry, GrantLayer, TroupeError } from "@troupe/core";
import type { AgentProblem, ApprovalRule } from "@troupe/core/internal";
import type { IntegrityReport } from "@troupe/recorder";
import type { Replayed } from "@troupe/runtime";
import { shippedToolSpecs } from "@troupe/tools";
import { type NatsFlags, readConfig, type SandboxFacts, type WorkerOptions } from "troupe/internal";
import type { Composition, HomePolicy, RecordArchive } from "../cli.ts";
import type { HostWatch } from "../nats/list-hosts.ts";
import type { NatsFacts } from "../nats/server.ts";
import { FakeTroupe } from "./fake-troupe.ts";

export interface FakeComposition extends Composition {
  /** The started troupes, in order. */
  started: FakeTroupe[];
  archive: RecordArchive | null;
  /** The content of a home without an owner. Its record is the archive. */
  offline: FakeTroupe | null;
  /** Homes that were opened offline for a command and closed again. */
  offlineCloses: number;
  rules: ApprovalRule[];
  policy: HomePolicy | TroupeError;
  /** True if the one agent is disabled. */
  disabled: boolean;
  /** True if the one agent only plans, in a worktree. */
  limited: boolean;
  problems: AgentProblem[];
  sandbox: SandboxFacts;
  demo: boolean;
  /** The result of every replay, and the requested replays. */
  replayed: Replayed | null;
  replays: { session: string; current: boolean }[];
  /** The started workers, and how many of them have stopped. */
  workers: WorkerOptions[];
  workersClosed: number;
  /** Resolve it to ask the worker to drain. */
  drainRequested: PromiseWithResolvers<string>;
  /** The hosts on the named server, null without a server; and the flags of each query. */
  hostWatch: HostWatch | null;
  watched: NatsFlags[];
  /** The result of the server check. */
  nats: NatsFacts | null;
  /** The integrity report of the record. */
  integrity: IntegrityReport | null;
}

/** The other packages, in memory. Troupes find each other by address, as over the network. */
export function createFakeComposition(): FakeComposition {
  const composition: FakeComposition = {
    started: [],
    archive: null,
    offline: null,
    offlineCloses: 0,
    rules: [],
    disabled: false,
    limited: false,
    policy: { layer: GrantLayer.parse({ from: "policy", kind: "policy" }), warnings: [] },
    problems: [],
    sandbox: { kind: "bubblewrap", contains: true, detail: "commands see their workspace", fix: null },
    demo: false,
    replayed: null,
    replays: [],
    workers: [],
    workersClosed: 0,
    drainRequested: Promise.withResolvers(),
    hostWatch: null,
    watched: [],
    nats: null,
    integrity: null,
    storeVersions: async () => ({ journal: 1, record: 1 }),
    async start({ home, kind, port }) {
      const url = `http://127.0.0.1:${port === 0 ? 40_001 + composition.started.length : port}`;
      const { token } = home;
      const troupe = new FakeTroupe({
        url,
        token,
        home: home.path,
        kind,
        demo: composition.demo,
        sandbox: composition.sandbox,
      });
      composition.started.push(troupe);
      return troupe;
    },
    async startWorker(options) {
      composition.workers.push(options);
      const agents = options.work.serve === "all" ? ["lead"] : options.work.serve;
      const close = async () => {
        composition.workersClosed += 1;
      };
      const { drainRequested: asked } = composition;
      return { agents, locality: "m1", bus: () => "nats://h:4222", warnings: [], drainRequested: asked.promise, close };
    },
    async watchHosts({ nats: flags }) {
      composition.watched.push(flags);
      return composition.hostWatch;
    },
    checkNats: async () => composition.nats,
    streams: {
      check: () => Promise.reject(new Error("no server here")),
      purge: () => Promise.reject(new Error("no server here")),
      restore: () => Promise.reject(new Error("no server here")),
    },
    readIntegrity: async () => composition.integrity,
    async openOffline() {
      if (!composition.offline) throw new Error("no offline home here");
      const close = async () => {
        composition.offlineCloses += 1;
      };
      return { control: composition.offline, close };
    },
    async readPolicy() {
      if (composition.policy instanceof TroupeError) throw composition.policy;
      return composition.policy;
    },
    readSandbox: async () => composition.sandbox,
    readConfig,
    openModels: () => Promise.reject(new Error("no models here")),
    readWebhooks: async () => [],
    readRules: async () => composition.offline?.rules() ?? composition.rules,
    connect({ url, token }) {
      const found = composition.started.findLast((troupe) => troupe.url === url && troupe.token === token);
      if (found) return found;
      const dead = new FakeTroupe({ url, token, home: "", kind: "run", demo: false, sandbox: composition.sandbox });
      dead.dead = true;
      return dead;
    },
    createLocalClient: async (troupe) => troupe as FakeTroupe,
    newId: () => randomUUID(),
    openReader: async () => composition.archive ?? (composition.offline && archiveOver(composition.offline)),
    loadAgents: async () => registryOf(composition.problems, composition),
    async replay(options) {
      composition.replays.push(options);
      if (composition.replayed) return { ...composition.replayed, session: options.session };
      throw new TroupeError("UNKNOWN_SESSION", `there is no session ${options.session} in the record`);
    },
    toolSpecs: async () => shippedToolSpecs(),
    readFeed: async () => [],
    openBlobs: async () => ({ get: async () => null }),
    async validateAgents(paths) {
      if (paths.length === 0) throw new TroupeError("USAGE", "no paths");
      return { agents: [...registryOf([]).agents], problems: composition.problems };
    },
    validateTeams: async () => ({ teams: [], problems: composition.problems }),
  };
  return composition;
}

/** The record of an offline troupe. */
function archiveOver(troupe: FakeTroupe): RecordArchive {
  const orNull = <T>(found: Promise<T>) => found.catch(() => null);
  const archive: Partial<RecordArchive> = {
    sessions: async (options) => (await troupe.sessions(options)).sessions,
    session: (session) => orNull(troupe.session(session)),
    response: (session) => orNull(troupe.response(session)),
    changes: async (_of, { after, limit }) => troupe.changeRows.filter(({ id }) => id > after).slice(0, limit),
    approvals: async (options) => (await troupe.approvals(options)).approvals,
    async run(run) {
      const { sessions } = await troupe.sessions({ limit: 500 });
      const details = await Promise.all(sessions.map(({ session }) => troupe.session(session)));
      return details.flatMap(({ runs }) => runs).find((row) => row.run === run) ?? null;
    },
    close() {},
  };
  return archive as RecordArchive;
}

function registryOf(problems: readonly AgentProblem[], { disabled = false, limited = false } = {}): AgentRegistry {
  const lead = AgentDefinition.parse({
    id: "lead",
    name: "Lead",
    description: "Splits \u001b[31mwork\u001b[0m up",
    prompt: "You lead.",
    disabled,
    ...(limited ? { permissionMode: "plan", workspace: "worktree" } : {}),
    subagents: { allow: ["researcher"] },
    source: { origin: "builtin", path: "/shipped/lead.md" },
  });
  return {
    agents: [lead],
    problems,
    find: (id) => (id === lead.id ? lead : undefined),
    renderPrompt: () => "",
  };
}
