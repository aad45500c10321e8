/** A tool in a plain file: put it into `~/.troupe/tools`, or into `.troupe/tools` of a project that you trust. */
import { defineTool } from "@troupe/tools";
import { z } from "zod";

export default defineTool({
  name: "dice",
  description: "Adds up the dice that were thrown.",
  input: z.strictObject({ thrown: z.array(z.int().min(1).max(6)).min(1).describe("What each shows") }),
  risk: "low",
  effect: "read",
  groups: ["games"],
  run: async ({ thrown }) => ({ output: String(thrown.reduce((sum, each) => sum + each, 0)) }),
});
