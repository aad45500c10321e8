export { createActorHost } from "./host/actor-host.ts";
export { createFolderBlobs } from "./blobs/folder.ts";
export { systemClock, systemIds } from "./clock.ts";
export { createModelRouter, type ModelRouter } from "./models/provider-registry.ts";
export { createScriptedProvider, type ScriptedProviderOptions } from "./models/scripted.ts";
export {
  createScenarioLoader,
  listScenarios,
  loadScenario,
  type ScenarioFolders,
  shippedScenarioFolder,
} from "./scenarios/load-scenario.ts";
export { parseScenario } from "./scenarios/parse-scenario.ts";
export { Scenario, Script, ScriptedStep } from "./scenarios/scenario.ts";
export { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "./scenarios/select-reply.ts";
export { type BoundCall, defineTool, type Tool, type ToolDefinition, type ToolResult } from "./tools/define-tool.ts";
export { readTool } from "./tools/read.ts";
export { shellTool } from "./tools/shell.ts";
export {
  createToolHost,
  defaultRiskPolicy,
  type RiskDecision,
  type RiskPolicy,
  type ToolHostOptions,
} from "./tools/tool-host.ts";
export { writeTool } from "./tools/write.ts";
