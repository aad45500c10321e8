import { isDelegate } from "../../permissions/grant.ts";
import type { RunSpec } from "../../protocol/entry.ts";
import { canonicalJson, hashText } from "../../protocol/hash.ts";
import type { ToolCall } from "../../protocol/tool.ts";

/** How often each call (tool and canonical arguments) was asked for: in all, and since anything was last changed. */
export type RepeatedCalls = Readonly<Record<string, { total: number; count: number }>>;

/** From this many identical calls on, each is an error; from the second number on, the run ends. */
export const repeatsRefused = 3;
export const repeatsFatal = 5;

const plainKeyCharactersMax = 200;

type Repeatable = Pick<ToolCall, "name" | "args" | "problem">;

/** Calls that could not be made are alike only where they have the same problem: their arguments are not kept. */
export function repeatKey({ name, args, problem }: Repeatable): string {
  const text = `${isDelegate(name) ? "delegate" : name} ${problem ?? canonicalJson(args)}`;
  return text.length <= plainKeyCharactersMax ? text : hashText(text);
}

export function countCalls(repeats: RepeatedCalls, calls: readonly ToolCall[]): RepeatedCalls {
  const counted: Record<string, RepeatedCalls[string]> = { ...repeats };
  for (const call of calls) {
    const key = repeatKey(call);
    const { total, count } = counted[key] ?? { total: 0, count: 0 };
    counted[key] = { total: total + 1, count: count + 1 };
  }
  return counted;
}

/** The how-manieth of its kind each call of a reply is, once the whole reply is counted. */
export function countsOf(repeats: RepeatedCalls, calls: readonly ToolCall[]): number[] {
  const keys = calls.map(repeatKey);
  return keys.map((key, i) => {
    const later = keys.slice(i + 1).filter((other) => other === key).length;
    return (repeats[key]?.count ?? 0) - later;
  });
}

/**
 * A call that may have changed something, and was not made before, is progress: asking the same question again, to
 * see what has changed, is no loop then.
 */
export function afterSuccess(repeats: RepeatedCalls, call: Repeatable, pin: RunSpec): RepeatedCalls {
  const spec = pin.tools.find(({ name }) => name === call.name);
  const key = repeatKey(call);
  if (spec?.effect === "read" || (repeats[key]?.total ?? 0) > 1) return repeats;
  return countAnew(repeats, key);
}

/** Whatever was said to the model since may be a reason to ask again. */
export function afterNews(repeats: RepeatedCalls): RepeatedCalls {
  return countAnew(repeats, null);
}

function countAnew(repeats: RepeatedCalls, except: string | null): RepeatedCalls {
  return Object.fromEntries(
    Object.entries(repeats).map(([key, state]) => [key, key === except ? state : { ...state, count: 0 }]),
  );
}
