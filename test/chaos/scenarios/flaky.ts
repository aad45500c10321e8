import { setTimeout as delay } from "node:timers/promises";
import { startChaosProxy } from "../harness/chaos-proxy.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario, ScenarioContext } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

/** Every process reaches the server through a proxy of its own. */
export async function behindProxies({ settings, scope, folder, random }: ScenarioContext, latencyMs: number) {
  const { leaseMs, daemons, workers, inProcess } = settings;
  const cluster = await startCluster({ scope, folder, leaseMs, inProcess, daemons: 0, workers: 0, latencyMs });
  const proxyFor = () => startChaosProxy({ scope, to: { host: "127.0.0.1", port: cluster.nats.port }, random });
  const proxies = await Promise.all(Array.from({ length: daemons + workers }, proxyFor));
  await Promise.all(
    proxies.map(({ port }, i) => {
      const natsUrl = `nats://127.0.0.1:${port}`;
      return i < daemons
        ? cluster.addDaemon({ name: `daemon${i + 1}`, natsUrl })
        : cluster.addWorker({ name: `worker${i + 1 - daemons}`, natsUrl });
    }),
  );
  return { cluster, proxies };
}

/** Bytes come late, and connections break in the middle of what is being said. */
export const flaky: Scenario = {
  name: "n4",
  what: "every process's link delays by 500 ms and breaks in the middle of messages (--minutes)",
  long: { runs: 60, minutes: 10, workers: 2 },
  short: { runs: 2, minutes: 0.1, workers: 1 },
  async run(context) {
    const { runs, minutes, leaseMs } = context.settings;
    const badMs = minutes * 60_000;
    const { cluster, proxies } = await behindProxies(context, 200);
    for (const proxy of proxies) proxy.set({ delayMs: leaseMs >= 8_000 ? 500 : 100, cutAfterBytes: 200_000 });
    const playing = runSessions(cluster, {
      count: runs,
      spreadMs: 0.8 * badMs,
      limitMs: badMs + 10 * leaseMs + 180_000,
    });
    await delay(badMs);
    for (const proxy of proxies) proxy.set({ delayMs: 0, cutAfterBytes: null });
    const sessions = await playing;
    const cut = proxies.reduce((sum, proxy) => sum + proxy.counts().cut, 0);
    return [
      { what: "connections that broke", value: cut, wanted: "≥ 1", ok: cut > 0 },
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};

/** Replies are lost, so the caller does not know whether its request took effect. */
export const lostReplies: Scenario = {
  name: "n4-deaf",
  what: "a process repeatedly gets no answer to its requests, though they were served (replies dropped for a second)",
  long: { runs: 40, minutes: 3, workers: 2, leaseMs: 2_000 },
  short: { runs: 2, minutes: 0.1, workers: 1 },
  async run(context) {
    const { runs, minutes, leaseMs } = context.settings;
    const badMs = minutes * 60_000;
    const { cluster, proxies } = await behindProxies(context, 200);
    const playing = runSessions(cluster, {
      count: runs,
      spreadMs: 0.8 * badMs,
      limitMs: badMs + 10 * leaseMs + 180_000,
    });
    const until = Date.now() + badMs;
    let drops = 0;
    while (Date.now() < until) {
      const proxy = proxies[Math.floor(context.random() * proxies.length)];
      // Half a frame that is lost would be garbage from then on: a connection that went deaf ends.
      proxy?.set({ dropsToClient: true });
      await delay(200 + context.random() * 800);
      proxy?.cut();
      proxy?.set({ dropsToClient: false });
      drops += 1;
      await delay(context.random() * 500);
    }
    const sessions = await playing;
    return [
      noted("times that a process went deaf and lost its connection", drops),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};

/** The server cuts off a daemon that does not read. The daemon reads the missed messages afterwards. */
export const slowConsumer: Scenario = {
  name: "n5",
  what: "a daemon stops reading from the server (--minutes) while others work, and resumes",
  long: { runs: 30, minutes: 0.5, daemons: 2, workers: 2 },
  short: { runs: 2, minutes: 0.07, daemons: 2, workers: 0 },
  async run(context) {
    const { runs, minutes, leaseMs } = context.settings;
    const { cluster, proxies } = await behindProxies(context, 100);
    const [stuck] = proxies;
    // The first proxy is its.
    const others = cluster.daemons.filter(({ name }) => name !== "daemon1");
    stuck?.set({ stalled: true });
    const playing = runSessions(cluster, {
      count: runs,
      daemons: others,
      limitMs: minutes * 60_000 + 10 * leaseMs + 180_000,
    });
    await delay(minutes * 60_000);
    stuck?.set({ stalled: false });
    const freedAt = Date.now();
    const sessions = await playing;
    const results: OracleResult[] = await checkCluster(cluster, sessions, runs);
    return [
      noted("from being free again to the record being whole, at most", `${Date.now() - freedAt} ms`),
      ...results,
    ];
  },
};
