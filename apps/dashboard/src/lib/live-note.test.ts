import type { LiveEvent } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { runRow } from "./fixtures.test-helper.ts";
import { activityOf, type LiveNote, lastHeardAt, noteAfter } from "./live-note.ts";

const base = { v: 1, session: "s1", run: "r1", agent: "coder" } as const;

describe("a note", () => {
  it("collects what is written and starts anew with each step", () => {
    const events: LiveEvent[] = [
      { ...base, kind: "text.delta", text: "Hel" },
      { ...base, kind: "text.delta", text: "lo" },
    ];
    const note = events.reduce<LiveNote | undefined>((known, event) => noteAfter(known, event, 1), undefined);
    expect(note).toMatchObject({ activity: "writing", text: "Hello" });
    const next = noteAfter(note, { ...base, kind: "state.entered", state: "execute.think", step: 3 }, 2);
    expect(next).toEqual({ at: 2, activity: "execute think, step 3", text: "" });
  });

  it.each([
    [true, "asks to run shell ls"],
    [false, "goes on"],
  ])("leaves it to the record to say what its run stands still for: %s", (waiting, expected) => {
    const run = runRow({ run: "r1", activity: "asks to run shell ls" });
    const at = Date.parse(run.lastEventAt) + 1;
    expect(activityOf(run, noteAfter(undefined, { ...base, kind: "run.waiting", waiting }, at))).toBe(expected);
  });

  it.each([
    ["rate_limit", "asked to wait: again in 8 s (2 of 5)"],
    ["network", "its model was not reached: again in 8 s (2 of 5)"],
  ] as const)("says when a model is asked again that turned a call away: %s", (type, expected) => {
    const event = {
      ...base,
      kind: "model.retrying",
      type,
      message: "no",
      waitMs: 7_400,
      tries: 1,
      triesMax: 5,
    } as const;
    expect(activityOf(runRow({ run: "r1" }), noteAfter(undefined, event, Date.now()))).toBe(expected);
  });

  it("says for how long a run stands still that is to wait for as long as it takes", () => {
    const retry = { type: "rate_limit", message: "no", waitMs: 3_600_000, tries: 6, triesMax: null } as const;
    const note = noteAfter(undefined, { ...base, kind: "model.retrying", ...retry }, Date.now());
    expect(note.activity).toMatch(/^asked to wait: again in 1h [^(]*$/);
  });

  it("keeps only the end of a long text", () => {
    const note = noteAfter(undefined, { ...base, kind: "text.delta", text: `${"x".repeat(5_000)}end` }, 1);
    expect(note.text.length).toBe(2_000);
    expect(note.text.endsWith("end")).toBe(true);
  });
});

describe("what to say of a run", () => {
  const run = runRow({ run: "r1", activity: "wrote a.md", lastEventAt: "2026-01-01T00:00:10.000Z" });
  const at = Date.parse(run.lastEventAt);
  it.each([
    ["the note, when it is later than the record", at + 1, "read b.md"],
    ["the record, when it is later than the note", at - 1, "wrote a.md"],
  ])("%s", (_sentence, heardAt, expected) => {
    expect(activityOf(run, { at: heardAt, activity: "read b.md", text: "" })).toBe(expected);
  });

  it.each([
    ["its line so far", "First this.\n\nThen th", "writes: Then th"],
    ["the line before, while the next one is empty", "First this.\n\n", "writes: First this."],
    ["only that it writes, while there is no word", "\n ", "writing"],
  ])("that it writes: %s", (_sentence, text, expected) => {
    expect(activityOf(run, { at: at + 1, activity: "writing", text })).toBe(expected);
  });

  it("is the record's where nothing was heard", () => {
    expect(activityOf(run, undefined)).toBe("wrote a.md");
    expect(lastHeardAt(run, undefined)).toBe(at);
    expect(lastHeardAt(run, { at: at + 5, activity: "", text: "" })).toBe(at + 5);
  });
});
