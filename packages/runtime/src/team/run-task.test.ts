/** One run is started and awaited, despite foreign messages on the bus and signals that abort. */
import { getEventListeners } from "node:events";
import { encode, notStartedResponse, protocolVersion } from "@troupe/core/internal";
import { afterEach, expect, it } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { runTask } from "./run-task.ts";
import { createGate, startTeam, stopTeams } from "./team.test-helper.ts";

afterEach(stopTeams);

const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001", agent: "a" });
const otherRun = "0198a000-0000-7000-8000-000000000002";
const error = { type: "params", message: "x", tool: null, recoverable: false, retryAfterMs: null } as const;

function signals() {
  return { stop: new AbortController(), abandoned: new AbortController() };
}

it("removes its listeners from the signals when the run has ended", async () => {
  const { deps } = await startTeam(() => ({ text: "done" }));
  const { stop, abandoned } = signals();
  await runTask(deps, request, { stop: stop.signal, abandoned: abandoned.signal });
  expect(getEventListeners(abandoned.signal, "abort")).toEqual([]);
});

it.each([
  [
    "another run's response",
    { run: request.run, response: notStartedResponse({ ...request, run: otherRun }, "failed", error) },
  ],
  ["no response", { run: request.run, response: null }],
  ["nonsense", {}],
])("ignores %s on its subject", async (_, message) => {
  const gate = createGate();
  const { deps } = await startTeam(gate.script);
  const { stop, abandoned } = signals();
  const response = runTask(deps, request, { stop: stop.signal, abandoned: abandoned.signal });
  await gate.reached(1);
  const head = { v: protocolVersion, kind: "run.settled", session: request.session };
  deps.bus.publish(deps.subjects.settled(request.run), encode({ ...head, ...message }));
  await deps.bus.flush();
  gate.open();
  expect(await response).toMatchObject({ runId: request.run, status: "completed" });
});
