/** A call that may write waits while a disk of the host has too little free space; model calls and reads go on. */
import { type DiskShortage, LiveEvent } from "@troupe/core";
import { decode } from "@troupe/core/internal";
import { afterEach, describe, expect, it } from "vitest";
import { createActorHost } from "../actor-host.ts";
import { ask, createTestDeps, entriesOnce, type Script, type TestDeps, toolCall } from "../host-deps.test-helper.ts";
import { agents, kinds, request, startHost, stopHosts } from "./commands.test-helper.ts";

afterEach(stopHosts);

const full: DiskShortage = { folder: "/w", freeBytes: 1, limitBytes: 2, message: "the volume of /w is full" };

/** One call of a tool, then the answer. */
const calling =
  (tool: string): Script =>
  ({ origin }) =>
    origin.step < 2 ? { calls: [toolCall(tool)] } : { text: "done" };

/** Of the test's tools, `danger` may write and `echo` only reads. */
function fullDisk(tool = "danger") {
  const deps: TestDeps = createTestDeps({ agents, script: calling(tool) });
  const space = { shortage: full as DiskShortage | null, looks: 0 };
  deps.diskSpace = {
    shortageAt: async () => {
      space.looks += 1;
      return space.shortage;
    },
    current: () => [],
  };
  return { deps, space };
}

async function waitsOf(deps: TestDeps): Promise<boolean[]> {
  const waits: boolean[] = [];
  await deps.bus.subscribe(deps.subjects.live(request.session, request.run), (message) => {
    const event = decode(LiveEvent, message.bytes, "live");
    if (event.kind === "disk.waiting") waits.push(event.waiting);
  });
  return waits;
}

async function until(isTrue: () => boolean): Promise<void> {
  await expect.poll(isTrue, { timeout: 20_000 }).toBe(true);
}

describe("a call that may write", () => {
  it("waits for space without a slot, tells the user once, and goes on by itself", async () => {
    const { deps, space } = fullDisk();
    const waits = await waitsOf(deps);
    const host = await startHost(deps);
    const answer = ask(deps, request);
    await until(() => space.looks > 1);
    expect(deps.toolCalls).toEqual([]);
    expect(deps.modelCalls).toEqual(["main/1/1"]);
    expect(host.busyRuns()).toBe(0);
    expect(waits).toEqual([true]);
    space.shortage = null;
    expect(await answer).toMatchObject({ status: "completed", toolsUsed: ["danger"] });
    expect(waits).toEqual([true, false]);
  });

  it("never starts after the time limit of its run", async () => {
    const { deps, space } = fullDisk();
    await startHost(deps);
    const answer = ask(deps, { ...request, limits: { ...request.limits, maxDurationMs: 1_500 } });
    expect(await answer).toMatchObject({ success: false });
    space.shortage = null;
    expect(deps.toolCalls).toEqual([]);
    expect(kinds(await entriesOnce(deps, request, () => true))).not.toContain("tool.started");
  });

  it("is not delayed if it only reads", async () => {
    const { deps, space } = fullDisk("echo");
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed" });
    expect(space.looks).toBe(0);
  });

  it("does not hold up a host that stops, and the next host runs it", async () => {
    const { deps, space } = fullDisk();
    const host = createActorHost({ deps, capacity: 1 });
    await host.start();
    void ask(deps, request);
    await until(() => space.looks > 0);
    await host.stop({ graceMs: 60_000 });
    expect(deps.toolCalls).toEqual([]);
  });
});
