/** A host polls its queue without hints, and polls it faster after another host has disappeared. */
import { createMemoryTaskQueue, createSimulatedClock } from "@troupe/core/memory";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { beatMs, createHostsFixture, type HostsFixture, served } from "../membership/hosts.fixture.ts";
import { startPolling } from "./poll-tasks.ts";

const pollMs = 5_000;
let stage: HostsFixture;
let stop = (): void => {};
const poll = vi.fn();
const pollFaster = vi.fn();

beforeEach(() => {
  stage = createHostsFixture();
  poll.mockClear();
  pollFaster.mockClear();
});
afterEach(() => stop());

async function start(): Promise<void> {
  const hosts = await stage.directory();
  const queue = { ...createMemoryTaskQueue(), pollFaster };
  stop = startPolling({ deps: { clock: stage.clock, hosts, queue }, pollMs, poll });
}

test("it polls at once, and at every interval from then on, until it is stopped", () => {
  const clock = createSimulatedClock();
  const stopIt = startPolling({ deps: { clock, queue: createMemoryTaskQueue() }, pollMs, poll });
  expect(poll).toHaveBeenCalledTimes(1);
  clock.advance(3 * pollMs);
  expect(poll).toHaveBeenCalledTimes(4);
  stopIt();
  clock.advance(3 * pollMs);
  expect(poll).toHaveBeenCalledTimes(4);
});

test("a host that has disappeared makes the queue poll faster, because its tasks return soon", async () => {
  const host = await stage.host("worker-a", { agents: [served("coder")] });
  await start();
  await stage.pass(2 * beatMs);
  expect(pollFaster).not.toHaveBeenCalled();
  // The host sends nothing from now on.
  const { publish } = stage.bus;
  stage.bus.publish = () => {};
  await stage.pass(4 * beatMs);
  stage.bus.publish = publish;
  expect(pollFaster).toHaveBeenCalledTimes(1);
  host.stop();
});

test("so does a host that has left, but not a new host or a host with other agents", async () => {
  const host = await stage.host("worker-a");
  await start();
  await stage.host("worker-b");
  host.serve([served("coder")]);
  await stage.pass(beatMs);
  expect(pollFaster).not.toHaveBeenCalled();
  host.stop();
  await stage.pass(100);
  expect(pollFaster).toHaveBeenCalledTimes(1);
});
