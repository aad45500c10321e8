import type { ToolCall } from "@troupe/core";

/** A call's arguments as real adapters make them of what came over the wire: what is no JSON object is a problem. */
export function readRawArgs(raw: string): Pick<ToolCall, "args" | "problem"> {
  try {
    const args = JSON.parse(raw);
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return { args, problem: null };
  } catch {}
  return { args: null, problem: "its arguments are not a JSON object: say them again, as one" };
}
