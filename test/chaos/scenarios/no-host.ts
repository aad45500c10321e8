import { writeAgent, writePolicy } from "../../harness/home-files.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { atMost, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { awaitEnd, submitSession } from "../harness/sessions.ts";

const errorMs = 1_000;

/** A child that no living host serves fails within a second, or waits for a host if the policy says so. */
export const noHost: Scenario = {
  name: "n10",
  what: "no living host serves the agent of a delegation",
  long: { leaseMs: 2_000 },
  short: { inProcess: true },
  async run({ settings, scope, folder }) {
    const { leaseMs, slack, inProcess } = settings;
    const delegating = [
      { steps: [{ calls: [{ tool: "delegate", args: { agent: "ghost", task: "boo" } }] }, { text: "asked" }] },
    ];
    const ghost = [{ steps: [{ text: "boo" }] }];
    const cluster = await startCluster({
      ...{ scope, folder, leaseMs, inProcess, daemons: 0, workers: 0, latencyMs: 50 },
      more: { asker: delegating, ghost },
    });
    // The daemon knows what a ghost is, and runs none itself.
    const asker = async (home: string): Promise<void> => {
      await writeAgent(home, "asker", { subagents: { allow: ["ghost"] } });
      await writeAgent(home, "ghost");
    };
    const daemon = await cluster.addDaemon({ name: "daemon1", agents: ["asker"], prepareHome: asker });
    // A host that has left: the agent was available until then.
    const haunt = {
      name: "haunt",
      agents: ["ghost"],
      trees: [],
      prepareHome: (home: string) => writeAgent(home, "ghost"),
    };
    const worker = await cluster.addWorker(haunt);
    await worker.stop();
    const refused = await submitSession(cluster, { agent: "asker" });
    await awaitEnd(cluster, refused, AbortSignal.timeout(180_000));
    const refusal = await childOf(cluster.natsUrl, refused.run);
    await daemon.stop();
    await writePolicy(daemon.home, "delegation: {noHost: queue}\n");
    await daemon.start();
    const waiting = await submitSession(cluster, { agent: "asker" });
    await worker.start();
    await awaitEnd(cluster, waiting, AbortSignal.timeout(10 * leaseMs + 180_000));
    const queued = await childOf(cluster.natsUrl, waiting.run);
    const results: OracleResult[] = [
      {
        what: "by default the child ends as",
        value: refusal.end,
        wanted: "failed: no_host",
        ok: /no_host/.test(refusal.end),
      },
      atMost("after", refusal.tookMs, errorMs * slack, " ms"),
      {
        what: "with a policy that queues it ends as",
        value: queued.end,
        wanted: "completed",
        ok: queued.end === "completed",
      },
    ];
    return [...results, ...(await checkCluster(cluster, [refused, waiting], 2))];
  },
};

async function childOf(url: string, run: string): Promise<{ end: string; tookMs: number }> {
  const entries = (await readJournalStream(url)).get(run) ?? [];
  const settled = entries.find(({ entry }) => entry.kind === "child.settled");
  const planned = entries.find(({ entry }) => entry.kind === "calls.planned");
  if (settled?.entry.kind !== "child.settled") return { end: "open", tookMs: 0 };
  const { status, error } = settled.entry.response;
  return { end: error ? `${status}: ${error.type}` : status, tookMs: settled.storedAt - (planned?.storedAt ?? 0) };
}
