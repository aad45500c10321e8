/** Hints come from memory: the start of a run never waits for the record, and never fails with it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { silentLogger } from "@troupe/core";
import type { AgentStatsList } from "@troupe/core/internal";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { createRecordHints, hintsAgeMsMax } from "./record-hints.ts";

const pair = { parent: "main", agent: "coder" };
const dayMs = 86_400_000;

function createFixture() {
  const clock = createSimulatedClock();
  const reads: number[] = [];
  const state = { succeeded: 12, isBroken: false };
  const record = {
    async agentStats({ sinceMs }: { sinceMs: number }): Promise<AgentStatsList> {
      reads.push(sinceMs);
      if (state.isBroken) throw new Error("the record is damaged");
      const counts = { runs: 14, succeeded: state.succeeded, successRate: state.succeeded / 14, stopped: 0 };
      const cost = { medianMs: 40_000, medianCostUsd: null, costRuns: 0, costIsEstimate: false };
      return {
        since: new Date(0).toISOString(),
        agents: [{ agent: "coder", parent: null, ...counts, ...cost }],
        pairs: [],
      };
    },
  };
  return { clock, reads, state, record, hints: createRecordHints({ clock, logger: silentLogger }) };
}

describe("hints", () => {
  test("without a record there are none", () => {
    expect(createFixture().hints.hintFor(pair)).toBeUndefined();
  });

  test("of the last 90 days are there as soon as a record is followed", async () => {
    const { clock, hints, record, reads } = createFixture();
    await hints.follow(record);
    expect(hints.hintFor(pair)).toBe("12 of 14 succeeded, median 40 s");
    expect(reads).toEqual([clock.now() - 90 * dayMs]);
  });

  test("that are old are given once more, and read again behind the start of the run", async () => {
    const { clock, hints, record, reads, state } = createFixture();
    await hints.follow(record);
    state.succeeded = 3;
    clock.advance(hintsAgeMsMax);
    hints.hintFor(pair);
    clock.advance(1);
    expect(hints.hintFor(pair)).toContain("12 of 14");
    expect(hints.hintFor(pair)).toContain("12 of 14");
    // Nothing was read while a run asked.
    expect(reads).toHaveLength(1);
    clock.advance(0);
    await nextTurn();
    expect(reads).toHaveLength(2);
    expect(hints.hintFor(pair)).toContain("3 of 14");
  });

  test("stay as they are if the record cannot be read", async () => {
    const { clock, hints, record, reads, state } = createFixture();
    await hints.follow(record);
    state.isBroken = true;
    clock.advance(hintsAgeMsMax + 1);
    hints.hintFor(pair);
    clock.advance(0);
    await nextTurn();
    expect(reads).toHaveLength(2);
    expect(hints.hintFor(pair)).toContain("12 of 14");
    expect(reads).toHaveLength(2);
  });

  test("are absent, without an error, if the record could never be read", async () => {
    const { hints, record, state } = createFixture();
    state.isBroken = true;
    await hints.follow(record);
    expect(hints.hintFor(pair)).toBeUndefined();
  });

  test("are read no more after a stop", async () => {
    const { clock, hints, record, reads } = createFixture();
    await hints.follow(record);
    clock.advance(hintsAgeMsMax + 1);
    hints.hintFor(pair);
    hints.stop();
    clock.advance(1);
    await nextTurn();
    expect(reads).toHaveLength(1);
  });
});
