/** The wall clock jumps by an hour or a month while runs are open: no deadline comes early or late. */
import { sharedFolder } from "@troupe/core/internal";
import { afterEach, describe, expect, test } from "vitest";
import {
  ask,
  createTestDeps,
  delegate,
  endsWith,
  entriesOf,
  entriesOnce,
  realClock,
  type Script,
  type TestDeps,
  toolCall,
} from "../host-deps.test-helper.ts";
import { agents, answerTo, childOf, delegating, head, request, startHost, stopHosts } from "./commands.test-helper.ts";
import { sendCommand } from "./send-command.ts";

afterEach(stopHosts);

const hourMs = 3_600_000;
const jumps = [
  { what: "an hour forward", byMs: hourMs },
  { what: "an hour back", byMs: -hourMs },
  { what: "a month forward", byMs: 30 * 24 * hourMs },
  { what: "a month back", byMs: -30 * 24 * hourMs },
];

/** Dependencies with a wall clock that the script sets. */
function depsWith(script: (setWall: (byMs: number) => void) => Script, maxDurationMs: number): TestDeps {
  let aheadMs = 0;
  const limits = { maxDurationMs };
  const deps = createTestDeps({
    agents: agents.map((agent) => ({ ...agent, limits })),
    script: script((byMs) => {
      aheadMs += byMs;
    }),
  });
  return { ...deps, clock: { ...realClock, now: () => realClock.now() + aheadMs } };
}

describe.each(jumps)("the wall clock is set $what", ({ byMs }) => {
  test("while a run thinks: its child gets the correct remaining time, and both complete", async () => {
    const deps = depsWith(
      (setWall) =>
        ({ origin }) => {
          if (origin.agent === "helper") return { text: "helped" };
          if (origin.step > 1) return origin.step === 2 ? { calls: [delegate("helper", "go")] } : { text: "done" };
          setWall(byMs);
          return { calls: [toolCall("echo")] };
        },
      60_000,
    );
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed" });
    const [opened] = await entriesOf(deps, await childOf(deps));
    const leftMs = opened?.kind === "run.opened" ? (opened.request.remainingMs ?? 0) : 0;
    expect(leftMs).toBeGreaterThan(57_000);
    expect(leftMs).toBeLessThanOrEqual(59_000);
  });

  test("while a run waits for a person: the parent's deadline does not move", async () => {
    const deps = depsWith(
      (setWall) => (question, signal) => {
        if (question.origin.agent === "helper" && question.origin.step === 1) setWall(byMs);
        return delegating(question, signal);
      },
      60_000,
    );
    await startHost(deps);
    const response = ask(deps, request);
    const child = await childOf(deps);
    const parked = await entriesOnce(deps, child, endsWith("run.parked"));
    await sendCommand(deps, { ...answerTo(parked, true), session: head.session });
    expect(await response).toMatchObject({ status: "completed" });
  });

  test("while a model is silent: the run ends at its deadline", async () => {
    const deps = depsWith(
      (setWall) =>
        ({ origin }, signal) => {
          if (origin.step === 1) return { calls: [toolCall("echo")] };
          setWall(byMs);
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
        },
      400,
    );
    await startHost(deps);
    const beganMs = performance.now();
    const response = await ask(deps, request);
    const tookMs = performance.now() - beganMs;
    expect(response.status).toBe("timeout");
    expect(tookMs).toBeGreaterThan(390);
    expect(tookMs).toBeLessThan(15_000);
    expect(response.metrics.durationMs).toBeLessThan(15_000);
  });
});

test("a replayed session has the times of its record, with any start of its runs", async () => {
  let nowMs = 1_000_000;
  const deps = createTestDeps({ agents, script: () => ({ text: "done" }) });
  const { journal } = deps;
  await startHost({
    ...deps,
    clock: { ...realClock, now: () => nowMs, monotonicMs: () => nowMs },
    replay: {
      specOf: () => null,
      forkedFrom: () => null,
      folderOf: ({ workspace }) => sharedFolder(workspace.path),
      collectedBy: () => ({ artifacts: [], warnings: [] }),
      admit: async (_run, body) => body,
    },
    journal: {
      ...journal,
      async append(given) {
        const result = await journal.append(given);
        // The record goes on as soon as it is written.
        nowMs += 50;
        return result;
      },
    },
  });
  await ask(deps, request);
  const entries = await entriesOf(deps, request);
  expect(entries.map(({ kind, at }) => [kind, at - 1_000_000])).toEqual([
    ["run.opened", 0],
    ["model.replied", 50],
    ["run.settled", 100],
  ]);
});
