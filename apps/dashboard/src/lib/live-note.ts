import type { LiveEvent, RunRow } from "@troupe/core";
import { formatDuration } from "./format.ts";

/** What a run was last heard doing: seen while it happens, in no record. */
export interface LiveNote {
  /** When this page heard it. */
  at: number;
  /** `null`: what the record says of it says more. */
  activity: string | null;
  /** The end of what it is writing, in this step. */
  text: string;
}

/** Characters of streamed text that are kept per run. */
const textMax = 2_000;

/** The note after one more event. */
export function noteAfter(note: LiveNote | undefined, event: LiveEvent, at: number): LiveNote {
  switch (event.kind) {
    case "state.entered":
      return { at, activity: `${spoken(event.state)}, step ${event.step}`, text: "" };
    case "tool.started":
      return { at, activity: event.detail === "" ? event.tool : `${event.tool} ${event.detail}`, text: "" };
    case "text.delta":
      return { at, activity: "writing", text: `${note?.text ?? ""}${event.text}`.slice(-textMax) };
    case "run.claimed":
      return { at, activity: "taken up by a host", text: "" };
    case "model.retrying": {
      const why = event.type === "rate_limit" ? "asked to wait" : "its model was not reached";
      const wait = event.waitMs < 60_000 ? `${Math.ceil(event.waitMs / 1_000)} s` : formatDuration(event.waitMs);
      const count = event.triesMax === null ? "" : ` (${event.tries + 1} of ${event.triesMax})`;
      return { at, activity: `${why}: again in ${wait}${count}`, text: "" };
    }
    case "run.waiting":
      // The record knows what it stands still for: an answer, a child's answer, or whoever paused it.
      return { at, activity: event.waiting ? null : "goes on", text: "" };
  }
}

/** What to say of a run that goes on: the live note, unless the record already knows something later. */
export function activityOf(run: RunRow, note: LiveNote | undefined): string | null {
  if (!note || note.activity === null || note.at < Date.parse(run.lastEventAt)) return run.activity;
  const line = lastLine(note.text);
  return line === "" ? note.activity : `writes: ${line}`;
}

export function lastHeardAt(run: RunRow, note: LiveNote | undefined): number {
  return Math.max(Date.parse(run.lastEventAt), note?.at ?? 0);
}

/** The line that is being written, or the one before it while the new one is still empty. */
function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)?.trim() ?? "";
}

function spoken(state: string): string {
  return state.replaceAll(/[._]/g, " ");
}
