/** The replies of a host in the NATS service protocol. The schemas of ADR-32 are strict, so an extra field fails too. */
import { encode } from "@troupe/core/internal";
import { createMemoryBus } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import {
  createHostsFixture,
  type HostOptions,
  type HostsFixture,
  served,
  settle,
  type TestHost,
} from "./hosts.fixture.ts";
import { type EndpointStats, InfoResponse, PingResponse, StatsResponse } from "./micro.fixture.ts";
import { type MicroService, startMicro } from "./micro.ts";

const control = "troupe.control.worker-a";
const hostsQuery = encode({ v: 1, kind: "hosts.asked" });

/** Errors that listeners threw. */
const thrown: unknown[] = [];

async function open(
  options: HostOptions = {},
): Promise<{ fixture: HostsFixture; host: TestHost; micro: MicroService }> {
  thrown.length = 0;
  const fixture = createHostsFixture(createMemoryBus({ onListenerError: (error) => thrown.push(error) }));
  const host = await fixture.host("worker-a", { agents: [served("coder"), served("tester")], ...options });
  const { bus, logger } = fixture;
  return { fixture, host, micro: await startMicro({ bus, logger, own: host }) };
}

async function ask<S extends z.ZodType>({ bus }: HostsFixture, subject: string, schema: S): Promise<z.output<S>> {
  const reply = await bus.request(subject, new Uint8Array(), { timeoutMs: 1_000 });
  return schema.parse(JSON.parse(new TextDecoder().decode(reply)));
}

describe("a host in the NATS service protocol", () => {
  test.each(["", ".troupe-worker", ".troupe-worker.worker-a"])("answers on $SRV.VERB%s", async (of) => {
    const { fixture } = await open();
    expect((await ask(fixture, `$SRV.PING${of}`, PingResponse)).id).toBe("worker-a");
    expect((await ask(fixture, `$SRV.INFO${of}`, InfoResponse)).endpoints).toHaveLength(2);
    expect((await ask(fixture, `$SRV.STATS${of}`, StatsResponse)).endpoints).toHaveLength(2);
  });

  test.each([".another", ".troupe-worker.worker-b", ".another.worker-a"])(
    "does not answer for others: $SRV.PING%s",
    async (of) => {
      const { fixture } = await open();
      await expect(ask(fixture, `$SRV.PING${of}`, PingResponse)).rejects.toMatchObject({ code: "NO_RESPONDERS" });
    },
  );

  test("describes itself in strings only", async () => {
    const { fixture } = await open();
    const { metadata, name, version } = await ask(fixture, "$SRV.PING", PingResponse);
    expect({ name, version }).toEqual({ name: "troupe-worker", version: "1.0.0" });
    expect(metadata).toEqual({
      ...{ host: "worker-a", role: "worker", agents: "coder,tester", place: "box" },
      ...{ protocol: "1", version: "1.0.0", pid: "7" },
    });
  });

  test.each([
    ["1.2.3-rc.1+build.5", "1.2.3-rc.1+build.5"],
    ["1.2", "0.0.0"],
    ["nightly", "0.0.0"],
  ])("of version %s has the semantic version %s", async (version, semantic) => {
    const { fixture } = await open({ version });
    expect(await ask(fixture, "$SRV.PING", PingResponse)).toMatchObject({ version: semantic, metadata: { version } });
  });

  test("names its current agents, and counts those beyond one line", async () => {
    const { fixture, host } = await open();
    host.serve(Array.from({ length: 60 }, (_, i) => served(`agent-${i}`)));
    const { metadata } = await ask(fixture, "$SRV.INFO", InfoResponse);
    expect(metadata.agents).toMatch(/^agent-0,agent-1,.*agent-49,… \(60\)$/);
  });

  test("has endpoints that no other host answers", async () => {
    const { fixture } = await open();
    const { endpoints } = await ask(fixture, "$SRV.INFO", InfoResponse);
    expect(endpoints).toEqual([
      { name: "asked", subject: control, queue_group: "", metadata: {} },
      { name: "drain", subject: "troupe.drain.worker-a", queue_group: "", metadata: {} },
    ]);
    const reply = await fixture.bus.request(control, hostsQuery, { timeoutMs: 1_000 });
    expect(JSON.parse(new TextDecoder().decode(reply))).toMatchObject({ kind: "host.beat", host: "worker-a" });
  });

  test("reports its current load", async () => {
    const { fixture, host } = await open({ capacity: 8 });
    host.work({ runs: 5, busy: 3, draining: true });
    const { started, endpoints } = await ask(fixture, "$SRV.STATS", StatsResponse);
    expect(started).toBe("1970-01-01T00:16:40.000Z");
    const load = { runs: 5, busy: 3, draining: true, capacity: 8 };
    expect(endpoints.map(({ data }) => data)).toEqual([load, load]);
  });

  test("counts requests, their time and their errors", async () => {
    const refuse = (by: string): void => {
      if (by === "no one") throw new Error("refused");
    };
    const onDrain = (by: string): void => {
      refuse(by);
      fixture.clock.advance(2.5);
    };
    const { fixture } = await open({ onDrain });
    const drain = (by: string) => encode({ v: 1, kind: "drain.asked", host: "worker-a", by });
    const figures = async (): Promise<Record<string, z.infer<typeof EndpointStats>>> => {
      const { endpoints } = await ask(fixture, "$SRV.STATS", StatsResponse);
      return Object.fromEntries(endpoints.map((endpoint) => [endpoint.name, endpoint]));
    };
    const idle = { num_requests: 0, num_errors: 0, last_error: "", processing_time: 0, average_processing_time: 0 };
    expect(await figures()).toMatchObject({ asked: idle, drain: idle });

    for (const by of ["ada", "no one"])
      await fixture.bus.request("troupe.drain.worker-a", drain(by), { timeoutMs: 50 }).catch(() => {});
    expect(thrown).toEqual([new Error("refused")]);
    fixture.bus.publish(control, encode({ v: 1, kind: "unheard.of" }));
    await settle();
    expect(await figures()).toMatchObject({
      asked: idle,
      drain: {
        ...{ num_requests: 2, num_errors: 1, last_error: "refused" },
        ...{ processing_time: 2_500_000, average_processing_time: 1_250_000 },
      },
    });
  });

  test("does not reply after it has stopped", async () => {
    const { fixture, micro } = await open();
    micro.stop();
    await expect(ask(fixture, "$SRV.PING", PingResponse)).rejects.toMatchObject({ code: "NO_RESPONDERS" });
  });

  test("works if the server forbids the protocol", async () => {
    const fixture = createHostsFixture();
    const host = await fixture.host("worker-a");
    const bus = {
      ...fixture.bus,
      subscribe: (subject: string, listener: Parameters<typeof fixture.bus.subscribe>[1]) =>
        subject.startsWith("$SRV.INFO")
          ? Promise.reject(new Error("forbidden"))
          : fixture.bus.subscribe(subject, listener),
    };
    const micro = await startMicro({ bus, logger: fixture.logger, own: host });
    expect(fixture.logged).toEqual(["`nats micro ls` does not list this host: the server refused a subscription"]);
    expect(await ask(fixture, "$SRV.PING", PingResponse)).toMatchObject({ id: "worker-a" });
    micro.stop();
  });
});
