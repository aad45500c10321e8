/**
 * Our ordered reader of the journal's stream beside the client library's ordered consumer, on the same server.
 * The figures of docs/adr/0027. Usage, after a build: `node test/bench/nats/stream-readers.ts [figure …]`
 */
import { type Consumer, type ConsumerMessages, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { type NatsLink, openNatsLink } from "@troupe/nats";
import { createJetStreamApi, createOrderedReader, createRequester } from "@troupe/nats/internal";
import { startNatsCluster } from "../../harness/nats-cluster.ts";
import { startNatsServer } from "../../harness/nats-server.ts";

const stream = "bench";
const subject = "bench.entries";

/** One way to read the stream from its first message on. */
interface Reader {
  name: string;
  /** Calls back with the sequence of each message. Returns a function that stops the reader. */
  read(
    link: NatsLink,
    onSequence: (sequence: number) => void,
    options?: { headersOnly?: boolean },
  ): Promise<() => void>;
}

const own: Reader = {
  name: "our ordered reader",
  async read(link, onSequence, { headersOnly = false } = {}) {
    const clock = systemClock();
    const requester = createRequester({ link, clock });
    const api = createJetStreamApi(requester);
    const info = await (await jetstreamManager(link.connection)).streams.info(stream);
    const journalId = `${stream}@${info.created}`;
    const reader = createOrderedReader({
      ...{ link, api, stream, journalId, clock, logger: silentLogger, after: 0, headersOnly },
    });
    void (async () => {
      for (let some = await reader.next(); some; some = await reader.next()) {
        for (const { sequence } of some) onSequence(sequence);
      }
    })().catch((error: unknown) => console.error("  (own reader ended:", String(error), ")"));
    return () => {
      reader.close();
      requester.close();
    };
  },
};

const vendor = (name: string, consume: Parameters<Consumer["consume"]>[0]): Reader => ({
  name,
  async read(link, onSequence, { headersOnly = false } = {}) {
    const consumer = await jetstream(link.connection).consumers.get(stream, { headers_only: headersOnly });
    const messages: ConsumerMessages = await consumer.consume(consume);
    void (async () => {
      for await (const { seq } of messages) onSequence(seq);
    })().catch((error: unknown) => console.error("  (vendor reader ended:", String(error), ")"));
    return () => void messages.close();
  },
});

const readers: readonly Reader[] = [
  own,
  vendor("client's, default settings", { max_messages: 100 }),
  vendor("client's, 1,000 messages, 2 s heartbeat", { max_messages: 1_000, expires: 5_000, idle_heartbeat: 2_000 }),
];

const figures: Record<string, () => Promise<void>> = {
  throughput: () => throughput(false),
  headers: () => throughput(true),
  wakeup,
  idle,
  restart: () => recovery("server killed and started again", false, async ({ server }) => server.restart()),
  down5: () =>
    recovery("server away for 5 s", false, async ({ server }) => {
      await server.kill();
      await delay(5_000);
      await server.restart();
    }),
  deleted: () =>
    recovery("its consumer deleted", false, async ({ url }) => {
      const connection = await connect({ servers: url.split(",") });
      const manager = await jetstreamManager(connection);
      for await (const { name } of manager.consumers.list(stream)) await manager.consumers.delete(stream, name);
      await connection.close();
    }),
  recreated: () =>
    recovery("stream deleted and made again", false, async ({ url }) => {
      const connection = await connect({ servers: url.split(",") });
      const manager = await jetstreamManager(connection);
      await manager.streams.delete(stream);
      await createStream(url, 1);
      await connection.close();
    }),
  stepdown: () => recovery("leader of the stream steps down", true, async ({ stepDown }) => stepDown()),
  consumerServer: () =>
    recovery("server of the consumer killed", true, async ({ killConsumersServer }) => killConsumersServer()),
};

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(figures)) await figures[name]?.();
process.exit(0);

async function throughput(headersOnly: boolean): Promise<void> {
  const count = 50_000;
  const server = await startNatsServer();
  await createStream(server.url, 1);
  await publish(server.url, count);
  console.log(`${count} messages of 1 KB${headersOnly ? ", headers only" : ""}`);
  for (const reader of readers) {
    const samples: { perSecond: number; firstMs: number; cpuUs: number }[] = [];
    for (let round = 0; round < 6; round += 1) {
      const link = await openNatsLink({ servers: server.url });
      const { promise, resolve } = Promise.withResolvers<void>();
      let received = 0;
      let firstMs = 0;
      const began = performance.now();
      const cpu = process.cpuUsage();
      const stop = await reader.read(
        link,
        () => {
          received += 1;
          if (received === 1) firstMs = performance.now() - began;
          if (received === count) resolve();
        },
        { headersOnly },
      );
      await promise;
      const { user, system } = process.cpuUsage(cpu);
      const ms = performance.now() - began;
      if (round > 0) samples.push({ perSecond: (count * 1_000) / ms, firstMs, cpuUs: (user + system) / count });
      stop();
      await link.close();
    }
    const of = (pick: (sample: (typeof samples)[number]) => number) => median(samples.map(pick));
    print(reader, {
      "messages/s": of((s) => s.perSecond),
      "first message ms": of((s) => s.firstMs),
      "CPU µs/message": of((s) => s.cpuUs),
    });
  }
  await server.stop();
}

async function wakeup(): Promise<void> {
  const server = await startNatsServer();
  console.log("from publishing to delivery, 1,000 messages, one every 5 ms");
  await createStream(server.url, 1);
  const publisher = await connect({ servers: server.url });
  for (const reader of readers) {
    const link = await openNatsLink({ servers: server.url });
    const waits: number[] = [];
    let sentAt = 0;
    let live = false;
    const stop = await reader.read(link, () => {
      if (live) waits.push(performance.now() - sentAt);
    });
    await delay(1_500);
    live = true;
    for (let i = 0; i < 1_000; i += 1) {
      sentAt = performance.now();
      await publisher.request(subject, "x");
      await delay(5);
    }
    waits.sort((a, b) => a - b);
    print(reader, {
      received: waits.length,
      "median ms": waits[waits.length >> 1] ?? 0,
      "p99 ms": waits[Math.floor(waits.length * 0.99)] ?? 0,
      "max ms": waits.at(-1) ?? 0,
    });
    stop();
    await link.close();
  }
  await publisher.close();
  await server.stop();
}

async function idle(): Promise<void> {
  const server = await startNatsServer();
  await createStream(server.url, 1);
  console.log("20 readers with nothing to read, for 20 s");
  for (const reader of readers) {
    const link = await openNatsLink({ servers: server.url });
    const stops = await Promise.all(Array.from({ length: 20 }, () => reader.read(link, () => {})));
    await delay(1_000);
    const cpu = process.cpuUsage();
    const before = link.connection.stats();
    await delay(20_000);
    const { user, system } = process.cpuUsage(cpu);
    const after = link.connection.stats();
    print(reader, {
      "CPU ms": (user + system) / 1_000,
      in: after.inMsgs - before.inMsgs,
      out: after.outMsgs - before.outMsgs,
    });
    for (const stop of stops) stop();
    await link.close();
  }
  await server.stop();
}

interface Fault {
  url: string;
  server: Awaited<ReturnType<typeof startNatsServer>>;
  stepDown(): Promise<void>;
  killConsumersServer(): Promise<void>;
}

/** Time from the first acknowledged message after a fault until the reader delivers it. */
async function recovery(what: string, onCluster: boolean, fault: (of: Fault) => Promise<void>): Promise<void> {
  console.log(`${what}: time until a message published afterwards is delivered`);
  for (const reader of readers) {
    const results: string[] = [];
    for (let round = 0; round < 3; round += 1) results.push(await recoverOnce(reader, onCluster, fault));
    console.log(`  ${reader.name}: ${results.join(", ")}`);
  }
}

async function recoverOnce(reader: Reader, onCluster: boolean, fault: (of: Fault) => Promise<void>): Promise<string> {
  const cluster = onCluster ? await startNatsCluster() : null;
  const server = cluster?.servers[0] ?? (await startNatsServer());
  const url = cluster?.url ?? server.url;
  await createStream(url, onCluster ? 3 : 1);
  await publish(url, 100);
  const link = await openNatsLink({ servers: url, reconnectDelayMs: 20 });
  const delivered: number[] = [];
  let check = (): void => {};
  const stop = await reader.read(link, (sequence) => {
    delivered.push(sequence);
    check();
  });
  const until = (isDone: () => boolean, ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      check = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        resolve(true);
      };
      check();
    });
  await until(() => delivered.length >= 100, 10_000);
  await delay(500);
  await fault({
    url,
    server,
    async stepDown() {
      await cluster?.stepDown(stream);
    },
    async killConsumersServer() {
      const name = await serverOfConsumer(link);
      await cluster?.servers[Number(name.slice(1)) - 1]?.kill();
    },
  });
  const sequence = await publishForSure(url);
  const began = performance.now();
  const isDelivered = await until(() => delivered.includes(sequence) && delivered.length > 100, 60_000);
  const tookMs = Math.round(performance.now() - began);
  stop();
  await link.close();
  await (cluster ?? server).stop();
  return isDelivered ? `${tookMs} ms` : "never (60 s)";
}

async function serverOfConsumer(link: NatsLink): Promise<string> {
  const manager = await jetstreamManager(link.connection);
  for await (const { cluster } of manager.consumers.list(stream)) return cluster?.leader ?? "";
  return "";
}

async function createStream(url: string, replicas: number): Promise<void> {
  const connection = await connect({ servers: url.split(",") });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: stream, subjects: [subject], num_replicas: replicas, allow_direct: true });
  await connection.close();
}

async function publish(url: string, count: number): Promise<void> {
  const connection = await connect({ servers: url.split(",") });
  const client = jetstream(connection);
  const body = "x".repeat(1_000);
  for (let first = 0; first < count; first += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, count - first) }, (_, i) => {
        const fields = headers();
        fields.append("Troupe-Version", "1");
        fields.append("Troupe-First", String(first + i));
        fields.append("Troupe-Last", String(first + i));
        return client.publish(subject, body, { headers: fields });
      }),
    );
  }
  await connection.close();
}

async function publishForSure(url: string): Promise<number> {
  for (;;) {
    try {
      const connection = await connect({ servers: url.split(","), timeout: 1_000 });
      try {
        return (await jetstream(connection).publish(subject, "late", { timeout: 1_000 })).seq;
      } finally {
        await connection.close();
      }
    } catch {
      await delay(20);
    }
  }
}

function print({ name }: Reader, values: Record<string, number>): void {
  const shown = Object.entries(values).map(
    ([what, value]) => `${what} ${value < 100 ? value.toFixed(2) : Math.round(value)}`,
  );
  console.log(`  ${name}: ${shown.join(" · ")}`);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
