/**
 * Increments a number in a file through the tools, as one of several agents at once: `increment.test-helper.ts WORKSPACE
 * TIMES RUN`. After a conflict it reads the file again.
 */
import type { ToolContext } from "@troupe/core";
import type { Tool } from "@troupe/core/tool";
import { fileTools } from "./file-tools.test-helper.ts";

const [workspace = "", times = "0", run = "r"] = process.argv.slice(2);
const { read, write } = fileTools();
let key = 0;

async function call(tool: Tool, args: object): Promise<string> {
  const context: ToolContext = {
    session: "s",
    run,
    agent: "main",
    workspace,
    grant: { tools: [], agents: [], writes: [] },
    signal: new AbortController().signal,
    idempotencyKey: `${run}/${key++}`,
    approved: false,
    plan: null,
  };
  const bound = tool.bind(args, context);
  const plan = (await bound.plan?.(context)) ?? null;
  return (await bound.run({ ...context, plan })).output;
}

let conflicts = 0;
for (let done = 0; done < Number(times); ) {
  const number = Number.parseInt(await call(read, { path: "count.txt" }), 10);
  try {
    await call(write, { path: "count.txt", content: `${number + 1}\n` });
    done += 1;
  } catch (error) {
    if (!(error instanceof Error && /another writer has changed it/.test(error.message))) throw error;
    conflicts += 1;
  }
}
process.stdout.write(JSON.stringify({ conflicts }));
