import type { Tool } from "@troupe/core/tool";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { changeEventTools } from "./change-event-tools.ts";
import { createEventTool } from "./create-event-tool.ts";
import { readCalendarTools } from "./read-calendar-tools.ts";

/** The tools of the domain calendar. */
export function createCalendarTools(deps: OfficeToolDeps): Tool[] {
  return [createEventTool(deps), ...readCalendarTools(deps), ...changeEventTools(deps)];
}
