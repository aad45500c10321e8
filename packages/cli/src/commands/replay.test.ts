import type { Replayed } from "@troupe/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { aSession } from "../testing/rows.ts";

// `troupe sessions replay`: the result, and for a difference the recorded and the replayed value.

afterEach(removeTemporaryFolders);

const session = "0198a111-0000-7000-8000-000000000001";
const run = "0198a111-0000-7000-8000-0000000000aa";

const same: Replayed = {
  session,
  same: true,
  turns: 1,
  runs: 7,
  modelCalls: 17,
  toolCalls: 1,
  settled: true,
  divergence: null,
};

const different: Replayed = {
  ...same,
  same: false,
  divergence: {
    why: "differs",
    run,
    agent: "coder",
    index: 0,
    kind: "run.opened",
    path: "pin.prompt",
    recorded: `${"You write code. ".repeat(20)}Test it.\n`,
    now: `${"You write code. ".repeat(20)}\u001b[2JTest it twice.\n`,
    paths: ["pin.prompt", "pin.definitionHash"],
    message: `entry 0 (run.opened) of coder, run ${run}: pin.prompt differs from the record`,
  },
};

function cliWith(replayed: Replayed | null) {
  const cli = createFakeCli();
  cli.composition.replayed = replayed;
  const row = aSession({ session });
  const archive = { sessions: async () => [row], session: async () => null, close() {} };
  cli.composition.archive = archive as never;
  return cli;
}

describe("sessions replay", () => {
  test("reports that it is the same, and the number of compared entries", async () => {
    const cli = cliWith(same);
    expect(await cli.run("sessions", "replay", "0198a111")).toBe(0);
    expect(cli.out()).toBe("same: 7 runs, 17 model calls, 1 tool call\n");
    expect(cli.composition.replays).toMatchObject([{ session, current: false }]);
  });

  test("counts the turns, and reports where a session has not settled", async () => {
    const cli = cliWith({ ...same, turns: 2, settled: false });
    expect(await cli.run("sessions", "replay", session, "--agents", "current")).toBe(0);
    expect(cli.out()).toBe("same: 2 turns, 7 runs, 17 model calls, 1 tool call; the session has not settled\n");
    expect(cli.composition.replays).toMatchObject([{ session, current: true }]);
  });

  test("exits with 1 for a divergence, and shows the entries around it", async () => {
    const cli = cliWith(different);
    expect(await cli.run("sessions", "replay", session)).toBe(1);
    expect(cli.out().split("\n")).toEqual([
      "different after 7 runs, 17 model calls, 1 tool call:",
      `entry 0 (run.opened) of coder, run ${run}: pin.prompt differs from the record`,
      "  recorded: …e code. You write code. You write code. Test it.⏎",
      "  now:      …e code. You write code. You write code. Test it twice.⏎",
      "  also:     pin.definitionHash",
      "",
    ]);
  });

  test("--json prints the complete result, with the same exit code", async () => {
    const cli = cliWith(different);
    expect(await cli.run("sessions", "replay", session, "--json")).toBe(1);
    expect(JSON.parse(cli.out())).toEqual(different);
  });

  test.each([
    ["ffff", "there is no session"],
    ["0198a555-0000-7000-8000-000000000005", "there is no session 0198a555"],
  ])("of %s is an unknown session", async (given, words) => {
    const cli = cliWith(null);
    expect(await cli.run("sessions", "replay", given)).toBe(2);
    expect(cli.err()).toContain(words);
  });

  test("accepts two sources of replies, and no others", async () => {
    const cli = cliWith(same);
    expect(await cli.run("sessions", "replay", session, "--agents", "mine")).toBe(2);
    expect(cli.err()).toContain("pinned, current");
  });
});
