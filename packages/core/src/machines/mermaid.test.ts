import { describe, expect, test } from "vitest";
import { setup } from "xstate";
import { agentMachine } from "./agent/machine.ts";
import { delegationMachine } from "./delegation/machine.ts";
import { machineToMermaid } from "./mermaid.ts";

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}

test("the delegation machine is drawn whole", () => {
  expect(machineToMermaid(delegationMachine)).toBe(`stateDiagram-v2
  [*] --> queued
  state queued
  state waiting {
    [*] --> waiting_offered
    state "offered" as waiting_offered
    state "running" as waiting_running
    state "stopping" as waiting_stopping
    waiting_stopping : cancelChild
    state "ending" as waiting_ending
    waiting_offered --> waiting_running : child.claimed
  }
  state retrying
  retrying : startTimer
  state dropping
  dropping : dropChild
  state settled
  queued --> waiting : slot.granted
  queued --> dropping : drop
  queued --> dropping : cancel
  waiting --> retrying : child.settled [isRetryable]
  waiting --> settled : child.settled [isCurrentAttempt]
  waiting --> settled : stopping, child.settled [isCurrentAttempt]
  waiting --> settled : ending, child.settled [isCurrentAttempt]
  retrying --> waiting : timer.fired [isBackoffInTime]
  retrying --> settled : timer.fired [isBackoff]
  retrying --> settled : drop
  retrying --> settled : cancel
  dropping --> settled : child.settled [isCurrentAttempt]
  settled --> [*]
  note right of waiting : runChild
  note right of waiting_stopping : anywhere in waiting on cancel [mustAnnounceCancel]
  note right of waiting_ending : anywhere in waiting on cancel
`);
});

describe("the chart of the agent machine", () => {
  const lines = linesOf(machineToMermaid(agentMachine));

  test.each([
    "[*] --> intent",
    "intent --> execute : assessed",
    "intent --> respond : receiving, [isRejected]",
    "intent --> awaitingApproval : assessed, [isRisky]",
    "execute_think --> execute_act : model.replied [wantsTools]",
    "execute_check --> execute_gate",
    "execute_gate --> execute_think",
    "execute --> stopping : gate, [hasReachedCap]",
    "execute --> respond : think, model.replied [isCurrentStep]",
    "stopping --> respond : telling, [hasNoBatches]",
    "respond --> execute : verifying, verify.finished [canTryAgain]",
    "respond --> settled : settling, run.settled",
    "note right of settled : anywhere on run.settled",
    "settled --> [*]",
  ])("has: %s", (line) => {
    expect(lines).toContain(line);
  });

  test("has an exit by cancel and by deadline in every state but the last", () => {
    for (const fact of ["inbox.received [isCancel]", "timer.fired [isDeadline]"]) {
      const left = lines.filter((line) => line.endsWith(fact)).map((line) => line.split(" ")[0]);
      expect(left).toEqual(["respond_verifying", "intent", "awaitingApproval", "execute"]);
    }
  });

  test("has no line between the insides of two states, which Mermaid cannot draw", () => {
    const ends = lines.flatMap((line) => line.match(/^(\w+) --> (\w+)/)?.slice(1, 3) ?? []);
    expect(ends.length).toBeGreaterThan(20);
    for (let i = 0; i < ends.length; i += 2) {
      const parents = ends.slice(i, i + 2).map((id) => id.split("_").slice(0, -1).join("_"));
      expect(parents[0]).toBe(parents[1]);
    }
  });

  test("has no label with a character that ends it", () => {
    const labels = lines.map((line) => line.split(" : ").slice(1).join("")).filter((label) => label !== "");
    expect(labels.length).toBeGreaterThan(20);
    expect(labels.filter((label) => /[:;]/.test(label))).toEqual([]);
  });
});

test("draws transitions into another state, to the same state and to an outer state", () => {
  const machine = setup({}).createMachine({
    id: "m",
    initial: "a",
    states: {
      a: { on: { into: "#m.b.deep", again: { target: "a", reenter: true }, quiet: {} } },
      b: {
        initial: "shallow",
        states: { shallow: { on: { around: "#m.b" } }, deep: {} },
        on: { down: ".deep" },
      },
    },
  });
  const lines = linesOf(machineToMermaid(machine));
  expect(lines).toEqual(
    expect.arrayContaining([
      "a --> b : into → deep",
      "a --> a : again",
      "b --> b : shallow, around",
      "note right of b_deep : anywhere in b on down",
    ]),
  );
  expect(lines.join()).not.toContain("quiet");
});
