import { defineTool, type Tool } from "@troupe/runtime";
import { z } from "zod";

/** What the tool of both sides does. */
export function lookUp(): string {
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
