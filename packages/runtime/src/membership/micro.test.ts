/** What NATS' own tools are told of a host. The schemas are those of ADR-32, strict: a field too much is a mistake too. */
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
const asked = encode({ v: 1, kind: "hosts.asked" });

/** By what hears the messages. */
const thrown: unknown[] = [];

async function open(options: HostOptions = {}): Promise<{ stage: HostsFixture; host: TestHost; micro: MicroService }> {
  thrown.length = 0;
  const stage = createHostsFixture(createMemoryBus({ onListenerError: (error) => thrown.push(error) }));
  const host = await stage.host("worker-a", { agents: [served("coder"), served("tester")], ...options });
  const { bus, logger } = stage;
  return { stage, host, micro: await startMicro({ bus, logger, own: host }) };
}

async function ask<S extends z.ZodType>({ bus }: HostsFixture, subject: string, schema: S): Promise<z.output<S>> {
  const reply = await bus.request(subject, new Uint8Array(), { timeoutMs: 1_000 });
  return schema.parse(JSON.parse(new TextDecoder().decode(reply)));
}

describe("a host, as NATS' own tools see it", () => {
  test.each(["", ".troupe-worker", ".troupe-worker.worker-a"])("answers on $SRV.VERB%s", async (of) => {
    const { stage } = await open();
    expect((await ask(stage, `$SRV.PING${of}`, PingResponse)).id).toBe("worker-a");
    expect((await ask(stage, `$SRV.INFO${of}`, InfoResponse)).endpoints).toHaveLength(2);
    expect((await ask(stage, `$SRV.STATS${of}`, StatsResponse)).endpoints).toHaveLength(2);
  });

  test.each([".another", ".troupe-worker.worker-b", ".another.worker-a"])(
    "does not answer for others: $SRV.PING%s",
    async (of) => {
      const { stage } = await open();
      await expect(ask(stage, `$SRV.PING${of}`, PingResponse)).rejects.toMatchObject({ code: "NO_RESPONDERS" });
    },
  );

  test("says who it is, in strings alone", async () => {
    const { stage } = await open();
    const { metadata, name, version } = await ask(stage, "$SRV.PING", PingResponse);
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
  ])("of version %s is of semantic version %s", async (version, semantic) => {
    const { stage } = await open({ version });
    expect(await ask(stage, "$SRV.PING", PingResponse)).toMatchObject({ version: semantic, metadata: { version } });
  });

  test("names what it serves now, and counts what is too much for a line", async () => {
    const { stage, host } = await open();
    host.serve(Array.from({ length: 60 }, (_, i) => served(`agent-${i}`)));
    const { metadata } = await ask(stage, "$SRV.INFO", InfoResponse);
    expect(metadata.agents).toMatch(/^agent-0,agent-1,.*agent-49,… \(60\)$/);
  });

  test("has endpoints of its own, which no other host answers in its place", async () => {
    const { stage } = await open();
    const { endpoints } = await ask(stage, "$SRV.INFO", InfoResponse);
    expect(endpoints).toEqual([
      { name: "asked", subject: control, queue_group: "", metadata: {} },
      { name: "drain", subject: control, queue_group: "", metadata: {} },
    ]);
    const reply = await stage.bus.request(control, asked, { timeoutMs: 1_000 });
    expect(JSON.parse(new TextDecoder().decode(reply))).toMatchObject({ kind: "host.beat", host: "worker-a" });
  });

  test("tells how busy it is now", async () => {
    const { stage, host } = await open({ capacity: 8 });
    host.work({ runs: 5, busy: 3, draining: true });
    const { started, endpoints } = await ask(stage, "$SRV.STATS", StatsResponse);
    expect(started).toBe("1970-01-01T00:16:40.000Z");
    for (const { data } of endpoints) expect(data).toEqual({ runs: 5, busy: 3, draining: true, capacity: 8 });
  });

  test("counts what it was asked, how long that took, and what failed", async () => {
    const refuse = (by: string): void => {
      if (by === "nobody") throw new Error("not for nobody");
    };
    const onDrain = (by: string): void => {
      refuse(by);
      stage.clock.advance(2.5);
    };
    const { stage } = await open({ onDrain });
    const drain = (by: string) => encode({ v: 1, kind: "drain.asked", host: "worker-a", by });
    const figures = async (): Promise<Record<string, z.infer<typeof EndpointStats>>> => {
      const { endpoints } = await ask(stage, "$SRV.STATS", StatsResponse);
      return Object.fromEntries(endpoints.map((endpoint) => [endpoint.name, endpoint]));
    };
    const idle = { num_requests: 0, num_errors: 0, last_error: "", processing_time: 0, average_processing_time: 0 };
    expect(await figures()).toMatchObject({ asked: idle, drain: idle });

    for (const by of ["ada", "nobody"]) await stage.bus.request(control, drain(by), { timeoutMs: 50 }).catch(() => {});
    expect(thrown).toEqual([new Error("not for nobody")]);
    stage.bus.publish(control, encode({ v: 1, kind: "unheard.of" }));
    await settle();
    expect(await figures()).toMatchObject({
      asked: idle,
      drain: {
        ...{ num_requests: 2, num_errors: 1, last_error: "not for nobody" },
        ...{ processing_time: 2_500_000, average_processing_time: 1_250_000 },
      },
    });
  });

  test("is found by nobody once it has stopped", async () => {
    const { stage, micro } = await open();
    micro.stop();
    await expect(ask(stage, "$SRV.PING", PingResponse)).rejects.toMatchObject({ code: "NO_RESPONDERS" });
  });

  test("works all the same where the server forbids it to answer", async () => {
    const stage = createHostsFixture();
    const host = await stage.host("worker-a");
    const bus = {
      ...stage.bus,
      subscribe: (subject: string, listener: Parameters<typeof stage.bus.subscribe>[1]) =>
        subject.startsWith("$SRV.INFO")
          ? Promise.reject(new Error("forbidden"))
          : stage.bus.subscribe(subject, listener),
    };
    const micro = await startMicro({ bus, logger: stage.logger, own: host });
    expect(stage.logged).toEqual(["`nats micro ls` does not list this host: the server refused a subscription"]);
    expect(await ask(stage, "$SRV.PING", PingResponse)).toMatchObject({ id: "worker-a" });
    micro.stop();
  });
});
