import type { ToolCall } from "@troupe/core";
import type { ApprovalReach } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import { coveredCommands } from "../commands/command-line/covered-commands.ts";
import type { PolicyDecision } from "./check-policy.ts";

/** For a tool without subcommands and hosts: all its calls of the same risk. */
const anyCall = "*";

/** The calls that an approval for the rest of the run covers. Only this one if the rule of two asks about its content. */
export function approvalReach(tool: Tool, { args }: ToolCall, { bound, sends }: PolicyDecision): ApprovalReach {
  if (sends || bound === null) return { covers: [] };
  const commands = tool.commandsOf?.(args);
  if (commands !== undefined) return { covers: coveredCommands(commands) };
  return { covers: [bound.outward?.host ?? anyCall] };
}
