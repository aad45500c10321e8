import type { Grant, Risk } from "@troupe/core";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** Of a call that runs whatever it is told to. What is refused in any case is no question for a person. */
export function commandRisk(sandbox: Pick<Sandbox, "kind" | "contains">): Risk {
  if (sandbox.kind === "none") return "low";
  return sandbox.contains ? "medium" : "high";
}

/**
 * Why a person has to allow each command of an agent that may write in some folders only, where nothing would keep a
 * command to them; null where the sandbox does, or where there is nothing to keep.
 */
export function commandConsent({ kind, contains, detail }: Sandbox, { writes }: Pick<Grant, "writes">): string | null {
  if (contains || kind === "none" || writes.length === 0) return null;
  return `this agent may write ${writableText(writes)}, and no sandbox here keeps a command to that: ${detail}`;
}

/** Where an agent may write, in words that go after "may write". */
export function writableText(writes: Grant["writes"]): string {
  if (writes.length === 0) return "everywhere in the workspace but in what is protected";
  if (writes.some((scope) => scope.length === 0)) return "nowhere in the workspace";
  return `only in ${writes.map((scope) => scope.join(", ")).join(", and of that only in ")}`;
}
