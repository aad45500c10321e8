import type { Entry, RunResponse, ToolCall } from "@troupe/core";
import type { EntryKind } from "@troupe/core/internal";
import { type ChildNote, isOpen, type NoteOutcome, type ToolCallNote } from "./draft.ts";

const argsCharsMax = 4_000;
const outputCharsMax = 2_000;

type EntryOf<K extends EntryKind> = Entry & { kind: K };
type Notes = readonly ToolCallNote[];

/** The calls that a turn asks for. */
export function notesOf(step: number, calls: readonly ToolCall[]): ToolCallNote[] {
  return calls.map(({ name, args }, call) => {
    return { step, call, name, args: clipArgs(args), outcome: null, duration_ms: null };
  });
}

/** What a turn's calls were made into: children, or refusals. */
export function withPlan(notes: Notes, { step, children, refused }: EntryOf<"calls.planned">): ToolCallNote[] {
  const childrenOf = Map.groupBy(children, ({ call }) => call);
  const refusalOf = new Map(refused.map(({ call, error }) => [call, error.message]));
  return notes.map((note) => {
    if (note.step !== step) return note;
    const asked = childrenOf.get(note.call);
    const refusal = refusalOf.get(note.call);
    if (refusal !== undefined) {
      return { ...note, outcome: { ok: false, output: "", error: refusal, in_doubt: false }, duration_ms: 0 };
    }
    return asked ? { ...note, children: asked.map(noteOfChild) } : note;
  });
}

export function withToolOutcome(notes: Notes, { step, call, outcome }: EntryOf<"tool.finished">): ToolCallNote[] {
  const { output, error, inDoubt, durationMs } = outcome;
  const said = { ok: error === null, output: clip(output), error: error?.message ?? null, in_doubt: inDoubt };
  return changed(notes, step, call, (note) => ({ ...note, outcome: said, duration_ms: durationMs }));
}

/** A later attempt's result takes the place of an earlier one. */
export function withChild(notes: Notes, { step, call, item, response }: EntryOf<"child.settled">): ToolCallNote[] {
  return changed(notes, step, call, (note) => {
    const outcome = outcomeOf(response);
    const duration_ms = response.metrics.durationMs;
    if (!note.children) return { ...note, outcome, duration_ms };
    const answered = { agent: response.agent, run_id: response.runId, outcome, duration_ms };
    const children = note.children.map((child) => (child.item === item ? { ...child, ...answered } : child));
    return { ...note, children, ...together(children) };
  });
}

/** How a whole call ended: that of its only child, or the sum of several, once all have settled. */
function together(children: readonly ChildNote[]): Pick<ToolCallNote, "outcome" | "duration_ms"> {
  const [only] = children;
  if (only && children.length === 1) return { outcome: only.outcome, duration_ms: only.duration_ms };
  // Before anything is put together: a thousand children settle one by one.
  if (children.some(isOpen)) return { outcome: null, duration_ms: null };
  const outcomes = children.flatMap(({ name, outcome }) => (outcome ? [{ name, ...outcome }] : []));
  const failed = outcomes.filter(({ ok }) => !ok).length;
  const outcome: NoteOutcome = {
    ok: failed === 0,
    output: clip(outcomes.map(({ name, output }) => `${name}: ${output}`).join("\n")),
    error: failed === 0 ? null : `${failed} of ${children.length} did not succeed`,
    in_doubt: false,
  };
  return { outcome, duration_ms: null };
}

function outcomeOf({ success, summary, error }: RunResponse): NoteOutcome {
  return { ok: success, output: summary, error: error?.message ?? null, in_doubt: false };
}

function noteOfChild({ item, name, agent, run }: EntryOf<"calls.planned">["children"][number]): ChildNote {
  return { item, name, agent, run_id: run, outcome: null, duration_ms: null };
}

function changed(
  notes: Notes,
  step: number,
  call: number,
  change: (note: ToolCallNote) => ToolCallNote,
): ToolCallNote[] {
  return notes.map((note) => (note.step === step && note.call === call ? change(note) : note));
}

function clipArgs(args: ToolCallNote["args"]): ToolCallNote["args"] {
  const text = JSON.stringify(args);
  return text.length <= argsCharsMax ? args : clip(text, argsCharsMax);
}

function clip(text: string, charsMax = outputCharsMax): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}
