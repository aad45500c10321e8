/** A work runs again from its start for every turn, and its results come from the turns before. */
import type { HandledResult } from "@troupe/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { calls, nextTurn, type RequestWork } from "./request-work.ts";

const ok = (tool: string, output: HandledResult["output"]): HandledResult => {
  return { tool, args: {}, ok: true, output, text: JSON.stringify(output) };
};
const failed = (tool: string, error: object): HandledResult => {
  return { tool, args: {}, ok: false, output: { error: { ...error } } as HandledResult["output"], text: "" };
};

function* twoCalls(): RequestWork {
  const { count } = yield* calls.read(
    z.object({ count: z.number() }),
    "first",
    { word: "a", none: undefined },
    "Counts.",
  );
  yield* calls.call("second", { count });
  return `Counted ${count}.`;
}

describe("the next turn", () => {
  it("is the first call, without absent arguments", () => {
    const expected = { kind: "calls", calls: [{ tool: "first", args: { word: "a" } }], note: "Counts." };
    expect(nextTurn(twoCalls(), [], 3)).toEqual(expected);
  });

  it("uses the results of the turns before", () => {
    const turn = nextTurn(twoCalls(), [ok("first", { count: 4 })], 2);
    expect(turn).toMatchObject({ calls: [{ tool: "second", args: { count: 4 } }] });
  });

  it("is the end when all results are there", () => {
    const results = [ok("first", { count: 4 }), ok("second", {})];
    expect(nextTurn(twoCalls(), results, 0)).toEqual({ kind: "end", answer: "Counted 4." });
  });

  it("never comes behind a failed call: its error has the type and the tool", () => {
    const error = { type: "rate_limit", message: "too many calls", retry_after: 30 };
    const end = () => nextTurn(twoCalls(), [failed("first", error)], 2);
    expect(end).toThrow("too many calls");
    expect(end).toThrow(
      expect.objectContaining({
        runError: expect.objectContaining({
          type: "rate_limit",
          tool: "first",
          recoverable: true,
          retryAfterMs: 30_000,
        }),
      }),
    );
  });

  it.each([
    ["an output of another form", [ok("first", { total: 4 })], "the result of first cannot be used (count"],
    ["a text in the place of an object", [ok("first", "four")], "is not a JSON object"],
    ["a result of another tool", [ok("other", { count: 4 })], "the result is one of other"],
    ["no turn left", [], "no turn is left for first"],
  ])("fails with %s", (_, results, message) => {
    expect(() => nextTurn(twoCalls(), results, 0)).toThrow(message);
  });

  it("a work can answer without its last call, if no turn is left", () => {
    function* patient(): RequestWork {
      yield* calls.call("first", {});
      try {
        yield* calls.call("second", {});
      } catch {
        return "The second call is missing.";
      }
      return "Both.";
    }
    expect(nextTurn(patient(), [ok("first", {})], 0)).toEqual({ kind: "end", answer: "The second call is missing." });
  });
});

it("a work of any turns makes each call once, in its order", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 });
  fc.assert(
    fc.property(sizes, (turns) => {
      function* work(): RequestWork {
        for (const [turn, size] of turns.entries()) {
          const planned = Array.from({ length: size }, (_, i) => ({ tool: `t${turn}`, args: { i } }));
          const results = yield* calls.callAll(planned, "");
          if (results.length !== size) throw new Error("a turn has other results");
        }
        return "done";
      }
      const results: HandledResult[] = [];
      for (let left = 20; ; left -= 1) {
        const turn = nextTurn(work(), results, left);
        if (turn.kind === "end") break;
        results.push(...turn.calls.map(({ tool, args }) => ({ ...ok(tool, {}), args })));
      }
      const expected = turns.flatMap((size, turn) => Array.from({ length: size }, (_, i) => [`t${turn}`, { i }]));
      expect(results.map(({ tool, args }) => [tool, args])).toEqual(expected);
    }),
  );
});
