import { TroupeError } from "@troupe/core";
import { isOfflineModel, providerOf } from "@troupe/core/internal";
import { resolveModelName } from "@troupe/models";
import type { SessionModel } from "@troupe/runtime/internal";
import { type Config, findProvider } from "../config/config.ts";
import type { Origin } from "../config/origin.ts";
import { type Provider, sizesOf } from "../config/providers.ts";

/** What answers sessions that name nothing themselves, and who says so. */
export interface ModelChoice extends SessionModel {
  origin: Origin;
}

/** What the demo is called as a model. */
export const demoModel = "scripted/demo";

/**
 * The model of a session: the one that is named, else a default of the first provider that is set up. The demo answers
 * only where nothing real is set up, so that nobody takes a script for a model. Throws `UNKNOWN_MODEL` for a name that
 * means nothing, `NO_PROVIDER` where something real is wanted that cannot be asked.
 *
 * @param named By a flag or a request: stronger than what is configured.
 */
export function chooseModel(config: Config, named: string | null = null): ModelChoice {
  const configured = named === null ? config.model : { value: named, origin: { from: "flag", where: "" } as const };
  if (configured !== null)
    return checkedChoice(config, resolveModelName(configured.value, config.names, null), configured.origin);
  const setUp = config.providers.filter(({ isImplied }) => !isImplied);
  if (setUp.length === 0) return { id: demoModel, demo: true, origin: { from: "default", where: "nothing is set up" } };
  const ready = setUp.find((provider) => provider.problem === null && defaultOf(provider) !== null);
  const model = ready && defaultOf(ready);
  if (!ready || !model) throw noDefaultModel(setUp);
  return {
    id: `${ready.settings.id}/${model}`,
    demo: false,
    origin: { from: "default", where: describeDefault(ready) },
  };
}

/** The middle size of a provider that is known by name. */
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

/** Something real is set up, and no model can be guessed from it: the demo does not stand in. */
function noDefaultModel(setUp: readonly Provider[]): TroupeError {
  const broken = setUp.find(({ problem }) => problem !== null);
  const sound = setUp.find(({ problem }) => problem === null);
  if (!sound && broken?.problem) {
    return new TroupeError("NO_PROVIDER", broken.problem.message, { fix: broken.problem.fix });
  }
  const { settings, origin } = sound ?? { settings: { id: "provider" }, origin: { where: "" } };
  return new TroupeError(
    "NO_PROVIDER",
    `the provider ${settings.id} is set up (${origin.where}), but no model is named; the demo never stands in for one`,
    { fix: `export TROUPE_MODEL=${settings.id}/<model>   # troupe models ls shows which there are` },
  );
}

/** How a provider is called where it answers: for people. */
export function providerLabel({ id, demo }: SessionModel): string {
  if (id === demoModel) return "demo (scripted, offline)";
  if (demo) return `scripted (${id.slice(id.indexOf("/") + 1)}, offline)`;
  return providerOf(id) ?? id;
}
