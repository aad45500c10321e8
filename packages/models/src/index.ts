export { createProvider, type ProviderOptions } from "./create-provider.ts";
export { createLazyProvider } from "./lazy-provider.ts";
export { type ListModelsOptions, listModels } from "./list-models.ts";
export { type LocalModel, type LocalServer, type ModelTrap, type ServerKind, trapsOf } from "./local/local-model.ts";
export { type ProbeOptions, probeLocalServer } from "./local/probe.ts";
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
export { createReliableProvider, type ReliableOptions } from "./resilience/reliable-provider.ts";
export { createModelRouter, type ModelRouter } from "./router.ts";
export { Fault } from "./scripted/fault.ts";
export {
  createScenarioLoader,
  listScenarios,
  loadScenario,
  type ScenarioFolders,
  shippedScenarioFolder,
} from "./scripted/load-scenario.ts";
export { parseScenario } from "./scripted/parse-scenario.ts";
export { Scenario, Script, ScriptedStep } from "./scripted/scenario.ts";
export { createScriptedProvider, type ScriptedProviderOptions } from "./scripted/scripted-provider.ts";
export { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "./scripted/select-reply.ts";
export { KnownModel, ProviderLimits, type ProviderSettings, Wire } from "./settings.ts";
export { knownTiers } from "./tiers.ts";
export { looksLikeKey, quoted } from "./wire/looks-like-key.ts";
