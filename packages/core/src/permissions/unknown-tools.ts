import type { ToolSpec } from "../protocol/tool.ts";
import { nearestNames } from "../text/nearest-names.ts";
import { toolOfItem } from "./command-pattern.ts";
import { delegateNames, namesTool, toolNames } from "./grant.ts";
import { aliasNames, canonicalToolName, withoutSet } from "./tool-names.ts";

/** Why a name in a list of tools means no tool here, and the fix. */
export interface UnknownTool {
  /** Continues a sentence: "tools names X, …". */
  reason: string;
  fix: string;
  /** Whether another program has a tool with this name that troupe does not have. Denying it changes nothing. */
  isForeign: boolean;
}

/** A tool of another program that does less than one of ours. Granting ours in its place would grant more than was meant. */
const narrowerTools: Readonly<Record<string, string>> = {
  TodoRead: "notes",
  TaskList: "notes",
  TaskGet: "notes",
  TaskCreate: "notes",
  TaskUpdate: "notes",
  NotebookEdit: "edit",
  BashOutput: "shell",
  KillShell: "shell",
  KillBash: "shell",
  runTasks: "shell",
  runNotebooks: "shell",
  createAndRunTask: "shell",
  findTestFiles: "glob",
  testFailure: "test",
  editNotebook: "edit",
  createDirectory: "write",
};

/** Tools of Claude Code, Copilot and Gemini for which troupe has no counterpart. */
const toolsWithoutCounterpart: ReadonlySet<string> = new Set([
  ...["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree", "Skill", "SlashCommand"],
  ...["ListMcpResourcesTool", "ReadMcpResourceTool", "ToolSearch", "TaskOutput", "TaskStop", "LSP", "Monitor"],
  ...["AgentOutputTool", "SendMessage", "TeamCreate", "TeamDelete", "Config", "StructuredOutput"],
  ...["ask_user", "enter_plan_mode", "exit_plan_mode", "activate_skill", "get_internal_docs", "complete_task"],
  ...["problems", "githubRepo", "new", "newWorkspace", "openSimpleBrowser", "terminalLastCommand", "terminalSelection"],
  ...["searchResults", "vscodeAPI", "extensions", "getTerminalOutput", "getTaskOutput", "installExtension"],
  ...["getProjectSetupInfo", "newJupyterNotebook", "runVscodeCommand", "runCommand", "switchAgent", "askQuestions"],
  ...["getNotebookSummary", "readNotebookCellOutput", "memory", "selection", "think", "simpleBrowser", "pullRequests"],
]);

/**
 * Explains an item of a list of tools that means no tool of this machine; null if it means one.
 *
 * @example
 * explainUnknownTool("Raed", specs)?.fix; // "did you mean read?"
 * explainUnknownTool("ExitPlanMode", specs)?.reason; // "which has no counterpart here"
 */
export function explainUnknownTool(item: string, specs: readonly ToolSpec[]): UnknownTool | null {
  const known = [...specs, ...delegateNames.map((name) => ({ name, groups: [] }))];
  const reserved = new Set(specs.map(({ name }) => name));
  const name = toolOfItem(item);
  if (item === "*" || known.some((spec) => namesTool([name], spec, reserved))) return null;
  const [, server] = /^mcp__(.+?)(?:__|$)/.exec(name) ?? [];
  if (server !== undefined) return unknownOfServer(name, server, specs);
  const short = withoutSet(name);
  const ours = Object.hasOwn(narrowerTools, short) ? narrowerTools[short] : undefined;
  if (ours !== undefined) {
    return {
      isForeign: true,
      reason: `which is not a tool of its own here: ${ours} does that, and more`,
      fix: `add ${ours} if the agent may use all of it, or remove ${item}`,
    };
  }
  if (toolsWithoutCounterpart.has(short)) {
    return { isForeign: true, reason: "which has no counterpart here", fix: `remove ${item}` };
  }
  const { tools, groups } = toolNames(specs);
  const words = name.split(" ");
  if (words.length > 1 && words.every((word) => known.some((spec) => namesTool([word], spec)))) {
    const fix = `separate the names with commas: ${words.join(", ")}`;
    return { isForeign: false, reason: "which is not a name of a tool", fix };
  }
  const [nearest] = nearestNames(name, [...tools, ...groups, ...aliasNames()], 1);
  const other = `remove it; the tools here: ${[...new Set([...tools, ...groups])].join(", ")}`;
  const fix = nearest === undefined ? other : `did you mean ${canonicalToolName(nearest)}?`;
  return { isForeign: false, reason: "but no tool here has that name", fix };
}

function unknownOfServer(name: string, server: string, specs: readonly ToolSpec[]): UnknownTool {
  const ofServer = specs.map((spec) => spec.name).filter((each) => each.startsWith(`mcp__${server}__`));
  if (ofServer.length === 0) {
    return {
      isForeign: false,
      reason: `but no MCP server ${JSON.stringify(server)} is configured here`,
      fix: `configure the server ${server}, or remove ${name}`,
    };
  }
  const [nearest] = nearestNames(name, ofServer, 1);
  return {
    isForeign: false,
    reason: `but the MCP server ${JSON.stringify(server)} has no such tool`,
    fix: nearest === undefined ? `use one of: ${ofServer.join(", ")}` : `did you mean ${nearest}?`,
  };
}
