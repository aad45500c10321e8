import type { Entry, RunResponse, ToolCall } from "@troupe/core";
import type { EntryKind } from "@troupe/core/internal";
import { type CallOutcome, type ChildRecord, isOpen, type ToolCallRecord } from "./run-columns.ts";

const argsCharsMax = 4_000;
const outputCharsMax = 2_000;

type EntryOf<K extends EntryKind> = Entry & { kind: K };
type Calls = readonly ToolCallRecord[];

/** Records of the calls that a model reply requests. */
export function toolCallRecords(step: number, calls: readonly ToolCall[]): ToolCallRecord[] {
  return calls.map(({ name, args }, call) => {
    return { step, call, name, args: clipArgs(args), outcome: null, duration_ms: null };
  });
}

/** Adds the plan of a step: the children and refusals that its calls became. */
export function withPlan(calls: Calls, { step, children, refused }: EntryOf<"calls.planned">): ToolCallRecord[] {
  const childrenOf = Map.groupBy(children, ({ call }) => call);
  const refusalOf = new Map(refused.map(({ call, error }) => [call, error.message]));
  return calls.map((record) => {
    if (record.step !== step) return record;
    const planned = childrenOf.get(record.call);
    const refusal = refusalOf.get(record.call);
    if (refusal !== undefined) {
      return { ...record, outcome: { ok: false, output: "", error: refusal, in_doubt: false }, duration_ms: 0 };
    }
    return planned ? { ...record, children: planned.map(plannedChild) } : record;
  });
}

export function withToolOutcome(calls: Calls, { step, call, outcome }: EntryOf<"tool.finished">): ToolCallRecord[] {
  const { output, error, inDoubt, durationMs } = outcome;
  const recorded = { ok: error === null, output: clip(output), error: error?.message ?? null, in_doubt: inDoubt };
  return changed(calls, step, call, (record) => ({ ...record, outcome: recorded, duration_ms: durationMs }));
}

/** The result of a later attempt replaces the result of an earlier one. */
export function withChild(calls: Calls, { step, call, item, response }: EntryOf<"child.settled">): ToolCallRecord[] {
  return changed(calls, step, call, (record) => {
    const outcome = outcomeOf(response);
    const duration_ms = response.metrics.durationMs;
    if (!record.children) return { ...record, outcome, duration_ms };
    const settled = { agent: response.agent, run_id: response.runId, outcome, duration_ms };
    const children = record.children.map((child) => (child.item === item ? { ...child, ...settled } : child));
    return { ...record, children, ...callOutcome(children) };
  });
}

/** Outcome of a delegate call: the outcome of its only child, or the sum of all children once they have settled. */
function callOutcome(children: readonly ChildRecord[]): Pick<ToolCallRecord, "outcome" | "duration_ms"> {
  const [only] = children;
  if (only && children.length === 1) return { outcome: only.outcome, duration_ms: only.duration_ms };
  // Checked before the texts are joined, because a thousand children settle one by one.
  if (children.some(isOpen)) return { outcome: null, duration_ms: null };
  const outcomes = children.flatMap(({ name, outcome }) => (outcome ? [{ name, ...outcome }] : []));
  const failed = outcomes.filter(({ ok }) => !ok).length;
  const outcome: CallOutcome = {
    ok: failed === 0,
    output: clip(outcomes.map(({ name, output }) => `${name}: ${output}`).join("\n")),
    error: failed === 0 ? null : `${failed} of ${children.length} did not succeed`,
    in_doubt: false,
  };
  return { outcome, duration_ms: null };
}

function outcomeOf({ success, summary, error }: RunResponse): CallOutcome {
  return { ok: success, output: summary, error: error?.message ?? null, in_doubt: false };
}

function plannedChild({ item, name, agent, run }: EntryOf<"calls.planned">["children"][number]): ChildRecord {
  return { item, name, agent, run_id: run, outcome: null, duration_ms: null };
}

function changed(
  calls: Calls,
  step: number,
  call: number,
  change: (record: ToolCallRecord) => ToolCallRecord,
): ToolCallRecord[] {
  return calls.map((record) => (record.step === step && record.call === call ? change(record) : record));
}

function clipArgs(args: ToolCallRecord["args"]): ToolCallRecord["args"] {
  const text = JSON.stringify(args);
  return text.length <= argsCharsMax ? args : clip(text, argsCharsMax);
}

function clip(text: string, charsMax = outputCharsMax): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}
