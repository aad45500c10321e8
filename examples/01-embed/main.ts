/** A program with two agents and one tool. Without a key, a script answers in place of a model. */
import { join } from "node:path";
import { createTroupe, defineTool } from "troupe";
import { z } from "zod";

const lookup = defineTool({
  name: "lookup",
  description: "Looks up the licence of a package.",
  input: z.strictObject({ package: z.string() }),
  risk: "low",
  effect: "read",
  run: async (args) => ({ output: args.package === "left" ? "MIT" : "Apache-2.0" }),
});
const lead = { id: "lead", description: "Compares", prompt: "You compare licences.", subagents: { allow: ["reader"] } };
const reader = { id: "reader", description: "Names a licence", prompt: "You name a licence.", tools: ["lookup"] };

const model = process.env.TROUPE_MODEL ?? `scripted/${join(import.meta.dirname, "licences.yaml")}`;
await using troupe = await createTroupe({ model, agents: [lead, reader], tools: [lookup], store: "memory" });
const answer = await troupe.run("Compare the licences of left and right", { agent: "lead" });
console.log(answer.summary, `(${answer.metrics.subtree.runs} runs)`);
