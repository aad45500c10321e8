import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createHttpClient, type HttpClient } from "@troupe/runtime";
import { cleanEnv } from "../../harness/clean-env.ts";
import { cliPath } from "../../harness/cli-path.ts";
import { newMark } from "../../harness/find-processes.ts";
import type { Agents } from "../../harness/scenario-file.ts";
import { type TreeAgents, treeAgents, writeTreeAgents, writeTreeScenario } from "./agent-tree.ts";
import { createInProcessMember } from "./in-process-member.ts";
import { createMember, type Member, type MemberProcess } from "./member.ts";
import type { HostNamespace } from "./namespaces.ts";
import { createNatsMember, type NatsMember, urlOf } from "./nats-member.ts";
import type { Scope } from "./scope.ts";

export interface TroupeMember extends Member {
  readonly home: string;
}

export interface Cluster {
  folder: string;
  /** The only server, or the first of three. */
  nats: NatsMember;
  servers: readonly NatsMember[];
  /** Of all servers, with commas between them. */
  natsUrl: string;
  leaseMs: number;
  /** Text in the command line of every tool process. */
  mark: string;
  /** Folder of the ledger that every process writes its calls to. */
  ledgerHome: string;
  /** The scenario's file. */
  scenario: string;
  daemons: TroupeMember[];
  workers: TroupeMember[];
  addDaemon(options?: TroupeMemberOptions): Promise<TroupeMember>;
  addWorker(options?: TroupeMemberOptions): Promise<TroupeMember>;
}

export interface TroupeMemberOptions {
  name?: string;
  /** Agents that it serves. @default the whole cast; of a daemon, all that there are */
  agents?: readonly string[];
  /** Those whose definitions it has. @default all of the casts */
  trees?: readonly TreeAgents[];
  capacity?: number;
  /** Address of its NATS server. @default the server itself */
  natsUrl?: string;
  /** The machine that it is on. @default this one */
  host?: HostNamespace;
  env?: Record<string, string>;
  /** More flags of its command. */
  flags?: readonly string[];
  /** Whether it is started at once. @default true */
  start?: boolean;
  /** Prepares its home before its first start. */
  prepareHome?(home: string): Promise<void>;
}

export interface ClusterOptions {
  scope: Scope;
  folder: string;
  leaseMs: number;
  daemons: number;
  workers: number;
  latencyMs: number;
  trees?: readonly TreeAgents[];
  /** Additional agents with their scripted replies. */
  more?: Agents;
  /** Agents of `more` that every host of the tree's agents serves too. */
  moreAgents?: readonly string[];
  prepareHome?(home: string): Promise<void>;
  nats?: Partial<Parameters<typeof createNatsMember>[0]>;
  /** Three that were started before. @default one, that is started */
  servers?: readonly NatsMember[];
  /** Whether daemons and workers are in this process: they can start and stop, but nothing can kill them. @default false */
  inProcess?: boolean;
}

/** The disk that all of these processes share. */
const locality = "chaos";

/** A nats-server, daemons and workers, each a process that can die and come back. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { scope, folder, leaseMs, trees = [treeAgents()], moreAgents = [] } = options;
  await mkdir(folder, { recursive: true });
  const mark = newMark();
  const servers = await startServers(options);
  const natsUrl = urlOf(servers, options.nats?.address);
  const { latencyMs, more = {} } = options;
  const scenario = await writeTreeScenario({ folder, mark, latencyMs, trees, more });

  const add = async (
    kind: "daemon" | "worker",
    memberOptions: TroupeMemberOptions,
    count: number,
  ): Promise<TroupeMember> => {
    const { name = `${kind}${count + 1}`, start = true } = memberOptions;
    const home = path.join(folder, name);
    await writeTreeAgents(home, memberOptions.trees ?? trees);
    await options.prepareHome?.(home);
    await memberOptions.prepareHome?.(home);
    const agents = memberOptions.agents ?? [...trees.flatMap((tree) => Object.values(tree)), ...moreAgents];
    const connection = ["--nats", memberOptions.natsUrl ?? natsUrl, "--lease", String(leaseMs), "--place", locality];
    const flags =
      kind === "daemon"
        ? [
            "up",
            "--json",
            "--no-open",
            "--port",
            "0",
            ...connection,
            ...(memberOptions.agents ? ["--agents", agents.join(",")] : []),
          ]
        : ["worker", "--json", "--name", name, "--agents", agents.join(","), ...connection];
    const capacity = memberOptions.capacity === undefined ? [] : ["--capacity", String(memberOptions.capacity)];
    const args = [...flags, ...capacity, ...(memberOptions.flags ?? [])];
    const env = { TROUPE_TEST_LEDGER: path.join(folder, "ledger.jsonl"), ...memberOptions.env };
    const common = { name, kind, scope, logFile: path.join(folder, `${name}.log`), readReady };
    const member = options.inProcess
      ? createInProcessMember({ ...common, home, args, env })
      : createMember({
          ...common,
          command: () => ({
            ...(memberOptions.host?.inside(process.execPath, [cliPath, ...args]) ?? {
              command: process.execPath,
              args: [cliPath, ...args],
            }),
            env: { ...cleanEnv(home), ...env },
          }),
        });
    if (start) await member.start();
    return Object.assign(member, { home });
  };

  const daemons: TroupeMember[] = [];
  const workers: TroupeMember[] = [];
  const cluster: Cluster = {
    folder,
    nats: first(servers),
    servers,
    natsUrl,
    leaseMs,
    mark,
    ledgerHome: folder,
    scenario,
    daemons,
    workers,
    async addDaemon(memberOptions = {}) {
      const daemon = await add("daemon", memberOptions, daemons.length);
      daemons.push(daemon);
      return daemon;
    },
    async addWorker(memberOptions = {}) {
      const worker = await add("worker", memberOptions, workers.length);
      workers.push(worker);
      return worker;
    },
  };
  const names = (kind: string, count: number) => Array.from({ length: count }, (_, i) => `${kind}${i + 1}`);
  await Promise.all([
    ...names("daemon", options.daemons).map((name) => cluster.addDaemon({ name })),
    ...names("worker", options.workers).map((name) => cluster.addWorker({ name })),
  ]);
  return cluster;
}

async function startServers({ scope, folder, nats, servers }: ClusterOptions): Promise<readonly NatsMember[]> {
  if (servers) return servers;
  const server = await createNatsMember({ scope, folder, ...nats });
  await server.start();
  return [server];
}

function first(servers: readonly NatsMember[]): NatsMember {
  const [found] = servers;
  if (!found) throw new Error("no server was started");
  return found;
}

/** The ready line is one JSON object; all other output is for people. */
function readReady(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    const ready: unknown = JSON.parse(line);
    return typeof ready === "object" && ready !== null && "pid" in ready ? (ready as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** A client of a daemon that lives; null while none does. */
export function clientOf(daemon: Member): HttpClient | null {
  const ready = daemon.current()?.ready;
  return ready ? clientOfProcess(ready) : null;
}

export function clientOfProcess({ url, token }: MemberProcess["ready"]): HttpClient {
  return createHttpClient({ url: String(url), token: String(token), timeoutMs: 5_000 });
}
