export { type ListModelsOptions, listModels } from "./list-models.ts";
export {
  type LocalModel,
  type LocalServer,
  type ModelWarning,
  modelWarnings,
  type ServerKind,
} from "./local/local-model.ts";
export { type ProbeOptions, probeLocalServer } from "./local/probe.ts";
export {
  type AgentModel,
  findCycle,
  type ModelNames,
  resolveAgentModel,
  resolveForAgent,
  resolveModelName,
  type TierName,
  type Tiers,
  tierNames,
} from "./model-names.ts";
export {
  baseUrlFrom,
  isPresetId,
  knownTiers,
  type PresetId,
  type PresetOverrides,
  type ProviderPreset,
  presetSettings,
  presets,
} from "./presets.ts";
export { createPriceTable, type PriceTable, type PriceTableOptions } from "./prices/price-table.ts";
export type { ProviderOptions } from "./provider-options.ts";
export { createReliableProvider, type ReliableOptions } from "./resilience/reliable-provider.ts";
export { createModelRouter, createProvider, type ModelRouter, requireSdk } from "./router.ts";
export {
  createScenarioLoader,
  listScenarios,
  loadScenario,
  parseScenario,
  type ScenarioFolders,
  shippedScenarioFolder,
} from "./scripted/load-scenario.ts";
export { Fault, Scenario, Script, ScriptedStep } from "./scripted/scenario.ts";
export { createScriptedProvider, type ScriptedProviderOptions } from "./scripted/scripted-provider.ts";
export { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "./scripted/select-reply.ts";
export { KnownModel, ProviderLimits, type ProviderSettings, Wire } from "./settings.ts";
export { looksLikeKey, quoted } from "./wire/redaction.ts";
