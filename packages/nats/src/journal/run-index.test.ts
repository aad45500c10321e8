import { createSubjects } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { createRunIndex } from "./run-index.ts";

/** What headers alone tell of runs. */

const subjects = createSubjects();

type Fields = Record<string, string | number>;

/** Messages one after the other, a second apart, all written by compare-and-set. */
function learned(...messages: [subject: string, fields: Fields][]) {
  const index = createRunIndex(subjects);
  for (const [i, [subject, fields]] of messages.entries()) {
    const all: Fields = { "Troupe-Version": 1, "Nats-Expected-Last-Subject-Sequence": i, ...fields };
    const headers = { get: (name: string) => String(all[name] ?? "") };
    index.learn({ sequence: i + 1, subject, headers, bytes: new Uint8Array(), atMs: 1_000 * (i + 1), reply: "" });
  }
  return index;
}

const run = (name: string, first: number, last = first, more: Fields = {}): [string, Fields] => [
  subjects.journal("s", name),
  { "Troupe-First": first, "Troupe-Last": last, ...more },
];
const asks = (name: string, seq = 1): [string, Fields] => [
  subjects.inbox("s"),
  { "Troupe-Seq": seq, "Troupe-Opens": name },
];
const terminal = { "Troupe-Terminal": 1 };

describe("an index of runs", () => {
  it.each([
    { what: "a run that was asked for", messages: [asks("a")], open: [["a", -1]] },
    { what: "a run with entries", messages: [asks("a"), run("a", 0, 3), run("a", 4)], open: [["a", 4]] },
    { what: "no run that has settled", messages: [asks("a"), run("a", 0), run("a", 1, 2, terminal)], open: [] },
    { what: "no run that is asked for again", messages: [asks("a"), run("a", 0, 0, terminal), asks("a", 2)], open: [] },
    {
      what: "the oldest first",
      messages: [asks("b"), run("a", 0), run("b", 0)],
      open: [
        ["b", 0],
        ["a", 0],
      ],
    },
    { what: "no gap", messages: [run("a", 0), run("a", 7)], open: [["a", 0]] },
    { what: "no run that begins in its middle", messages: [run("a", 3)], open: [] },
    {
      what: "what writers wrote over headers that lied",
      messages: [asks("a"), run("a", 0), run("a", 1, 5, terminal), run("a", 1)],
      open: [["a", 1]],
    },
    { what: "nothing of a newer version", messages: [run("a", 0, 0, { "Troupe-Version": 2 })], open: [] },
  ])("shows $what", ({ messages, open }) => {
    const found = learned(...messages).open(10_000);
    expect(found.map(({ run: name, lastIndex }) => [name, lastIndex])).toEqual(open);
  });

  it("knows for how long nothing was written about a run", () => {
    const index = learned(run("a", 0), run("b", 0), run("a", 1));
    expect(index.open(10_000).map(({ idleMs }) => idleMs)).toEqual([7_000, 8_000]);
    expect(index.open(0).map(({ idleMs }) => idleMs)).toEqual([0, 0]);
  });

  it("forgets what was let go of, and nothing that came later", () => {
    const index = learned(asks("a"), run("a", 0, 0, terminal), asks("b", 2), run("b", 0));
    expect(index.settled()).toEqual([]);
    index.forget("s", 2);
    expect(index.open(10_000)).toMatchObject([{ run: "b", lastIndex: 0 }]);
    index.forget("s", 4);
    expect(index.open(10_000)).toEqual([]);
    expect(index.settled()).toEqual([]);
  });

  it("tells when a session has ended, and up to where it is written of", () => {
    const index = learned(asks("a"), run("a", 0), run("child", 0, 0, terminal), run("a", 1, 1, terminal));
    expect(index.settled()).toEqual([{ session: "s", endedAtMs: 4_000, sequence: 4 }]);
  });
});
