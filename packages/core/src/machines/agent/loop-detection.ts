import { isDelegate } from "../../permissions/grant.ts";
import type { RunSpec } from "../../protocol/entry.ts";
import { canonicalJson, hashText } from "../../protocol/hash.ts";
import type { ToolCall } from "../../protocol/tool.ts";

/** How often each call (tool and canonical arguments) was made: in total, and since the last progress. */
export type CallCounts = Readonly<Record<string, { total: number; count: number }>>;

/** From this many identical calls on, each one is refused. */
export const identicalCallsRefused = 3;
/** From this many identical calls on, the run ends. */
export const identicalCallsFatal = 5;

const plainKeyCharactersMax = 200;

type CountedCall = Pick<ToolCall, "name" | "args" | "problem">;

/** The key of identical calls. Invalid calls are identical if they have the same problem: their arguments are dropped. */
export function callKey({ name, args, problem }: CountedCall): string {
  const text = `${isDelegate(name) ? "delegate" : name} ${problem ?? canonicalJson(args)}`;
  return text.length <= plainKeyCharactersMax ? text : hashText(text);
}

export function countCalls(counts: CallCounts, calls: readonly ToolCall[]): CallCounts {
  const counted: Record<string, CallCounts[string]> = { ...counts };
  for (const call of calls) {
    const key = callKey(call);
    const { total, count } = counted[key] ?? { total: 0, count: 0 };
    counted[key] = { total: total + 1, count: count + 1 };
  }
  return counted;
}

/** The ordinal of each call of a reply among its identical calls. The reply itself is already counted. */
export function countsOf(counts: CallCounts, calls: readonly ToolCall[]): number[] {
  const keys = calls.map(callKey);
  return keys.map((key, i) => {
    const later = keys.slice(i + 1).filter((other) => other === key).length;
    return (counts[key]?.count ?? 0) - later;
  });
}

/** Resets the counts after a new call that may have changed something: repeating a question is not a loop then. */
export function resetAfterProgress(counts: CallCounts, call: CountedCall, { tools }: RunSpec): CallCounts {
  const spec = tools.find(({ name }) => name === call.name);
  const key = callKey(call);
  if (spec?.effect === "read" || (counts[key]?.total ?? 0) > 1) return counts;
  return resetCounts(counts, key);
}

/** Starts all counts anew, for example after a message to the model: it may be a reason to repeat a call. */
export function resetCounts(counts: CallCounts, except: string | null = null): CallCounts {
  return Object.fromEntries(
    Object.entries(counts).map(([key, state]) => [key, key === except ? state : { ...state, count: 0 }]),
  );
}
