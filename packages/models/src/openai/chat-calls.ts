import { z } from "zod";
import type { SaidCall } from "./reply.ts";

/** A part of a call. Servers leave out nearly everything of it, or send all at once. */
export const CallPart = z.object({
  index: z.int().nonnegative().nullish().catch(null),
  id: z.string().nullish().catch(null),
  function: z
    .object({ name: z.string().nullish().catch(null), arguments: z.unknown().optional() })
    .nullish()
    .catch(null),
});
export type CallPart = z.infer<typeof CallPart>;

interface OpenCall extends SaidCall {
  index: number | null;
  /** Kept as they came: joining them each time would be quadratic. */
  parts: string[];
}

/** Puts calls together from their parts, which several servers number, name and cut each in their own way. */
export function createCallParts(): { add(part: CallPart): void; calls(): SaidCall[] } {
  const open: OpenCall[] = [];
  return {
    add(part) {
      const { name, arguments: said } = part.function ?? {};
      const call = continued(open, part) ?? begin(open, part);
      call.id ??= part.id || null;
      if (name && name !== call.name) call.name += name;
      if (said !== undefined && said !== null) call.parts.push(typeof said === "string" ? said : JSON.stringify(said));
    },
    calls: () => open.map(({ id, name, parts }) => ({ id, name, arguments: parts.join("") })),
  };
}

function begin(open: OpenCall[], { index }: CallPart): OpenCall {
  const call = { index: index ?? null, id: null, name: "", arguments: "", parts: [] };
  open.push(call);
  return call;
}

/** The call that a part goes on with, if it does. */
function continued(open: readonly OpenCall[], part: CallPart): OpenCall | undefined {
  const index = part.index ?? null;
  const call = index === null ? sameOrLast(open, part) : open.findLast((call) => call.index === index);
  return call && isAnother(call, part) ? undefined : call;
}

function sameOrLast(open: readonly OpenCall[], { id }: CallPart): OpenCall | undefined {
  return (id ? open.findLast((call) => call.id === id) : undefined) ?? open.at(-1);
}

/** Some servers give all calls one index, or none: one that is named once more is another. */
function isAnother(call: OpenCall, { id, function: said }: CallPart): boolean {
  if (!said?.name || call.name === "") return false;
  if (id && call.id && id !== call.id) return true;
  return isWhole(call.parts);
}

/** Nothing can follow on a whole object. */
function isWhole(parts: readonly string[]): boolean {
  if (!parts.at(-1)?.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(parts.join(""));
    return true;
  } catch {
    return false;
  }
}
