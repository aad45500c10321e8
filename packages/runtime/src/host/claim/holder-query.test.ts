/** A redelivered task does not prove that its host is dead: the last holder is asked before the run is claimed. */
import { type Bus, createSubjects, type Entry, TroupeError } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import { createMemoryBus, createSimulatedClock } from "@troupe/core/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { rootRequest } from "../host-deps.test-helper.ts";
import { isHeldElsewhere } from "./holder-query.ts";

const leaseMs = 8_000;
const { session, run } = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
const subjects = createSubjects();
const last = { v: 1, kind: "run.claimed", reason: "resumed", session, run, index: 4, epoch: 3, host: "them" } as Entry;

let clock: ReturnType<typeof createSimulatedClock>;
let bus: Bus;
let asked: { subject: string; atMs: number; timeoutMs: number; question: unknown }[];

/** The result of each query, in order. Silence takes the whole timeout. */
type Answer = "yes" | "no" | "of another run" | "nonsense" | "silence" | "no responders" | "no connection";

function answering(...answers: Answer[]): void {
  const holds = (of: string, is: boolean) => encode({ v: 1, run: of, holds: is });
  bus = {
    ...createMemoryBus(),
    async request(subject, bytes, { timeoutMs }) {
      const question: unknown = JSON.parse(new TextDecoder().decode(bytes));
      asked.push({ subject, atMs: clock.monotonicMs(), timeoutMs, question });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === "yes" || answer === "no") return holds(run, answer === "yes");
      if (answer === "of another run") return holds(session, true);
      if (answer === "nonsense") return new TextEncoder().encode("yes!");
      if (answer === "no responders") throw new TroupeError("NO_RESPONDERS", "no subscriber");
      if (answer === "no connection") throw new TroupeError("UNREACHABLE", "no server");
      await new Promise<void>((resolve) => clock.after(timeoutMs, resolve));
      throw new TroupeError("TIMEOUT", "no reply");
    },
  };
}

beforeEach(() => {
  clock = createSimulatedClock();
  asked = [];
});

async function held(of: Entry = last): Promise<boolean> {
  let answer: boolean | null = null;
  const asking = isHeldElsewhere({ bus, subjects, clock, hostId: "us", leaseMs }, of).then((is) => (answer = is));
  asking.catch(() => (answer = false));
  for (let ms = 0; answer === null && ms < 2 * leaseMs; ms += 1) {
    clock.advance(1);
    if (ms % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return await asking;
}

describe("the last host of a run", () => {
  test.for<{ says: Answer[]; isHeld: boolean; questions: number }>([
    { says: ["yes"], isHeld: true, questions: 1 },
    { says: ["no"], isHeld: false, questions: 1 },
    { says: ["silence"], isHeld: false, questions: 3 },
    { says: ["no responders"], isHeld: false, questions: 3 },
    { says: ["silence", "no responders", "yes"], isHeld: true, questions: 3 },
    { says: ["no responders", "no"], isHeld: false, questions: 2 },
    { says: ["nonsense", "of another run", "yes"], isHeld: true, questions: 3 },
    { says: ["nonsense"], isHeld: false, questions: 3 },
  ])(
    "is queried: it answers $says, held is $isHeld, after $questions questions",
    async ({ says, isHeld: expected, questions }) => {
      answering(...says);
      expect([await held(), asked.length]).toEqual([expected, questions]);
      expect(asked[0]).toMatchObject({
        subject: subjects.control("them"),
        question: { kind: "run.asked", session, run, epoch: 3 },
      });
    },
  );

  test.for<{ says: Answer }>([{ says: "silence" }, { says: "no responders" }])(
    "has 0.4 of a lease to answer if there is $says: it may be back in a moment",
    async ({ says }) => {
      answering(says);
      await held();
      const thirdMs = (0.4 * leaseMs) / 3;
      const times = asked.map(({ atMs }) => Math.round(atMs / thirdMs));
      expect(times).toEqual([0, 1, 2]);
      expect(asked.every(({ timeoutMs }) => timeoutMs <= thirdMs)).toBe(true);
      expect(clock.monotonicMs()).toBeLessThanOrEqual(0.4 * leaseMs + 200);
    },
  );

  test("does not count as gone for a host that cannot send a query", async () => {
    answering("no connection");
    await expect(held()).rejects.toMatchObject({ code: "UNREACHABLE" });
  });
});

describe("no host is queried", () => {
  test.for<{ what: string; changes: object }>([
    { what: "about a run of an earlier process of this host", changes: { host: "us" } },
    { what: "about a parked run", changes: { kind: "run.parked", reason: "drain" } },
  ])("$what", async ({ changes }) => {
    answering("yes");
    expect([await held({ ...last, ...changes } as Entry), asked]).toEqual([false, []]);
  });
});
