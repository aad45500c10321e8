import type { Tool } from "../define-tool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createGlobTool } from "./glob.ts";
import { createPlanFilesTool } from "./plan-files/plan-files.ts";
import { createRipgrep } from "./ripgrep.ts";
import { createSearchTool } from "./search.ts";

/**
 * What finds files in a workspace: by name, by content, for a goal.
 *
 * @example
 * const tools = createSearchTools({ sandbox: await createSandbox() });
 */
export function createSearchTools({ sandbox }: { sandbox: Sandbox }): Tool[] {
  const ripgrep = createRipgrep({ sandbox });
  return [createGlobTool(ripgrep), createSearchTool(ripgrep), createPlanFilesTool({ ripgrep, sandbox })];
}
