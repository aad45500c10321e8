import { createSubjects, silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createNatsBusOn, openNatsLink } from "@troupe/nats";
import { createAnnouncer } from "@troupe/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

// The command line queries the hosts on a server, with a home that no daemon runs.

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "troupe hosts, without a daemon" : natsServerMissing, () => {
  let server: NatsServer;
  const stops: (() => unknown)[] = [];
  const drained: string[] = [];
  beforeAll(async () => {
    server = await startNatsServer();
    stops.push(server.stop);
    await openHost("worker-a", "blue");
    await openHost("worker-b", "green");
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  async function openHost(host: string, namespace: string): Promise<void> {
    const link = await openNatsLink({ servers: server.url });
    const facts = { host, role: "worker", version: "1.2.3", pid: 7, place: "box", capacity: 4, beatMs: 2_000 } as const;
    const announcer = createAnnouncer({
      ...{
        bus: createNatsBusOn(link),
        subjects: createSubjects(namespace),
        clock: systemClock(),
        logger: silentLogger,
      },
      facts: { ...facts, startedAt: new Date().toISOString() },
      agents: () => [],
      load: () => ({ runs: 2, busy: 1, draining: false }),
      onDrain: (by) => drained.push(`${host}, as ${by} wants`),
    });
    await announcer.start();
    stops.push(() => link.close(), announcer.stop);
  }

  it("lists the hosts of one namespace, and lets one of them leave", async (test) => {
    const home = await tempFolder("hosts", test);
    const on = ["--nats", server.url, "--namespace", "blue"];
    const [listed, asked] = await Promise.all([
      troupe(["hosts", "ls", "--json", ...on], { home }),
      troupe(["hosts", "drain", "worker-a", ...on], { home, env: { USER: "ada" } }),
    ]);
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ host: "worker-a", runs: 2, busy: 1, status: "alive" }]);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining("asked worker-a to drain") });
    expect(drained).toEqual(["worker-a, as ada wants"]);
  });

  it("finds the hosts on the server of the environment, and names the known hosts for an unknown one", async (test) => {
    const home = await tempFolder("hosts", test);
    const env = { NATS_URL: server.url };
    const { code, stderr } = await troupe(["hosts", "drain", "worker-a", "--namespace", "green"], { home, env });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("known hosts: worker-b") });
  });

  it("names the address if no server answers", async (test) => {
    const home = await tempFolder("hosts", test);
    const { code, stderr } = await troupe(["hosts", "ls", "--nats", "nats://127.0.0.1:9"], { home });
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("127.0.0.1:9") });
  });
});
