/** The commands on a cluster: they report replicas that are behind, servers that are away, and a lost quorum. */
import { ensureStreams, openNatsLink } from "@troupe/nats";
import { expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startNatsCluster } from "../harness/nats-cluster.ts";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

const hasServer = findNatsServer() !== null;
/** Longer than the time limit of any command. */
const patienceMs = 15_000;

it.skipIf(!hasServer)(
  hasServer
    ? "a cluster: one copy where three are wanted, a server that is away, and too few of them"
    : natsServerMissing,
  async (test) => {
    const home = await tempFolder("care", test);
    const cluster = await startNatsCluster();
    test.onTestFinished(() => cluster.stop());
    const link = await openNatsLink({ servers: cluster.url });
    test.onTestFinished(() => link.close());
    await ensureStreams({ link, namespace: "one", settings: { replicas: 1 } });
    await ensureStreams({ link, namespace: "troupe" });
    const check = async (namespace: string) => {
      const { code, stdout, stderr } = await troupe(
        ["nats", "check", "--json", "--nats", cluster.url, "--namespace", namespace],
        { home },
      );
      const report: Record<string, unknown> = { ...JSON.parse(stdout || stderr), code };
      return report;
    };

    expect(await check("one")).toMatchObject({
      code: 1,
      drift: ["one_journal", "one_tasks", "OBJ_one_blobs"].map((stream) => ({
        ...{ stream, setting: "num_replicas", found: "1", wanted: "3", dangerous: false },
        fix: `nats stream edit ${stream} --replicas=3`,
      })),
      copies: [],
    });
    const followers = [{ away: false }, { away: false }];
    const copies = ["troupe_journal", "troupe_tasks", "OBJ_troupe_blobs"].map((stream) => ({ stream, followers }));
    expect(await check("troupe")).toMatchObject({ code: 0, drift: [], copies, problems: [] });

    const [one, two] = await cluster.followersOf("troupe_journal");
    await one?.kill();
    const missed = await until(async () => {
      const found = await check("troupe");
      return String(found.problems).includes("is offline, with its copies of troupe_journal") && found;
    });
    expect(missed).toMatchObject({ code: 1, ok: false, drift: [] });

    await two?.kill();
    // A leader may not know yet that it is alone.
    let longestMs = 0;
    const leaderless = { code: "UNREACHABLE", message: expect.stringContaining("no leader") };
    const refused = await until(async () => {
      const began = performance.now();
      const found = await check("troupe");
      longestMs = Math.max(longestMs, performance.now() - began);
      return found.code === 5 && found;
    });
    expect(refused).toMatchObject({ error: leaderless });
    expect(longestMs).toBeLessThan(patienceMs);
    const bus = await until(async () => {
      const doctor = await troupe(["doctor", "--json"], { home, env: { NATS_URL: cluster.url } });
      const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string }[] };
      return checks.find(({ name, status }) => name === "bus" && status === "fail");
    });
    expect(bus).toMatchObject({ detail: leaderless.message });
  },
  120_000,
);
