import { describe, expect, it } from "vitest";
import { bailoutWords, statusKind, statusWord } from "./status.ts";

describe("the badge of a row", () => {
  it.each([
    [{ status: "running", exactStatus: "running" }, "running", "running"],
    [{ status: "pending", exactStatus: "queued", queuePosition: 3 }, "queued", "queued 3"],
    [{ status: "pending", exactStatus: "queued", queuePosition: null }, "queued", "queued"],
    [{ status: "running", exactStatus: "waiting" }, "waiting", "waiting for approval"],
    [{ status: "running", exactStatus: "paused" }, "paused", "paused"],
    [{ status: "running", exactStatus: "parked" }, "parked", "parked"],
    [{ status: "failed", exactStatus: "bailed_out" }, "failed", "bailed out"],
    [{ status: "completed" }, "completed", "completed"],
    [{ status: "running", exactStatus: "a_word_of_later" }, "running", "a word of later"],
    // What has ended waits for nothing any more.
    [{ status: "cancelled", exactStatus: "waiting" }, "cancelled", "cancelled"],
  ] as const)("%j: %s, %s", (row, kind, word) => {
    expect([statusKind(row), statusWord(row)]).toEqual([kind, word]);
  });
});

describe("the limit that ended a run", () => {
  it.each([
    ["max_iterations", /steps/],
    ["repeated_calls", /^repeated calls: the same call/],
    ["one_of_later", /^one of later$/],
  ])("%s", (reason, words) => {
    expect(bailoutWords(reason)).toMatch(words);
  });
});
