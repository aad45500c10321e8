import type { Tool } from "@troupe/core/tool";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { analyzeTool } from "./analyze-tool.ts";
import { postMessageTool } from "./post-message-tool.ts";
import { readChannelTools } from "./read-channel-tools.ts";

/** The tools of the domain slack. */
export function createChannelTools(deps: OfficeToolDeps): Tool[] {
  return [...readChannelTools(deps), analyzeTool(deps), postMessageTool(deps)];
}
