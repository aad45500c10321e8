import { defineTool, type Tool } from "@troupe/tools";
import { z } from "zod";

let count = 0;

/** How often it was done in this process. */
export function lookupsDone(): number {
  return count;
}

/** The work of the lookup tool, for both sides. */
export function lookUp(): string {
  count += 1;
  return "Part seven is in order.";
}

export const lookupTool: Tool = defineTool({
  name: "lookup",
  description: "Looks a part up and says how it stands.",
  risk: "low",
  effect: "read",
  input: z.object({ part: z.string() }),
  run: async () => ({ output: lookUp() }),
});
