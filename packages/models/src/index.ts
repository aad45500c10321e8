export { createProvider, type ProviderOptions } from "./adapters.ts";
export { createLazyProvider } from "./lazy-provider.ts";
export { type ListModelsOptions, listModels } from "./list-models.ts";
export { type LocalModel, type LocalServer, type ModelTrap, type ServerKind, trapsOf } from "./local/local-model.ts";
export { type ProbeOptions, probeLocalServer } from "./local/probe.ts";
export { looksLikeKey, quoted } from "./looks-like-key.ts";
export {
  findCircle,
  type ModelNames,
  resolveForAgent,
  resolveModelName,
  type TierName,
  type Tiers,
  tierNames,
} from "./model-names.ts";
export {
  baseUrlFrom,
  isPresetId,
  type PresetId,
  type PresetOverrides,
  type ProviderPreset,
  presetSettings,
  presets,
} from "./presets.ts";
export { createPriceTable, type PriceTableOptions } from "./prices/price-table.ts";
export type { PriceTable } from "./prices.ts";
export { createModelRouter, type ModelRouter } from "./provider-registry.ts";
export { createReliableProvider, type ReliableOptions } from "./reliable/reliable-provider.ts";
export { Fault } from "./scenarios/fault.ts";
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
export { createScriptedProvider, type ScriptedProviderOptions } from "./scripted.ts";
export { KnownModel, ProviderLimits, type ProviderSettings, Wire } from "./settings.ts";
export { knownTiers } from "./tiers.ts";
