export { type AgentSourceOptions, createAgentSource, shippedAgentsFolder } from "./agent-source.ts";
export { type AgentFile, type AgentOrigin, type ParsedAgent, parseAgent } from "./parse-agent.ts";
export type { SourceLocation } from "./problem-report.ts";
export { type Validation, validateAgents } from "./validate-agents.ts";
