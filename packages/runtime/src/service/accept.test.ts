/** A session is accepted once, whoever asks how often: its caller may have lost the answer, or the process with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { SubmitSession } from "@troupe/core";
import { createCountingIds } from "@troupe/core/memory";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ActorHost, createActorHost } from "../host/actor-host.ts";
import { createTestWorld, type TestWorld } from "../host/world.test-helper.ts";
import { createAccept } from "./accept.ts";

const session = "0198a000-0000-7000-8000-00000000000a";
let workspaces: string;
let host: ActorHost | null = null;

beforeEach(async () => {
  workspaces = await mkdtemp(`${tmpdir()}/troupe-accept-`);
});
afterEach(async () => {
  await host?.stop({ graceMs: 50 });
  host = null;
  await rm(workspaces, { recursive: true, force: true });
});

function acceptIn(world: TestWorld, ids = createCountingIds()) {
  const model = { id: "test/model", demo: false };
  return createAccept({ world, ids, workspaces, model, resolveScenario: async (name) => name });
}

async function requestsIn(world: TestWorld): Promise<number> {
  return (await world.journal.readInbox(session)).filter(({ item }) => item.kind === "session.requested").length;
}

const wish = SubmitSession.parse({ session, task: "once" });
const done = () => createTestWorld({ agents: [{ id: "main" }], script: () => ({ text: "done" }) });

it("gives the same session to whoever asks again, at once or later", async () => {
  const world = done();
  const accept = acceptIn(world);
  const [first, atOnce] = await Promise.all([accept(wish), accept(wish)]);
  expect(first).toMatchObject({ session, workspace: `${workspaces}/${session}`, demo: false });
  expect(atOnce).toEqual(first);
  expect(await accept({ ...wish, task: "something else" })).toEqual(first);
  expect(await requestsIn(world)).toBe(1);
  expect(await world.journal.openRuns()).toHaveLength(1);
});

it("is run by the next process that is asked, where the one that accepted it is gone", async () => {
  const before = done();
  const first = await acceptIn(before)(wish);
  const after = { ...done(), journal: before.journal };
  const settled = Promise.withResolvers<string>();
  await after.bus.subscribe(after.subjects.settled(first.run), ({ subject }) => settled.resolve(subject));
  host = createActorHost({ world: after });
  await host.start();
  expect(await acceptIn(after)(wish)).toEqual(first);
  await settled.promise;
  expect(await after.journal.openRuns()).toEqual([]);
  expect(after.modelCalls).toEqual(["main/1/1"]);
});

it("gives every wish without a name a session of its own", async () => {
  const world = done();
  const accept = acceptIn(world);
  const unnamed = SubmitSession.parse({ task: "again" });
  const both = await Promise.all([accept(unnamed), accept(unnamed)]);
  expect(new Set(both.map((each) => each.session)).size).toBe(2);
});
