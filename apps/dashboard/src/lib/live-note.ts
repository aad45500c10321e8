import type { LiveEvent, RunRow } from "@troupe/core";
import { describeRetry, describeSpaceWait } from "@troupe/core/texts";

/** The latest live events of a run. The record does not contain them. */
export interface LiveNote {
  /** When this page received the last event. */
  at: number;
  /** `null` if the record knows more. */
  activity: string | null;
  /** The end of the text that the current step has streamed. */
  text: string;
}

/** Characters of streamed text that the page keeps for each run. */
const textMax = 2_000;

/** Adds an event to a note. */
export function applyLiveEvent(note: LiveNote | undefined, event: LiveEvent, at: number): LiveNote {
  switch (event.kind) {
    case "state.entered":
      return { at, activity: `${readable(event.state)}, step ${event.step}`, text: "" };
    case "tool.started":
      return { at, activity: event.detail === "" ? event.tool : `${event.tool} ${event.detail}`, text: "" };
    case "tool.finished":
      // The record tells more about the outcome.
      return { at, activity: null, text: note?.text ?? "" };
    case "text.delta":
      return { at, activity: "writing", text: `${note?.text ?? ""}${event.text}`.slice(-textMax) };
    case "run.claimed":
      return { at, activity: "claimed by a host", text: "" };
    case "model.retrying":
      return { at, activity: describeRetry(event), text: "" };
    case "trace.event":
      return { at, activity: readable(event.event.name), text: note?.text ?? "" };
    case "disk.waiting":
      return { at, activity: describeSpaceWait(event), text: "" };
    case "run.waiting":
      // The record knows the reason: an approval, a child run, or a pause.
      return { at, activity: event.waiting ? null : "continues", text: "" };
  }
}

/** The activity of an active run: the live note, unless the record has a later event. */
export function activityOf(run: RunRow, note: LiveNote | undefined): string | null {
  if (!note || note.activity === null || note.at < Date.parse(run.lastEventAt)) return run.activity;
  const line = lastLine(note.text);
  return line === "" ? note.activity : `writing: ${line}`;
}

export function latestEventAt(run: RunRow, note: LiveNote | undefined): number {
  return Math.max(Date.parse(run.lastEventAt), note?.at ?? 0);
}

/** The last line that is not empty. */
function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)?.trim() ?? "";
}

function readable(state: string): string {
  return state.replaceAll(/[._]/g, " ");
}
