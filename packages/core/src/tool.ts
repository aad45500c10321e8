/** The definition of a tool, and the parts that it needs. It loads a small part of core, so that programs with own tools start fast. */
export { Risk } from "./protocol/agent.ts";
export { DomainErrorType } from "./protocol/domain-response.ts";
export { RunFailure } from "./protocol/run-error.ts";
export { ToolSpec } from "./protocol/tool.ts";
export {
  type BoundCall,
  type CallRisk,
  type CommandText,
  defineTool,
  type Outward,
  type PreviewedCall,
  type Tool,
  type ToolDefinition,
  type ToolResult,
} from "./tool-definition/define-tool.ts";
