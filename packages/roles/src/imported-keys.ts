import type { AgentDefinition } from "@troupe/core";
import { didYouMean } from "@troupe/core/internal";
import { formatValue, type ProblemReport } from "./problem-report.ts";
import type { Field, Fields } from "./yaml-fields.ts";

/** The settings that keys of Claude Code's agent files stand for. */
export interface ImportedSettings {
  /** Empty without a limit, so that the hash of other definitions stays the same. */
  permissionMode: Pick<AgentDefinition, "permissionMode">;
  /** Null without `isolation:`. */
  workspace: AgentDefinition["workspace"];
}

/** Modes that grant something in Claude Code. They never grant anything here. */
const wideningModes = ["acceptEdits", "auto", "bypassPermissions", "delegate", "dontAsk"];
const modes = ["default", "plan", ...wideningModes];

/** What a key would do, and what to write instead. Without these keys the agent is another one than its author meant. */
const unsupportedKeys: Readonly<Record<string, { effect: string; fix: string }>> = {
  skills: { effect: "loads no skill", fix: "write what the agent has to know into its prompt, or remove the line" },
  mcpServers: { effect: "connects to no MCP server", fix: "write a tool file into .troupe/tools, or remove the line" },
  hooks: {
    effect: "runs no hook",
    fix: "enforce the rule with tools, disallowedTools or policy.yaml, or remove the line",
  },
  "mcp-servers": {
    effect: "connects to no MCP server",
    fix: "write a tool file into .troupe/tools, or remove the lines",
  },
  handoffs: {
    effect: "hands over to no agent",
    fix: "name the agents that it may delegate to: subagents: {allow: [reviewer]}",
  },
  memory: {
    effect: "keeps no memory",
    fix: "grant the tool notes, which stores notes for later sessions, or remove the line",
  },
};

/**
 * Reads the keys of Claude Code's files that limit an agent, and warns of those that do nothing yet. A value that is not
 * known is an error: ignoring it could remove a limit. Returns null after an error; the report has it.
 */
export function readImported(fields: Fields, report: ProblemReport): ImportedSettings | null {
  for (const [key, { effect, fix }] of Object.entries(unsupportedKeys)) {
    const field = fields.get(key);
    if (field && !isEmpty(field.value)) {
      const message = `${key} has no effect yet: the agent ${effect}`;
      report.warn(field.keyOffset, { code: "unsupported-key", message, fix });
    }
  }
  const mode = readMode(fields.get("permissionMode"), report);
  const workspace = readIsolation(fields, report);
  if (mode === "invalid" || workspace === "invalid") return null;
  return { permissionMode: mode === "plan" ? { permissionMode: mode } : {}, workspace };
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === "" || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function readMode(field: Field | undefined, report: ProblemReport): "plan" | "invalid" | null {
  if (!field) return null;
  const { value } = field;
  if (value === "plan") return "plan";
  if (typeof value !== "string" || !modes.includes(value)) {
    report.error(field.valueOffset, {
      code: "invalid-value",
      message: `permissionMode is ${formatValue(value)}; expected ${modes.join(", ")}`,
      fix: didYouMean(String(value), modes) ?? "write permissionMode: plan, or remove the line",
    });
    return "invalid";
  }
  if (wideningModes.includes(value)) {
    report.warn(field.valueOffset, {
      code: "ignored-permission-mode",
      message: `permissionMode: ${value} has no effect; troupe still asks for approvals`,
      fix: "remove the line",
    });
  }
  return null;
}

function readIsolation(fields: Fields, report: ProblemReport): "worktree" | "invalid" | null {
  const field = fields.get("isolation");
  if (!field) return null;
  const { value } = field;
  if (value !== "worktree") {
    report.error(field.valueOffset, {
      code: "invalid-value",
      message: `isolation is ${formatValue(value)}; expected worktree`,
      fix: "write isolation: worktree, or remove the line",
    });
    return "invalid";
  }
  const own = workspaceOf(fields.get("troupe")?.value);
  if (own === undefined || own === null || own === "worktree") return "worktree";
  report.error(field.valueOffset, {
    code: "contradictory-isolation",
    message: `isolation: worktree contradicts workspace: ${formatValue(own)} below troupe:`,
    fix: "remove one of the two lines",
  });
  return "invalid";
}

function workspaceOf(troupe: unknown): unknown {
  return typeof troupe === "object" && troupe !== null && "workspace" in troupe ? troupe.workspace : undefined;
}
