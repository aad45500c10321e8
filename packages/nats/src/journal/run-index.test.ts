import { createSubjects } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { createRunIndex } from "./run-index.ts";

/** The index knows runs by their headers alone. */

const subjects = createSubjects();

type Fields = Record<string, string | number>;

/** Messages one after the other, a second apart, all written by compare-and-set. */
function indexOf(...messages: [subject: string, fields: Fields][]) {
  const index = createRunIndex(subjects);
  for (const [i, [subject, fields]] of messages.entries()) {
    const all: Fields = { "Troupe-Version": 1, "Nats-Expected-Last-Subject-Sequence": i, ...fields };
    const headers = { get: (name: string) => String(all[name] ?? "") };
    index.add({ sequence: i + 1, subject, headers, bytes: new Uint8Array(), atMs: 1_000 * (i + 1), reply: "" });
  }
  return index;
}

const run = (name: string, first: number, last = first, more: Fields = {}): [string, Fields] => [
  subjects.journal("s", name),
  { "Troupe-First": first, "Troupe-Last": last, ...more },
];
const requests = (name: string, seq = 1): [string, Fields] => [
  subjects.inbox("s"),
  { "Troupe-Seq": seq, "Troupe-Opens": name },
];
const terminal = { "Troupe-Terminal": 1 };

describe("an index of runs", () => {
  it.each([
    { what: "a run that was requested", messages: [requests("a")], open: [["a", -1]] },
    { what: "a run with entries", messages: [requests("a"), run("a", 0, 3), run("a", 4)], open: [["a", 4]] },
    { what: "no settled run", messages: [requests("a"), run("a", 0), run("a", 1, 2, terminal)], open: [] },
    {
      what: "no settled run that is requested again",
      messages: [requests("a"), run("a", 0, 0, terminal), requests("a", 2)],
      open: [],
    },
    {
      what: "the oldest first",
      messages: [requests("b"), run("a", 0), run("b", 0)],
      open: [
        ["b", 0],
        ["a", 0],
      ],
    },
    { what: "no gap", messages: [run("a", 0), run("a", 7)], open: [["a", 0]] },
    { what: "no run that begins in its middle", messages: [run("a", 3)], open: [] },
    {
      what: "an index that was written again after an invalid message",
      messages: [requests("a"), run("a", 0), run("a", 1, 5, terminal), run("a", 1)],
      open: [["a", 1]],
    },
    { what: "no entry of a newer version", messages: [run("a", 0, 0, { "Troupe-Version": 2 })], open: [] },
  ])("shows $what", ({ messages, open }) => {
    const found = indexOf(...messages).openRuns(10_000);
    expect(found.map(({ run: name, lastIndex }) => [name, lastIndex])).toEqual(open);
  });

  it("knows how long each run has been idle", () => {
    const index = indexOf(run("a", 0), run("b", 0), run("a", 1));
    expect(index.openRuns(10_000).map(({ idleMs }) => idleMs)).toEqual([7_000, 8_000]);
    expect(index.openRuns(0).map(({ idleMs }) => idleMs)).toEqual([0, 0]);
  });

  it("forgets purged messages, and no later ones", () => {
    const index = indexOf(requests("a"), run("a", 0, 0, terminal), requests("b", 2), run("b", 0));
    expect(index.settledSessions()).toEqual([]);
    index.forget("s", 2);
    expect(index.openRuns(10_000)).toMatchObject([{ run: "b", lastIndex: 0 }]);
    index.forget("s", 4);
    expect(index.openRuns(10_000)).toEqual([]);
    expect(index.settledSessions()).toEqual([]);
  });

  it("tells when a session has settled, and the sequence of its newest message", () => {
    const index = indexOf(requests("a"), run("a", 0), run("child", 0, 0, terminal), run("a", 1, 1, terminal));
    expect(index.settledSessions()).toEqual([{ session: "s", endedAtMs: 4_000, sequence: 4 }]);
  });
});
