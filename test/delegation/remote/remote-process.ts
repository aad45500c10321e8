/**
 * The other machine of a test: a process with a host of its own, which shares nothing with the test's but the NATS
 * server. The test tells it over a pipe when to begin and to stop, and is the world outside for both: models, time,
 * and the tools that it looks into. Ends with the test's process, however that ends.
 */
import path from "node:path";
import { type ActorHost, builtinVerifiers, createActorHost, noFailpoints } from "@troupe/runtime";
import { createToolHost, openApprovalRules } from "@troupe/tools";
import { startNatsServer } from "../../harness/nats-server.ts";
import { type Activity, createActivity, turns } from "./activity.ts";
import { type RemoteHostOptions, type RemoteMethods, type TestMethods, uncountedMethods } from "./methods.ts";
import { createPeer, type Peer } from "./peer.ts";
import { openTeamPorts, type TeamPorts } from "./ports.ts";
import {
  machineClock,
  type RemoteClock,
  remoteAgentSource,
  remoteClock,
  remoteLogger,
  remoteLossyBus,
  remoteModels,
  remoteTools,
} from "./remote-deps.ts";

interface RunningHost {
  host: ActorHost;
  ports: TeamPorts;
  clock: RemoteClock;
}

const starting = startNatsServer();
let runningHost: RunningHost | null = null;
/** Of one test, over all hosts that it has here one after the other. */
let counted: { namespace: string; activity: Activity } | null = null;

function activityOf(namespace: string): Activity {
  if (counted?.namespace !== namespace) counted = { namespace, activity: createActivity() };
  return counted.activity;
}

async function start(options: RemoteHostOptions): Promise<void> {
  const logger = remoteLogger(test);
  const activity = activityOf(options.namespace);
  const { url, namespace, hostId, policy, nowMs } = options;
  const ports = await openTeamPorts({ url, namespace, logger, activity });
  const clock = nowMs === null ? machineClock() : remoteClock(test, nowMs);
  const rules = await openApprovalRules({ file: path.join(options.folder, "rules.json") });
  const deps = {
    ...ports,
    bus: options.loses ? remoteLossyBus(test, ports.bus) : ports.bus,
    models: remoteModels(test, options.modelId),
    tools: createToolHost({ tools: remoteTools(test, options), policy, rules, clock }),
    agentSource: remoteAgentSource(test, options.writesPrompts),
    verifiers: builtinVerifiers,
    clock,
    logger,
    failpoint: noFailpoints,
    hostId,
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
  };
  const host = createActorHost({
    deps,
    capacity: options.capacity,
    ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
    agents: options.agents,
    localities: [],
  });
  runningHost = { host, ports, clock };
  await host.start();
}

const methods: RemoteMethods = {
  server: async () => (await starting).url,
  start,
  async stop(options) {
    const { host, ports } = runningHost ?? {};
    await host?.stop(options);
    runningHost = null;
    await ports?.close();
  },
  setTime: (nowMs) => runningHost?.clock.setTime(nowMs),
  fire: (timer) => runningHost?.clock.fire(timer),
  async quiet() {
    const { activity } = counted ?? { activity: createActivity() };
    await activity.idle();
    // Messages for this process arrive before the server's reply.
    await runningHost?.ports.sync();
    await turns();
    return { count: activity.count + test.messages, untaken: activity.untaken };
  },
};

const send = process.send?.bind(process);
if (!send) throw new Error("started without a parent: a test starts this process");
const test: Peer<TestMethods> = createPeer(
  { send: (message) => send(message), onMessage: (listener) => process.on("message", listener) },
  methods,
  uncountedMethods,
);
process.on("disconnect", async () => {
  await (await starting).stop();
  process.exit();
});
