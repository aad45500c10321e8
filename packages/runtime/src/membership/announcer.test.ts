/** The announcements and heartbeats of a host, and how often it sends them. */
import { decode, encode, HostMessage } from "@troupe/core/internal";
import { createMemoryBus } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { beatMs, createHostsFixture, type HostsFixture, served, settle } from "./hosts.fixture.ts";

async function listen({ bus, subjects }: HostsFixture): Promise<HostMessage[]> {
  const sent: HostMessage[] = [];
  await bus.subscribe(subjects.all.host, ({ bytes }) => sent.push(decode(HostMessage, bytes, "host")));
  return sent;
}

const kinds = (sent: readonly HostMessage[]): string[] => sent.map(({ kind }) => kind);
const hostsQuery = encode({ v: 1, kind: "hosts.asked" });

describe("a host", () => {
  test("announces itself, sends heartbeats, and announces that it leaves", async () => {
    const fixture = createHostsFixture();
    const sent = await listen(fixture);
    const host = await fixture.host("worker-a");
    expect(kinds(sent)).toEqual(["host.announced", "host.beat"]);
    await fixture.pass(3 * beatMs);
    expect(kinds(sent.splice(0))).toEqual(["host.announced", ...Array(4).fill("host.beat")]);
    host.stop();
    await fixture.pass(3 * beatMs);
    expect(sent).toEqual([{ v: 1, kind: "host.left", host: "worker-a" }]);
  });

  test("replies to a query of all hosts or of itself, and announces at most ten times a second", async () => {
    const fixture = createHostsFixture();
    await fixture.host("worker-a", { beatMs: 60_000 });
    const sent = await listen(fixture);
    await fixture.pass(100);
    const reply = await fixture.bus.request(fixture.subjects.control("all"), hostsQuery, { timeoutMs: 1_000 });
    expect(decode(HostMessage, reply, "reply")).toMatchObject({ kind: "host.beat", host: "worker-a" });
    for (let time = 0; time < 500; time += 1) fixture.bus.publish(fixture.subjects.control("worker-a"), hostsQuery);
    await settle();
    await fixture.pass(1_000);
    expect(kinds(sent)).toEqual(["host.announced", "host.beat", "host.announced", "host.beat"]);
  });

  test("names another announcement when its agents have changed, and the same when nothing has", async () => {
    const fixture = createHostsFixture();
    const host = await fixture.host("worker-a", { agents: [served("coder")] });
    const { announced } = host.announcement();
    host.serve([served("coder")]);
    expect(host.announcement().announced).toBe(announced);
    host.serve([served("coder", { prompt: "another" })]);
    expect(host.announcement().announced).not.toBe(announced);
  });

  test("calls onDrain with the sender, and ignores a drain of another host", async () => {
    const fixture = createHostsFixture();
    const wanted: string[] = [];
    await fixture.host("worker-a", { onDrain: (by) => wanted.push(by) });
    const { bus, subjects } = fixture;
    const drain = (host: string): Uint8Array => encode({ v: 1, kind: "drain.asked", host, by: `for ${host}` });
    bus.publish(subjects.drain("worker-a"), drain("worker-a"));
    bus.publish(subjects.drain("worker-a"), drain("worker-b"));
    // A worker may send questions and hints, and must not drain others by them.
    for (const to of ["worker-a", "all"]) bus.publish(subjects.control(to), drain("worker-a"));
    bus.publish(subjects.control("worker-a"), encode({ v: 9 }));
    await settle();
    expect(wanted).toEqual(["for worker-a"]);
  });

  test("logs only the first of many invalid messages", async () => {
    const fixture = createHostsFixture();
    await fixture.host("worker-a");
    for (let time = 0; time < 100; time += 1) {
      fixture.bus.publish(fixture.subjects.control("all"), new TextEncoder().encode(`{"v":${time}`));
    }
    await settle();
    expect(fixture.logged).toEqual(["message refused"]);
  });

  test("announces as many agents as fit into a message, and logs the others", async () => {
    const fixture = createHostsFixture(createMemoryBus({ payloadBytesMax: 8_192 }));
    const agents = Array.from({ length: 50 }, (_, i) => served(`agent-${i}`));
    const directory = await fixture.directory();
    await fixture.host("worker-a", { agents });
    const [view] = directory.list();
    expect(view?.agents.length).toBeGreaterThan(2);
    expect(view?.agents).toEqual(agents.slice(0, view?.agents.length));
    expect(fixture.logged).toEqual(["too many agents for one announcement: other hosts do not learn of these"]);
  });
});
