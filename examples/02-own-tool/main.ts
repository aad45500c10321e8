/** A tool of your own: defined once, described to the model by its schema, refused where it is not granted. */
import { createToolHost, defineTool } from "@troupe/tools";
import { z } from "zod";

const dice = defineTool({
  name: "dice",
  description: "Adds up the dice that were thrown.",
  input: z.object({ thrown: z.array(z.int().min(1).max(6)).min(1) }),
  risk: "low",
  effect: "read",
  groups: ["games"],
  run: async ({ thrown }) => ({ output: String(thrown.reduce((sum, each) => sum + each, 0)) }),
});

const host = createToolHost({ tools: [dice] });
const context = {
  session: "s",
  run: "r",
  agent: "player",
  workspace: process.cwd(),
  signal: new AbortController().signal,
  idempotencyKey: "r/1/0",
  approved: false,
  plan: null,
};
const call = { id: "1", name: "dice", args: { thrown: [2, 5] }, problem: null };

const granted = await host.run(call, { ...context, grant: { tools: ["dice"], agents: [], writes: [] } });
process.stdout.write(`granted: ${granted.output}\n`);
const refused = await host.run(call, { ...context, grant: { tools: [], agents: [], writes: [] } });
process.stdout.write(`not granted: ${refused.error?.message}\n`);
const wrong = await host.run(
  { ...call, args: { thrown: [7] } },
  { ...context, grant: { tools: ["dice"], agents: [], writes: [] } },
);
process.stdout.write(`wrong: ${wrong.error?.message}\n`);
