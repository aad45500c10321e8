export { type AgentFilesOptions, createAgentFiles } from "./agent-files.ts";
export { fixForKey, pathOfKey } from "./agent-keys.ts";
export {
  type AgentFileSource,
  type AgentSourceOptions,
  createAgentSource,
  shippedAgentsFolder,
} from "./agent-source.ts";
export { type AgentFileChanges, editAgentFile, readKeyValue } from "./edit-agent-file.ts";
export { type ImportedTeam, importSettings, type SettingsImport } from "./import-settings.ts";
export { type NewAgent, newAgentFile } from "./new-agent-file.ts";
export { type AgentFile, type AgentOrigin, type ParsedAgent, parseAgent } from "./parse-agent.ts";
export type { SourceLocation } from "./problem-report.ts";
export { type AgentRoles, readSettings, type SettingsFile, type SettingsRole } from "./settings-file.ts";
export { type Validation, validateAgents } from "./validate-agents.ts";
export { type TeamValidation, type ValidationOptions, validateTeams } from "./validate-teams.ts";
