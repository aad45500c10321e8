import { defineTool, readTool, type Tool, writeTool } from "@troupe/runtime";
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
export const teamTools: readonly Tool[] = [readTool, writeTool, echoTool, deployTool];
