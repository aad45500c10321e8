/** Five minutes in which every third request is refused: how much more is asked, and how soon, told by the server. */
import { describe, expect, test } from "vitest";
import { fastClock } from "../../harness/fast-clock.ts";
import { startModelTeam } from "./team.ts";
import { wires } from "./wires.ts";

const agents = 30;
const turns = 6;
/** Real time is short: what takes five minutes is over in some seconds. */
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

describe.for(wires)("over $wire", (wire) => {
  test("with 30 % of 429, 529 and 500 all runs answer, at most 1.5 times as much is asked, and nobody comes too soon", async (context) => {
    const clock = fastClock(times);
    const retryAfterMs = 1_000;
    const chaos = { share: 0.3, statuses: [429, 529, 500], seed: 11, retryAfterMs };
    const { server, ask } = await startModelTeam(context, { wire, scenario, chaos, clock, retryClock: clock });
    const runs = await Promise.all(Array.from({ length: agents }, (_, i) => ask(`task ${i}`)));

    expect(runs.map(({ response }) => response.status)).toEqual(runs.map(() => "completed"));
    const calls = server.calls();
    const refused = calls.filter(({ outcome }) => outcome === "refused");
    expect(refused.length / calls.length).toBeGreaterThan(0.2);
    expect(calls.length / (agents * turns)).toBeLessThanOrEqual(1.5);
    for (const tries of Map.groupBy(calls, ({ question }) => question).values()) {
      expect(tries.length).toBeLessThanOrEqual(5);
      for (const [i, call] of tries.slice(1).entries()) {
        // A timer may be early by a part of a millisecond.
        expect(call.beganMs - (tries[i]?.endedMs ?? Number.POSITIVE_INFINITY)).toBeGreaterThan(
          retryAfterMs / times - 1,
        );
      }
    }
  });
});
