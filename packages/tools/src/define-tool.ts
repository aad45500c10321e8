export { type BoundCall, defineTool, type Tool, type ToolDefinition, type ToolResult } from "@troupe/core/tool";
