import { type Clock, type Logger, type ModelProvider, type ModelRequest, RunFailure, TroupeError } from "@troupe/core";
import { isReplayModel, providerOf, type ResolveModel } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import {
  createModelRouter,
  createPriceTable,
  createProvider,
  createReliableProvider,
  createScriptedProvider,
  type LocalServer,
  listModels,
  type ModelWarning,
  modelWarnings,
  ProviderLimits,
  type ProviderSettings,
  probeLocalServer,
  requireSdk,
  resolveAgentModel,
  resolveModelName,
  type Scenario,
} from "@troupe/models";
import type { ChooseModel } from "@troupe/runtime/internal";
import { type Config, type ConfigSource, findProvider } from "../config/config.ts";
import type { Provider } from "../config/providers.ts";
import { chooseModel, type ModelChoice, noReplay, providerLabel } from "./choose-model.ts";
import { createNoModel } from "./no-model.ts";

/** Providers, and the choice of a model for each session and agent. */
export interface Models {
  provider: ModelProvider;
  resolve: ResolveModel;
  choose: ChooseModel;
  /** The default provider and model for display; `model` is null if none is ready. */
  status: { provider: string; model: string | null; demo: boolean };
}

/** The models of a configuration, for listing and testing. Calls are not retried. */
export interface ModelAccess {
  provider: ModelProvider;
  /** The model names that a provider's server lists. Rejects with a `RunFailure`. */
  list(settings: ProviderSettings, options: { timeoutMs: number }): Promise<string[]>;
  /** Problems that a local server reports about a model, such as a short context. Never rejects. */
  serverWarnings(settings: ProviderSettings, model: string): Promise<ModelWarning[]>;
}

export interface ModelsOptions {
  config: ConfigSource;
  clock: Clock;
  logger: Logger;
  loadScenario(name: string): Promise<Scenario>;
  /** Providers of the program, beside the configured ones. */
  providers?: readonly ModelProvider[];
  /** The model of sessions that name none. @default the configured model */
  model?: string | undefined;
}

/**
 * Creates the providers of a configuration and the functions that choose among them. A call to a provider that is not
 * ready fails with a message that says what is missing.
 */
export async function openModels(given: ModelsOptions): Promise<Models> {
  const options = { ...given, config: withProviders(given.config, given.providers ?? []) };
  const { config: source, clock, logger, loadScenario, model: named = null } = options;
  const config = await source.at(null);
  for (const warning of config.warnings) logger.warn({ warning }, "configuration");
  const script = createScriptedProvider({ load: loadScenario, clock });
  const providers = [
    withRetries(script, clock),
    createNoModel(),
    ...(options.providers ?? []).map((provider) => withRetries(provider, clock)),
    ...config.providers.map((provider) => retryingAdapter(provider, clock)),
  ];
  return {
    provider: explainUnknownModels(createModelRouter(providers, { fallbacks: fallbacksOf(config) }), config),
    resolve: (request) => resolve(options, request),
    async choose({ model, workspace }) {
      const config = await source.at(workspace);
      const { id, demo, standsIn = false } = chooseModel(config, model ?? named);
      if (isReplayModel(id) && !options.providers?.some((own) => own.id === providerOf(id))) throw noReplay(id);
      const provider = findProvider(config, id);
      if (provider) await requireSdk(provider.settings.wire);
      await checkScenario(id, loadScenario);
      return { id, demo, ...(standsIn ? { standsIn } : {}) };
    },
    status: await statusOf(config, loadScenario, named),
  };
}

/** Adds the providers of the program to the known names. */
function withProviders(source: ConfigSource, providers: readonly ModelProvider[]): ConfigSource {
  if (providers.length === 0) return source;
  const ids = providers.map(({ id }) => id);
  return {
    async at(workspace) {
      const config = await source.at(workspace);
      return { ...config, names: { ...config.names, providers: [...ids, ...config.names.providers] } };
    },
  };
}

function withRetries(provider: ModelProvider, clock: Clock): ModelProvider {
  return createReliableProvider({ provider, limits: ProviderLimits.parse({}), clock, random: Math.random });
}

/** The same providers without retries, so that a test of a model shows the first failure. */
export function accessModels(config: Config): ModelAccess {
  const clock = systemClock();
  return {
    provider: createModelRouter(config.providers.map((provider) => adapterOf(provider, clock))),
    list: (settings, { timeoutMs }) => listModels(settings, { clock, timeoutMs }),
    serverWarnings: async (settings, name) => knownWarnings(await probeLocalServer(settings, { clock }), name),
  };
}

/** Leaves out warnings that rest on an assumed context size: a live test checks that. */
function knownWarnings(server: LocalServer | null, name: string): ModelWarning[] {
  const model = server?.models.find((each) => each.name === name);
  if (!server || !model || (model.contextTokens === null && model.tools !== false)) return [];
  return modelWarnings(server, model);
}

/** Adds the one layer that retries. Its limits apply to all agents of this process together. */
function retryingAdapter(provider: Provider, clock: Clock): ModelProvider {
  const adapter = adapterOf(provider, clock);
  if (provider.problem !== null) return adapter;
  return createReliableProvider({ provider: adapter, limits: provider.settings.limits, clock, random: Math.random });
}

/** The adapter of a provider. If the provider is not ready, each call fails with its problem and fix. */
function adapterOf({ settings, preset, problem }: Provider, clock: Clock): ModelProvider {
  const { id, models: overrides, isLocal } = settings;
  if (problem !== null) {
    const error = {
      type: "auth",
      message: `${problem.message}; ${problem.fix}`,
      recoverable: false,
      begun: false,
    } as const;
    const call = (): Promise<never> => Promise.reject(new RunFailure(error));
    return { id, call, priceOf: async () => null, serves: () => false };
  }
  // A second provider with the same preset has the prices of that preset.
  const prices = createPriceTable({ provider: preset ?? id, overrides, isLocal, clock });
  return createProvider({ settings, prices, clock });
}

/** Resolves the names in `fallbacks` to model ids. */
function fallbacksOf({ fallbacks, names }: Config): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fallbacks).map(([from, { value, origin }]) => {
      try {
        return [resolveModelName(from, names, null), resolveModelName(value, names, null)];
      } catch (error) {
        if (!TroupeError.is(error)) throw error;
        const fix = error.fix ?? "troupe models ls";
        throw new TroupeError("INVALID_CONFIG", `${origin.where}: fallbacks: ${error.message}`, { fix });
      }
    }),
  );
}

/** A call for an unknown model, such as one from an agent file, fails with a message that explains the name. */
function explainUnknownModels(router: ReturnType<typeof createModelRouter>, { names }: Config): ModelProvider {
  return {
    ...router,
    async call(request: ModelRequest, options) {
      if (router.providers.includes(providerOf(request.model) ?? "")) return router.call(request, options);
      throw unreachable(request, names);
    },
  };
}

function unreachable({ model, origin }: ModelRequest, names: Config["names"]): RunFailure {
  try {
    resolveModelName(model, names, null);
  } catch (error) {
    if (TroupeError.is(error)) {
      const message = `the agent ${origin.agent} names a model that is not available: ${error.message}; ${error.fix}`;
      return new RunFailure({ type: "params", message, recoverable: false, begun: false });
    }
  }
  return new RunFailure({ type: "params", message: `no provider for the model ${model}`, recoverable: false });
}

/** Never throws: an unknown name is returned unchanged, and the call explains the failure. */
async function resolve(
  { config: source, logger }: ModelsOptions,
  request: Parameters<ResolveModel>[0],
): Promise<string> {
  const { agent, inherited, workspace } = request;
  const config = await source.at(workspace).catch(async (error) => {
    logger.warn({ err: error, workspace }, "the project's configuration cannot be read and is ignored");
    return await source.at(null);
  });
  const role = Object.hasOwn(config.roles, agent) ? config.roles[agent] : undefined;
  const wanted = role?.value ?? request.wanted;
  try {
    const { id, warning } = resolveAgentModel(wanted, config.names, inherited);
    if (warning) logger.warn({ agent, wanted, fix: warning.fix }, warning.message);
    return id;
  } catch (error) {
    logger.warn({ err: error, agent, wanted }, "an agent names a model that no provider serves");
    return wanted;
  }
}

async function statusOf(
  config: Config,
  loadScenario: ModelsOptions["loadScenario"],
  named: string | null,
): Promise<Models["status"]> {
  let choice: ModelChoice;
  try {
    choice = chooseModel(config, named);
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    return { provider: `none: ${error.message}`, model: null, demo: false };
  }
  await checkScenario(choice.id, loadScenario);
  return { provider: providerLabel(choice), model: choice.id, demo: choice.demo };
}

const scripted = "scripted/";

/** Loads the scenario of a scripted model, so that an invalid one fails before the session starts. */
async function checkScenario(id: string, loadScenario: ModelsOptions["loadScenario"]): Promise<void> {
  if (id.startsWith(scripted)) await loadScenario(id.slice(scripted.length));
}
