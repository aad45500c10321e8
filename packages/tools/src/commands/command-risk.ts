import type { Grant, Risk } from "@troupe/core";
import type { CommandText, Outward } from "@troupe/core/tool";
import type { Sandbox } from "../sandbox/sandbox.ts";

/**
 * The risk of a call that runs any command. A sandbox that refuses every command needs no approval, so its risk is low.
 */
export function commandRisk(sandbox: Pick<Sandbox, "kind" | "contains">): Risk {
  if (sandbox.kind === "none") return "low";
  return sandbox.contains ? "medium" : "high";
}

/** Lets the tool host look at the files of a command. A command that never runs changes none. */
export function commandFiles<Args>(
  { kind, contains }: Pick<Sandbox, "kind" | "contains">,
  commandText: (args: Args) => CommandText,
): { commandText?: (args: Args) => CommandText; contained?: boolean } {
  return kind === "none" ? {} : { commandText, contained: contains };
}

/** With a network, a command can send anything to any host. */
export function commandOutward({ network }: Pick<Sandbox, "network">): Outward | null {
  return network ? { host: null, characters: null } : null;
}

/**
 * Why the user has to approve each command of an agent that may write only in some folders, while no sandbox enforces
 * that. Null if the sandbox enforces it, or if the agent has no write scope.
 */
export function commandConsent({ kind, contains, detail }: Sandbox, { writes }: Pick<Grant, "writes">): string | null {
  if (contains || kind === "none" || writes.length === 0) return null;
  return `this agent may write ${writableText(writes)}, and no sandbox here enforces that for commands: ${detail}`;
}

/** The write scopes of an agent as text after "may write". */
export function writableText(writes: Grant["writes"]): string {
  if (writes.length === 0) return "everywhere in the workspace except protected paths";
  if (writes.some((scope) => scope.length === 0)) return "nowhere in the workspace";
  return `only in ${writes.map((scope) => scope.join(", ")).join(", and of that only in ")}`;
}
