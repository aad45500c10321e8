import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { isWhole, makeLeader } from "../../harness/nats-cluster.ts";
import { until } from "../../harness/until.ts";
import { startCluster } from "../harness/cluster.ts";
import { castOf, runsPerSession } from "../harness/company.ts";
import { examine } from "../harness/examine.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { startNatsMembers, urlOf } from "../harness/nats-member.ts";
import type { Scenario } from "../harness/scenario.ts";
import { askFor, awaitEnd } from "../harness/sessions.ts";
import { twoOwners } from "../harness/two-owners.ts";
import { all, none, noted } from "../harness/verdict.ts";

const { boss, ...children } = castOf();
const streams = ["troupe_journal", "troupe_tasks", "OBJ_troupe_blobs"];

/**
 * A server that leads goes on saying yes for a while when the two others hear nothing of it and have chosen another: to
 * what is read, and to whoever wants to keep a task. What is written it never confirms.
 */
export const lostLeader: Scenario = {
  name: "n3-leader",
  what: "of three servers the one that leads is cut off from the others, with a worker that it serves (--minutes)",
  long: { runs: 8, minutes: 1, leaseMs: 8_000 },
  short: { runs: 3, minutes: 0.5 },
  async play({ settings, scope, folder }) {
    const { leaseMs, runs, minutes } = settings;
    const { members, wires } = await startNatsMembers({ scope, folder, wired: true });
    const [alone, ...others] = members;
    if (!alone || !wires) throw new Error("three servers were asked for");
    const cluster = await startCluster({
      ...{ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 },
      servers: members,
    });
    const natsUrl = urlOf(others);
    await cluster.addDaemon({ name: "daemon1", agents: [boss], natsUrl });
    const agents = Object.values(children);
    const far = await cluster.addWorker({ name: "far", agents, natsUrl: urlOf([alone]) });
    const sessions = await Promise.all(Array.from({ length: runs }, () => askFor(cluster)));
    const signal = AbortSignal.timeout(minutes * 60_000 + 10 * leaseMs + 180_000);
    const ends = Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
    for (const stream of streams) await makeLeader(cluster.natsUrl, stream, alone.name);
    const life = far.living();
    const ledger = ledgerOf(cluster.ledgerHome);
    await until(async () => (await ledger.calls()).some(({ pid }) => pid === life?.pid));
    // Before that, so that at no time nobody serves the children.
    await cluster.addWorker({ name: "near", agents, natsUrl });
    wires.cutOff(0);
    const cutAt = Date.now();
    await delay(minutes * 60_000);
    wires.mend();
    const mendedAt = Date.now();
    for (const stream of streams) await until(() => isWhole(cluster.natsUrl, stream));
    const wholeAt = Date.now();
    await ends;
    const journal = await readJournalStream(cluster.natsUrl);
    return [
      all("runs", journal.size, runs * runsPerSession),
      noted("sessions that ended meanwhile", sessions.filter(({ settledAt }) => (settledAt ?? 0) < mendedAt).length),
      noted("it was cut off for", `${((mendedAt - cutAt) / 1000).toFixed(1)} s`),
      noted("all three had all of it again after", `${((wholeAt - mendedAt) / 1000).toFixed(1)} s`),
      ...(life ? twoOwners(journal, await ledger.calls(), life) : []),
      none(
        "processes that ended",
        cluster.workers.filter(({ lives }) => lives.length > 1).map(({ name }) => name),
      ),
      ...(await examine(cluster, sessions, runs)),
    ];
  },
};
