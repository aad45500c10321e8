/** Five minutes in which every third request is refused: how much more is asked, and how soon, told by the server. */
import type { Entry } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { fastClock } from "../../harness/fast-clock.ts";
import { casesOf } from "../../harness/long.ts";
import type { ServedCall } from "../../harness/model-server/calls.ts";
import { startModelTeam } from "./team.ts";
import { wires } from "./wires.ts";

const agents = 30;
const turns = 6;
/** Time runs faster: five minutes pass in some seconds. */
const times = 40;

const scenario = {
  agents: {
    main: [
      {
        steps: [
          ...Array.from({ length: turns - 1 }, (_, turn) => ({
            latencyMs: 200,
            calls: [{ tool: "lookup", args: { word: `word ${turn}` } }],
          })),
          { text: "done", latencyMs: 200 },
        ],
      },
    ],
  },
};

// The retry layer is the same over each wire. That it reads the errors of each vendor, reliability.test.ts tests.
describe.for(casesOf(wires, ({ wire }) => wire === "anthropic"))("over $wire", (wire) => {
  test("with 30 % of 429, 529 and 500 all runs answer, with at most 1.5 times the requests, and none comes too early", async (context) => {
    const clock = fastClock(times);
    const retryAfterMs = 1_000;
    const chaos = { share: 0.3, statuses: [429, 529, 500], seed: 9, retryAfterMs };
    const { server, ask } = await startModelTeam(context, { wire, scenario, chaos, clock, retryClock: clock });
    const runs = await Promise.all(Array.from({ length: agents }, (_, i) => ask(`task ${i}`)));

    expect(runs.map(({ response }) => response.status)).toEqual(runs.map(() => "completed"));
    const calls = server.calls();
    const refused = calls.filter(({ outcome }) => outcome === "refused");
    expect(refused.length / calls.length).toBeGreaterThan(0.2);
    expect(calls.length / (agents * turns)).toBeLessThanOrEqual(1.5);
    const tries = runs.flatMap(({ entries }) => entries.map(triesOf));
    expect(Math.max(...tries)).toBeLessThanOrEqual(5);
    // A timer may be early by a part of a millisecond.
    expect(Math.min(...waitsMs(calls))).toBeGreaterThan(retryAfterMs / times - 1);
  }, 120_000);
});

/** Requests that were made for one model call. */
function triesOf(entry: Entry): number {
  if (entry.kind === "model.replied") return (entry.reply.retries?.length ?? 0) + 1;
  return entry.kind === "model.failed" ? (entry.error.tries ?? 1) : 0;
}

/** How long after a refusal the same was asked again. */
function waitsMs(calls: readonly ServedCall[]): number[] {
  return [...Map.groupBy(calls, ({ question }) => question).values()].flatMap((tries) =>
    tries.slice(1).map(({ beganMs }, i) => beganMs - (tries[i]?.endedMs ?? Number.POSITIVE_INFINITY)),
  );
}

test("a provider that refuses everything for five minutes gets few more requests than calls", async (context) => {
  const clock = fastClock(200);
  const chaos = { share: 1, statuses: [500, 529], seed: 3 };
  const wire = wires[1];
  const { server, ask, close } = await startModelTeam(context, { wire, scenario, chaos, clock, retryClock: clock });
  const runs = Array.from({ length: agents }, (_, i) => ask(`task ${i}`));
  await new Promise<void>((resolve) => {
    clock.after(300_000, resolve);
  });
  expect(server.calls().length).toBeGreaterThan(0);
  expect(server.calls().length / agents).toBeLessThanOrEqual(1.5);
  await close();
  await Promise.all(runs);
});
