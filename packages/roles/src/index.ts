export { type CompanySourceOptions, createCompanySource, shippedAgentsFolder } from "./company-source.ts";
export { type AgentFile, type AgentOrigin, type ParsedAgent, parseAgent } from "./parse-agent.ts";
export type { Place } from "./report.ts";
export { type Validation, validateAgents } from "./validate-agents.ts";
