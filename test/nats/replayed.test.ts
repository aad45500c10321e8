/** Messages that are sent again, in another order, or by other programs: they have no effect. */
import type { Bus, BusMessage, Entry } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import { type NatsLink, openNatsLink } from "@troupe/nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { seededRandom } from "../harness/seeded-random.ts";
import { until } from "../harness/until.ts";
import {
  call,
  delegate,
  type Machine,
  type Machines,
  type MachinesOptions,
  openMachines,
  wrongIn,
} from "./machines.fixture.ts";

const hasServer = findNatsServer() !== null;
const tools = ["look", "shoot"];
const agents = [
  { id: "main", description: "leads", prompt: "Lead.", tools, subagents: { allow: ["helper"] } },
  { id: "helper", description: "helps", prompt: "Help.", tools },
];
const children = Array.from({ length: 5 }, (_, i) => delegate("helper", `part ${i}`));
let namespaces = 0;

/** main asks five helpers. Each of them looks and shoots. */
const script: MachinesOptions["script"] = ({ origin }) => {
  if (origin.agent === "helper")
    return origin.step === 1 ? { calls: [call("look"), call("shoot")] } : { text: "helped" };
  return origin.step === 1 ? { calls: children } : { text: "led" };
};

interface PublishedMessage {
  subject: string;
  data: Uint8Array;
  headers: NonNullable<Parameters<NatsLink["connection"]["publish"]>[2]>["headers"];
}

describe.skipIf(!hasServer)(hasServer ? "a message that is sent" : natsServerMissing, { concurrent: true }, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());
  const next = (): string => `wire${++namespaces}`;
  const open = (url: string, namespace: string, changes: Partial<MachinesOptions> = {}): Promise<Machines> =>
    openMachines({ url, namespace, agents, script, ...changes });

  /** The runs of a tree by agent and outcome, in any order.  */
  async function treeOf(machines: Machines, session: string, root: string): Promise<string[]> {
    const entries = await machines.entries({ session, run: root });
    const runs = entries.flatMap((entry) =>
      entry.kind === "calls.planned" ? entry.children.map(({ run }) => run) : [],
    );
    const all = await Promise.all([root, ...runs].map((run) => machines.entries({ session, run })));
    expect(all.flatMap(wrongIn)).toEqual([]);
    return all
      .map((of) =>
        of
          .map(({ kind }: Entry) => kind)
          .sort()
          .join(" "),
      )
      .sort();
  }

  it("three times after the end of the session, and again after a restart of the server: nothing runs again", async () => {
    const own = await startNatsServer();
    try {
      const namespace = next();
      await using machines = await open(own.url, namespace);
      const ear = await openNatsLink({ servers: own.url, reconnectDelayMs: 20 });
      const told: PublishedMessage[] = [];
      const subscription = ear.connection.subscribe(`${namespace}.>`, {
        callback(_, { subject, data, headers }) {
          told.push({ subject, data: data.slice(), headers });
        },
      });
      await ear.connection.flush();
      const [a, b] = [await machines.machine("a"), await machines.machine("b")];
      const request = machines.request();
      await machines.offer(a, request);
      expect((await machines.response(request)).status).toBe("completed");
      await until(async () => (await machines.tasks()) === 0);
      subscription.unsubscribe();
      const before = [
        await treeOf(machines, request.session, request.run),
        machines.asked.length,
        machines.done.length,
      ];
      const positions = await machines.journal.tail();
      const kinds = new Set(told.map(({ subject }) => subject.split(".")[1]));
      expect([...kinds].sort()).toEqual(["hint", "live", "settled", "task"]);
      for (const moment of ["now", "after a restart"]) {
        if (moment !== "now") {
          await own.restart();
          await until(() => [ear, a.link, b.link].every(({ connected }) => connected));
        }
        for (let times = 0; times < 3; times += 1) {
          for (const { subject, data, headers } of told)
            ear.connection.publish(subject, data, headers ? { headers } : {});
          await ear.connection.flush();
          await until(
            async () =>
              (await machines.tasks().catch(() => -1)) === 0 && a.host.activeRuns() + b.host.activeRuns() === 0,
          );
        }
      }
      expect([
        await treeOf(machines, request.session, request.run),
        machines.asked.length,
        machines.done.length,
      ]).toEqual(before);
      expect(await machines.journal.tail()).toBe(positions);
      await ear.close();
    } finally {
      await own.stop();
    }
  });

  it("three times while the session runs: each effect runs once", async () => {
    await using machines = await open(server.url, next());
    const thrice = (bus: Bus): Bus => ({
      ...bus,
      publish(subject, bytes) {
        for (let times = 0; times < 3; times += 1) bus.publish(subject, bytes);
      },
    });
    const [a] = [await machines.machine("a", { bus: thrice }), await machines.machine("b", { bus: thrice })];
    const request = machines.request();
    for (let times = 0; times < 3; times += 1) await machines.offer(a, request);
    expect((await machines.response(request)).status).toBe("completed");
    expect([machines.asked.length, machines.done.length]).toEqual([12, 10]);
    await treeOf(machines, request.session, request.run);
  });

  it("in shuffled windows of fifty: the tree is the same as in order", async () => {
    const random = seededRandom(7);
    const shuffled = (bus: Bus): Bus => ({
      ...bus,
      async subscribe(pattern, listener) {
        let window: BusMessage[] = [];
        const open = (): void => {
          const messages = window.map((message) => ({ message, place: random() })).sort((x, y) => x.place - y.place);
          window = [];
          for (const { message } of messages) listener(message);
        };
        return await bus.subscribe(pattern, (message) => {
          if (window.push(message) >= 50) open();
          else if (window.length === 1) setTimeout(open, 30);
        });
      },
    });
    const trees = [];
    for (const bus of [(plain: Bus) => plain, shuffled]) {
      await using machines = await open(server.url, next());
      const [a] = [await machines.machine("a", { bus }), await machines.machine("b", { bus })];
      const request = machines.request();
      await machines.offer(a, request);
      expect((await machines.response(request)).status).toBe("completed");
      trees.push([await treeOf(machines, request.session, request.run), machines.asked.length, machines.done.length]);
    }
    expect(trees[1]).toEqual(trees[0]);
  });

  describe("by another program", () => {
    const text = (words: string): Uint8Array => new TextEncoder().encode(words);
    const rubbish: { kind: string; bytes: Uint8Array }[] = [
      { kind: "malformed", bytes: Uint8Array.of(0xff, 0xfe, 0) },
      { kind: "malformed", bytes: text('{"kind":"run.settled","v":1,') },
      { kind: "foreign", bytes: text(`${"[".repeat(5_000)}"kind":"run.`.slice(0, 5_000) + "]".repeat(5_000)) },
      { kind: "foreign", bytes: encode({ v: 1, kind: "run.nothing" }) },
      { kind: "newer", bytes: encode({ v: 99, kind: "run.settled", and: "more" }) },
    ];

    it("is counted, and the first of its kind logged; the tree is the same as without it", async () => {
      const namespace = next();
      const gate = Promise.withResolvers<void>();
      const helping = Promise.withResolvers<string>();
      await using machines = await open(server.url, namespace, {
        async script(question, at, signal) {
          if (question.origin.agent === "helper") {
            helping.resolve(question.origin.run);
            await gate.promise;
          }
          return await script(question, at, signal);
        },
      });
      const [a, b] = [
        await machines.machine("a", { agents: ["main"] }),
        await machines.machine("b", { agents: ["helper"] }),
      ];
      const events: string[] = [];
      for (const { link } of [a, b]) link.onEvent(({ kind }) => events.push(kind));
      const request = machines.request();
      await machines.offer(a, request);
      const child = await helping.promise;
      const stranger = await openNatsLink({ servers: server.url });
      const { subjects } = a.deps;
      const places = ["all", "a"].map((host) => subjects.control(host));
      places.push(subjects.settled(child), subjects.live(request.session, child), subjects.hint("any", "helper"));
      for (let times = 0; times < 20; times += 1) {
        for (const place of places) for (const { bytes } of rubbish) stranger.connection.publish(place, bytes);
      }
      await stranger.connection.flush();
      const counted = (at: Machine): number => at.invalidMessages.counts()["newer control"] ?? 0;
      await until(() => counted(a) === 40 && counted(b) === 20);
      await stranger.close();
      gate.resolve();
      expect((await machines.response(request)).status).toBe("completed");
      expect(a.invalidMessages.counts()).toMatchObject({
        "malformed control": 80,
        "newer control": 40,
        "malformed settled": 40,
        "foreign settled": 40,
        "newer settled": 20,
      });
      const logged = a.logged.filter((line) => line === "message refused").length;
      expect(logged).toBe(Object.keys(a.invalidMessages.counts()).length);
      expect([machines.asked.length, machines.done.length, events]).toEqual([12, 10, []]);
      await treeOf(machines, request.session, request.run);
    });
  });
});
