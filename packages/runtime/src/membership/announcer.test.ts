/** What a host tells others of itself, and how often. */
import { decode, encode, HostMessage } from "@troupe/core/internal";
import { createMemoryBus } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { beatMs, createHostsFixture, type HostsFixture, served, settle } from "./hosts.fixture.ts";

async function listen({ bus, subjects }: HostsFixture): Promise<HostMessage[]> {
  const said: HostMessage[] = [];
  await bus.subscribe(subjects.all.host, ({ bytes }) => said.push(decode(HostMessage, bytes, "host")));
  return said;
}

const kinds = (said: readonly HostMessage[]): string[] => said.map(({ kind }) => kind);
const asked = encode({ v: 1, kind: "hosts.asked" });

describe("a host", () => {
  test("announces itself, beats all the time, and says when it leaves", async () => {
    const stage = createHostsFixture();
    const said = await listen(stage);
    const host = await stage.host("worker-a");
    expect(kinds(said)).toEqual(["host.announced", "host.beat"]);
    await stage.pass(3 * beatMs);
    expect(kinds(said.splice(0))).toEqual(["host.announced", ...Array(4).fill("host.beat")]);
    host.stop();
    await stage.pass(3 * beatMs);
    expect(said).toEqual([{ v: 1, kind: "host.left", host: "worker-a" }]);
  });

  test("answers whoever asks all hosts, or it alone; and however often it is asked, ten times a second at most", async () => {
    const stage = createHostsFixture();
    await stage.host("worker-a", { beatMs: 60_000 });
    const said = await listen(stage);
    await stage.pass(100);
    const reply = await stage.bus.request(stage.subjects.control("all"), asked, { timeoutMs: 1_000 });
    expect(decode(HostMessage, reply, "reply")).toMatchObject({ kind: "host.beat", host: "worker-a" });
    for (let time = 0; time < 500; time += 1) stage.bus.publish(stage.subjects.control("worker-a"), asked);
    await settle();
    await stage.pass(1_000);
    expect(kinds(said)).toEqual(["host.announced", "host.beat", "host.announced", "host.beat"]);
  });

  test("names another announcement when its agents have changed, and the same when nothing has", async () => {
    const stage = createHostsFixture();
    const host = await stage.host("worker-a", { agents: [served("coder")] });
    const { announced } = host.announcement();
    host.serve([served("coder")]);
    expect(host.announcement().announced).toBe(announced);
    host.serve([served("coder", { prompt: "another" })]);
    expect(host.announcement().announced).not.toBe(announced);
  });

  test("that is to drain is told who wants it; what is meant for another is not", async () => {
    const stage = createHostsFixture();
    const wanted: string[] = [];
    await stage.host("worker-a", { onDrain: (by) => wanted.push(by) });
    const { bus, subjects } = stage;
    const drain = (host: string): Uint8Array => encode({ v: 1, kind: "drain.asked", host, by: `for ${host}` });
    bus.publish(subjects.control("worker-a"), drain("worker-a"));
    bus.publish(subjects.control("worker-a"), drain("worker-b"));
    bus.publish(subjects.control("worker-a"), encode({ v: 9 }));
    await settle();
    expect(wanted).toEqual(["for worker-a"]);
  });

  test("logs the first of what it cannot understand, and no more however much of it comes", async () => {
    const stage = createHostsFixture();
    await stage.host("worker-a");
    for (let time = 0; time < 100; time += 1) {
      stage.bus.publish(stage.subjects.control("all"), new TextEncoder().encode(`{"v":${time}`));
    }
    await settle();
    expect(stage.logged).toEqual(["message refused"]);
  });

  test("announces as many agents as a message carries, and says whom nobody hears of", async () => {
    const stage = createHostsFixture(createMemoryBus({ payloadBytesMax: 8_192 }));
    const agents = Array.from({ length: 50 }, (_, i) => served(`agent-${i}`));
    const directory = await stage.directory();
    await stage.host("worker-a", { agents });
    const [view] = directory.list();
    expect(view?.agents.length).toBeGreaterThan(2);
    expect(view?.agents).toEqual(agents.slice(0, view?.agents.length));
    expect(stage.logged).toEqual(["too many agents for one announcement: other hosts do not learn of these"]);
  });
});
