import type { LiveEvent } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { runRow } from "./fixtures.test-helper.ts";
import { activityOf, applyLiveEvent, type LiveNote, latestEventAt } from "./live-note.ts";

const base = { v: 1, session: "s1", run: "r1", agent: "coder" } as const;

describe("a note", () => {
  it("collects streamed text and begins again with each step", () => {
    const events: LiveEvent[] = [
      { ...base, kind: "text.delta", text: "Hel" },
      { ...base, kind: "text.delta", text: "lo" },
    ];
    const note = events.reduce<LiveNote | undefined>((known, event) => applyLiveEvent(known, event, 1), undefined);
    expect(note).toMatchObject({ activity: "writing", text: "Hello" });
    const next = applyLiveEvent(note, { ...base, kind: "state.entered", state: "execute.think", step: 3 }, 2);
    expect(next).toEqual({ at: 2, activity: "execute think, step 3", text: "" });
  });

  it.each([
    [true, "asks to run shell ls"],
    [false, "continues"],
  ])("leaves the reason of a wait to the record: %s", (waiting, expected) => {
    const run = runRow({ run: "r1", activity: "asks to run shell ls" });
    const at = Date.parse(run.lastEventAt) + 1;
    expect(activityOf(run, applyLiveEvent(undefined, { ...base, kind: "run.waiting", waiting }, at))).toBe(expected);
  });

  it.each([
    ["rate_limit", "was rate-limited: retry in 8 s (2 of 5)"],
    ["network", "could not reach its model: retry in 8 s (2 of 5)"],
  ] as const)("shows when the host retries a model call: %s", (type, expected) => {
    const event = {
      ...base,
      kind: "model.retrying",
      type,
      message: "no",
      waitMs: 7_400,
      tries: 1,
      triesMax: 5,
    } as const;
    expect(activityOf(runRow({ run: "r1" }), applyLiveEvent(undefined, event, Date.now()))).toBe(expected);
  });

  it("shows the wait of a retry without a limit", () => {
    const retry = { type: "rate_limit", message: "no", waitMs: 3_600_000, tries: 6, triesMax: null } as const;
    const note = applyLiveEvent(undefined, { ...base, kind: "model.retrying", ...retry }, Date.now());
    expect(note.activity).toBe("was rate-limited: retry in 1 h 00 m");
  });

  it("keeps only the end of a long text", () => {
    const note = applyLiveEvent(undefined, { ...base, kind: "text.delta", text: `${"x".repeat(5_000)}end` }, 1);
    expect(note.text.length).toBe(2_000);
    expect(note.text.endsWith("end")).toBe(true);
  });
});

describe("the activity of a run", () => {
  const run = runRow({ run: "r1", activity: "wrote a.md", lastEventAt: "2026-01-01T00:00:10.000Z" });
  const at = Date.parse(run.lastEventAt);
  it.each([
    ["is the note if it is later than the record", at + 1, "read b.md"],
    ["is the record if it is later than the note", at - 1, "wrote a.md"],
  ])("%s", (_sentence, receivedAt, expected) => {
    expect(activityOf(run, { at: receivedAt, activity: "read b.md", text: "" })).toBe(expected);
  });

  it.each([
    ["the line so far", "First this.\n\nThen th", "writing: Then th"],
    ["the line before an empty one", "First this.\n\n", "writing: First this."],
    ["only the word writing, without text", "\n ", "writing"],
  ])("with streamed text: %s", (_sentence, text, expected) => {
    expect(activityOf(run, { at: at + 1, activity: "writing", text })).toBe(expected);
  });

  it("is the record without a note", () => {
    expect(activityOf(run, undefined)).toBe("wrote a.md");
    expect(latestEventAt(run, undefined)).toBe(at);
    expect(latestEventAt(run, { at: at + 5, activity: "", text: "" })).toBe(at + 5);
  });
});
