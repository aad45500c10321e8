import type { Tool } from "@troupe/core/tool";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createGlobTool } from "./glob.ts";
import { createPlanFilesTool } from "./plan-files/plan-files.ts";
import { createRipgrep } from "./ripgrep.ts";
import { createSearchTool } from "./search.ts";

/**
 * Creates the tools that find files in a workspace: glob (by name), search (by content) and plan_files (for a goal).
 *
 * @example
 * const tools = createSearchTools({ sandbox: await createSandbox() });
 */
export function createSearchTools({ sandbox }: { sandbox: Sandbox }): Tool[] {
  const ripgrep = createRipgrep({ sandbox });
  return [createGlobTool(ripgrep), createSearchTool(ripgrep), createPlanFilesTool({ ripgrep, sandbox })];
}
