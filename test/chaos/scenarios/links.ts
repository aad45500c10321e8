import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../harness/until.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";
import { behindProxies } from "./flaky.ts";
import { endedMembers } from "./outage.ts";

/** A link breaks after about so many bytes, which a session sends several times. */
const cutAfterBytes = 60_000;

/** The faults of `n5`, `n4`, `n4-deaf` and `n1` for the same processes, one after the other. */
export const links: Scenario = {
  name: "links",
  what: "a daemon stops reading, then links are slow and break, then replies are lost, then the server is away",
  long: { runs: 20, minutes: 2, daemons: 2, workers: 2 },
  short: { runs: 2, minutes: 0.15, daemons: 2, workers: 1, inProcess: true },
  async run(context) {
    const { runs, minutes, leaseMs } = context.settings;
    const faultMs = (minutes * 60_000) / 4;
    const { cluster, proxies } = await behindProxies(context, 200);
    const [stuck] = proxies;
    stuck?.set({ stalled: true });
    const playing = runSessions(cluster, {
      count: runs,
      spreadMs: 2 * faultMs,
      // The first daemon is the one that is stuck.
      daemons: cluster.daemons.filter(({ name }) => name !== "daemon1"),
      limitMs: minutes * 60_000 + 10 * leaseMs + 180_000,
    });
    await delay(faultMs);
    stuck?.set({ stalled: false });

    for (const proxy of proxies) proxy.set({ delayMs: 100, cutAfterBytes });
    await delay(faultMs);
    const cut = await until(() => proxies.reduce((sum, proxy) => sum + proxy.counts().cut, 0));
    for (const proxy of proxies) proxy.set({ delayMs: 0, cutAfterBytes: null });

    for (const proxy of proxies) {
      proxy.set({ dropsToClient: true });
      await delay(faultMs / proxies.length);
      proxy.cut();
      proxy.set({ dropsToClient: false });
    }

    await cluster.nats.kill();
    await delay(faultMs);
    await cluster.nats.start();
    const sessions = await playing;
    return [
      noted("connections that broke", cut),
      noted("times that a process went deaf and lost its connection", proxies.length),
      endedMembers(cluster),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};
