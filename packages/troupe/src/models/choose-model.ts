import { TroupeError } from "@troupe/core";
import { isOfflineModel, isReplayModel, providerOf } from "@troupe/core/internal";
import { resolveModelName } from "@troupe/models";
import type { ChooseModel, SessionModel } from "@troupe/runtime/internal";
import { type Config, findProvider } from "../config/config.ts";
import type { Origin } from "../config/origin.ts";
import { type Provider, sizesOf } from "../config/providers.ts";

/** The model of sessions that name none, with the origin of that choice. */
export interface ModelChoice extends SessionModel {
  origin: Origin;
}

/** Model id of the demo. */
export const demoModel = "scripted/demo";

/**
 * The model of a session: the named one, else the configured one, else a default of the first configured provider. The
 * demo answers only if no provider is configured, so that a script is never mistaken for a model. Throws `UNKNOWN_MODEL`
 * for an unknown name and `NO_PROVIDER` if the provider is not ready.
 *
 * @param named from a flag or a request; overrides the configuration
 */
export function chooseModel(config: Config, named: string | null = null): ModelChoice {
  const configured = named === null ? config.model : { value: named, origin: { from: "flag", where: "" } as const };
  if (configured !== null)
    return checkedChoice(config, resolveModelName(configured.value, config.names, null), configured.origin);
  const setUp = config.providers.filter(({ isImplied }) => !isImplied);
  if (setUp.length === 0)
    return { id: demoModel, demo: true, standsIn: true, origin: { from: "default", where: "no provider is set up" } };
  const ready = setUp.find((provider) => provider.problem === null && defaultOf(provider) !== null);
  const model = ready && defaultOf(ready);
  if (!ready || !model) throw noDefaultModel(setUp);
  return {
    id: `${ready.settings.id}/${model}`,
    demo: false,
    origin: { from: "default", where: describeDefault(ready) },
  };
}

/** The middle size of a known provider. */
function defaultOf(provider: Provider): string | null {
  return sizesOf(provider)?.sonnet ?? null;
}

function describeDefault({ settings, keyFrom, origin }: Provider): string {
  return keyFrom ? `${keyFrom} is set` : `${settings.id} is set up: ${origin.where}`;
}

function checkedChoice(config: Config, id: string, origin: Origin): ModelChoice {
  const provider = findProvider(config, id);
  if (provider?.problem) throw new TroupeError("NO_PROVIDER", provider.problem.message, { fix: provider.problem.fix });
  return { id, demo: isOfflineModel(id), origin };
}

/** The error for a recording as the model of a session: it answers only while it is replayed. */
export function noReplay(id: string): TroupeError {
  const session = id.slice(id.indexOf("/") + 1);
  return new TroupeError("UNKNOWN_MODEL", `"${id}" names a recording, which answers no new session`, {
    fix: `troupe sessions replay ${session || "<session>"}   # or name a model: troupe models ls`,
  });
}

/** The error for configured providers without a default model. The demo does not replace them. */
function noDefaultModel(setUp: readonly Provider[]): TroupeError {
  const broken = setUp.find(({ problem }) => problem !== null);
  const sound = setUp.find(({ problem }) => problem === null);
  if (!sound && broken?.problem) {
    return new TroupeError("NO_PROVIDER", broken.problem.message, { fix: broken.problem.fix });
  }
  const { settings, origin } = sound ?? { settings: { id: "provider" }, origin: { where: "" } };
  return new TroupeError(
    "NO_PROVIDER",
    `the provider ${settings.id} is set up (${origin.where}), but no model is configured; the demo never replaces a real provider`,
    { fix: `export TROUPE_MODEL=${settings.id}/<model>   # troupe models ls lists them` },
  );
}

/** The error for a program without a configured provider. */
export function noProvider(): TroupeError {
  return new TroupeError("NO_PROVIDER", "no model provider is set up", {
    fix: 'export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…, or pass createTroupe({ model: "scripted/demo" })',
  });
}

/** The demo script answers people who try the command line out. A program must ask for it by name. */
export function withoutDemo(choose: ChooseModel): ChooseModel {
  return async (request) => {
    const chosen = await choose(request);
    if (chosen.standsIn) throw noProvider();
    return chosen;
  };
}

/** Display name of the provider that answers. */
export function providerLabel({ id, demo }: SessionModel): string {
  if (id === demoModel) return "demo (scripted, offline)";
  if (isReplayModel(id)) return `replay (${id.slice(id.indexOf("/") + 1)}, offline)`;
  if (demo) return `scripted (${id.slice(id.indexOf("/") + 1)}, offline)`;
  return providerOf(id) ?? id;
}
