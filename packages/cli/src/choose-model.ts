/** What answers sessions that name nothing themselves. */
export interface ModelChoice {
  /** Null while something real is configured that this version cannot reach. */
  model: { id: string; demo: boolean } | null;
  /** For people: what stands behind `provider:`. */
  label: string;
  missing?: { message: string; fix: string };
}

/** Variables that say that a real provider is wanted. Their values are never read further than "is there one". */
const realProviders = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
] as const;

const scripted = "scripted/";

/**
 * The demo answers only where nothing real is configured: a key in the environment switches it off, so that nobody
 * takes a script for a model.
 */
export async function chooseModel(
  env: NodeJS.ProcessEnv,
  loadScenario: (name: string) => Promise<unknown>,
): Promise<ModelChoice> {
  const wanted = env.TROUPE_MODEL;
  if (wanted?.startsWith(scripted)) {
    const name = wanted.slice(scripted.length);
    await loadScenario(name);
    return { model: { id: wanted, demo: true }, label: `scripted (${name}, offline)` };
  }
  const real = realModelWish(env);
  if (real === "TROUPE_MODEL") return unreachable(`TROUPE_MODEL=${wanted}`, real);
  if (real) return unreachable(real, real);
  return { model: { id: "scripted/demo", demo: true }, label: "demo (scripted, offline)" };
}

/** The variable that asks for a real model; null where the demo may answer. */
export function realModelWish(env: NodeJS.ProcessEnv): string | null {
  if (env.TROUPE_MODEL) return env.TROUPE_MODEL.startsWith(scripted) ? null : "TROUPE_MODEL";
  return realProviders.find((name) => env[name]) ?? null;
}

function unreachable(setting: string, variable: string): ModelChoice {
  return {
    model: null,
    label: `none (${setting} is set, but this version has no adapter for real models)`,
    missing: {
      message: `${setting} asks for a real model, and this version has no adapter for one; the demo never stands in for it`,
      fix: `env -u ${variable} troupe up   # for the scripted demo`,
    },
  };
}
