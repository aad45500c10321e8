import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type BusMessage, TroupeError } from "@troupe/core";
import { createNatsBus, type NatsBus, type NatsBusEvent } from "@troupe/nats";
import { afterEach, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";

// Faults of a network: servers that are missing, go away and come back.

const hasServer = findNatsServer() !== null;
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

describe("a bus without a server", () => {
  it("reports at once that no server answers, with the address", async () => {
    const port = await closedPort();
    const error = await createNatsBus({ servers: `nats://me:secret@127.0.0.1:${port}` }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining(`nats://127.0.0.1:${port}`) });
    expect(String(error)).not.toContain("secret");
  });

  it("gives up on another kind of server", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    stops.push(async () => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const opened = createNatsBus({ servers: `127.0.0.1:${port}`, connectTimeoutMs: 100 });
    await expect(opened).rejects.toMatchObject({ code: "UNREACHABLE" });
  });

  it.each(["http://127.0.0.1:4222", "nats://", ""])("refuses %j as an address", async (servers) => {
    await expect(createNatsBus({ servers })).rejects.toMatchObject({ code: "USAGE" });
  });
});

describe.skipIf(!hasServer)(hasServer ? "a bus whose server fails" : natsServerMissing, () => {
  it("restores its subscriptions after the server was killed and restarted", async () => {
    const server = await start();
    const [near, far] = [await open(server), await open(server)];
    const received = messages(far.bus, "a.*");
    await far.bus.subscribe("echo", (message) => message.respond(message.bytes));

    await server.kill();
    await Promise.all([near.until("disconnected"), far.until("disconnected")]);
    await server.restart();
    await Promise.all([near.until("reconnected"), far.until("reconnected")]);
    await far.bus.flush();

    near.bus.publish("a.1", Buffer.from("again"));
    expect(Buffer.from((await received).bytes).toString()).toBe("again");
    const reply = await near.bus.request("echo", Buffer.from("you too"), { timeoutMs: 5_000 });
    expect(Buffer.from(reply).toString()).toBe("you too");
  });

  it("reconnects without a limit", async () => {
    const server = await start();
    const { bus, until } = await open(server);
    await server.kill();
    await until("disconnected");
    await refuseConnections(server.port, 15);
    expect(bus.connected).toBe(false);
    await server.restart();
    await until("reconnected");
    await bus.flush();
    expect(bus.connected).toBe(true);
  });

  it("survives a period in which its credentials are refused", async () => {
    const server = await start();
    const { bus, until, untilTold } = await open(server);
    await server.kill();
    await until("disconnected");
    const closed = await start({ port: server.port, flags: ["--user", "other", "--pass", "other"] });
    await untilTold(3, (event) => event.kind === "error" && event.error.code === "UNAUTHORIZED");
    expect(bus.connected).toBe(false);
    await closed.stop();
    await server.restart();
    await until("reconnected");
    await bus.flush();
    expect(bus.connected).toBe(true);
  });

  it("counts messages that are published while disconnected, and fails requests at once", async () => {
    const server = await start();
    const { bus, until, events } = await open(server);
    await server.kill();
    await until("disconnected");

    for (let i = 0; i < 100; i++) bus.publish("a.1", Buffer.from("lost"));
    expect([bus.connected, bus.lost]).toEqual([false, 100]);
    const asked = bus.request("a.1", Buffer.from("?"), { timeoutMs: 20_000 });
    await expect(asked).rejects.toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining(server.url) });
    await expect(bus.flush()).rejects.toMatchObject({ code: "UNREACHABLE" });

    await server.restart();
    await until("reconnected");
    expect(bus.connected).toBe(true);
    expect(events).toContainEqual(expect.objectContaining({ kind: "reconnected", lost: 100 }));
  });

  it("registers a subscription made while disconnected with the next server", async () => {
    const server = await start();
    const [near, far] = [await open(server), await open(server)];
    await server.kill();
    await Promise.all([near.until("disconnected"), far.until("disconnected")]);
    const received = messages(far.bus, "late.*");
    await server.restart();
    await Promise.all([near.until("reconnected"), far.until("reconnected")]);
    await far.bus.flush();
    near.bus.publish("late.1", Buffer.from("x"));
    expect((await received).subject).toBe("late.1");
  });

  it("closes while the server is down", async () => {
    const server = await start();
    const { bus, until } = await open(server);
    await server.kill();
    await until("disconnected");
    await bus.close();
    expect(() => bus.publish("a", Buffer.from("x"))).toThrow(TroupeError);
    await until("closed");
  }, 5_000);

  it("sends its credentials, and names the server that refuses wrong ones", async () => {
    const server = await start({ flags: ["--user", "me", "--pass", "p@ss"] });
    const withUser = (user: string): string => server.url.replace("//", `//${user}@`);
    const bus = await createNatsBus({ servers: withUser("me:p%40ss") });
    await bus.close();
    await expect(createNatsBus({ servers: withUser("me:wrong") })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  it.each(["", "a b", "a\r\nPUB x 0"])("refuses %j as a subject", async (subject) => {
    const { bus } = await open(await start());
    expect(() => bus.publish(subject, Buffer.from("x"))).toThrow(expect.objectContaining({ code: "INVALID_MESSAGE" }));
  });
});

async function start(options?: Parameters<typeof startNatsServer>[0]): Promise<NatsServer> {
  const server = await startNatsServer(options);
  stops.push(server.stop);
  return server;
}

interface Watched {
  bus: NatsBus;
  events: NatsBusEvent[];
  until(kind: NatsBusEvent["kind"]): Promise<void>;
  /** Waits for a number of events of one kind. */
  untilTold(count: number, isIt: (event: NatsBusEvent) => boolean): Promise<void>;
}

async function open(server: NatsServer): Promise<Watched> {
  const events: NatsBusEvent[] = [];
  let check = (): void => {};
  const bus = await createNatsBus({
    servers: server.url,
    reconnectDelayMs: 20,
    onEvent(event) {
      events.push(event);
      check();
    },
  });
  stops.push(() => bus.close());
  const untilTold: Watched["untilTold"] = (count, isIt) =>
    new Promise((resolve) => {
      check = () => events.filter(isIt).length >= count && resolve();
      check();
    });
  return { bus, events, untilTold, until: (kind) => untilTold(1, (event) => event.kind === kind) };
}

/** The first message on a pattern. */
function messages(bus: NatsBus, pattern: string): Promise<BusMessage> {
  return new Promise((resolve, reject) => {
    bus.subscribe(pattern, resolve).catch(reject);
  });
}

/** Replaces a server, and refuses a number of clients. */
async function refuseConnections(port: number, count: number): Promise<void> {
  let refused = 0;
  const door = createServer((socket) => {
    socket.destroy();
    if (++refused === count) door.close();
  }).listen(port, "127.0.0.1");
  await once(door, "close");
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
