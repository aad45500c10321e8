import { createFileTools, defineTool, type Tool } from "@troupe/tools";
import { z } from "zod";

/** Says what it was told. */
export const echoTool = defineTool({
  name: "echo",
  description: "Says what it was told.",
  input: z.looseObject({}),
  risk: "low",
  effect: "read",
  run: async (args) => ({ output: `echo ${JSON.stringify(args)}` }),
});

/** Asked about before each use. */
export const deployTool = defineTool({
  name: "deploy",
  description: "Puts something where everybody sees it.",
  input: z.strictObject({ to: z.string() }),
  risk: "high",
  effect: "unsafe",
  run: async ({ to }) => ({ output: `deployed to ${to}` }),
});

/** The tools of a team's machines, where a test names no others. */
export const teamTools: readonly Tool[] = [...createFileTools(), echoTool, deployTool];

/** A tool call that was not refused beforehand: its tool has been reached. */
export interface ReachedCall {
  session: string;
  run: string;
  agent: string;
  tool: string;
}

/** The same tools, which say when they are reached. */
export function spied(tools: readonly Tool[], onReached: (reached: ReachedCall) => void): Tool[] {
  return tools.map((tool) => ({
    spec: tool.spec,
    outputBytesMax: tool.outputBytesMax,
    bind(args, context) {
      const bound = tool.bind(args, context);
      return {
        ...bound,
        run(context) {
          const { session, run, agent } = context;
          onReached({ session, run, agent, tool: tool.spec.name });
          return bound.run(context);
        },
      };
    },
  }));
}
