/** `idle` must not resolve while a session is being accepted or is unfinished. */
import { createSubjects, type TroupeService } from "@troupe/core";
import type { Submitted } from "@troupe/core/internal";
import { createMemoryBus } from "@troupe/core/memory";
import { expect, test } from "vitest";
import { createActiveSessions } from "./active-sessions.ts";

const session = "0198a000-0000-7000-8000-000000000001";
const run = "0198a000-0000-7000-8000-000000000002";

function setUp(response: unknown = null) {
  const deps = { bus: createMemoryBus(), subjects: createSubjects() };
  const accepted = Promise.withResolvers<Submitted>();
  const service = { submit: () => accepted.promise, record: { response: async () => response } };
  const sessions = createActiveSessions(service as unknown as TroupeService, deps);
  const submitted = sessions.service.submit({ task: "x", origin: "api" });
  let isIdle = false;
  const idle = sessions.idle().then(() => {
    isIdle = true;
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { ...deps, sessions, accepted, submitted, idle, isIdle: () => isIdle, turn };
}

const answer = { session, run, workspace: "/w", demo: true };

test("a session counts while it is being accepted", async () => {
  const { accepted, submitted, idle, isIdle, turn, bus, subjects } = setUp();
  await turn();
  expect(isIdle()).toBe(false);
  accepted.resolve(answer);
  expect(await submitted).toEqual(answer);
  await turn();
  expect(isIdle()).toBe(false);
  bus.publish(subjects.settled(run), new Uint8Array());
  await idle;
});

test("a refused session does not count", async () => {
  const { accepted, submitted, idle } = setUp();
  accepted.reject(new Error("no"));
  await expect(submitted).rejects.toThrow("no");
  await idle;
});

test("a session that settled before the first listener does not count", async () => {
  const { accepted, idle, isIdle } = setUp({ runId: run });
  expect(isIdle()).toBe(false);
  accepted.resolve(answer);
  await idle;
});

test("a session with a response of an earlier turn counts until this turn has its own", async () => {
  const { accepted, submitted, idle, isIdle, turn, bus, subjects } = setUp({ runId: session });
  accepted.resolve(answer);
  await submitted;
  await turn();
  expect(isIdle()).toBe(false);
  bus.publish(subjects.settled(run), new Uint8Array());
  await idle;
});

test("an abandoned session does not count, and others do", async () => {
  const { sessions, accepted, submitted, turn } = setUp();
  accepted.resolve(answer);
  await submitted;
  let isIdle = false;
  const other = sessions.idle({ besides: "another" }).then(() => {
    isIdle = true;
  });
  await turn();
  expect(isIdle).toBe(false);
  await sessions.idle({ besides: session });
  await other;
});
