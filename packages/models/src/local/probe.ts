import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type { ProviderSettings } from "../settings.ts";
import type { LocalModel, LocalServer, ServerKind } from "./local-model.ts";
import {
  type ProbeRequest,
  probeCompatible,
  probeLmStudio,
  probeOllama,
  probeOllamaModel,
  probeOpenRouter,
} from "./server-apis.ts";

export interface ProbeOptions {
  /** Time limit of one request. A probe makes a few, some of them at once. @default 1500 */
  timeoutMs?: number;
  /** @default the system clock */
  clock?: Clock;
  /** @default globalThis.fetch */
  fetch?: typeof globalThis.fetch;
}

type ServerAddress = Pick<ProviderSettings, "baseUrl" | "key">;

/**
 * Finds the kind of server at a base URL, and its models with their context windows. Null when there is no server, or
 * none that lists models. Never throws.
 *
 * @example
 * const server = await probeLocalServer(presetSettings("ollama"));
 * const warnings = server?.models.flatMap((model) => modelWarnings(server, model));
 */
export async function probeLocalServer(
  settings: ServerAddress,
  options: ProbeOptions = {},
): Promise<LocalServer | null> {
  const urls = probeUrlsOf(settings);
  if (!urls) return null;
  const probe = probeRequestOf(settings, options);
  if (urls.isOpenRouter) return probeOpenRouter(urls.baseUrl, probe);
  // All kinds at once: a server of another kind answers with an error, or not at all.
  const [ollama, lmStudio, compatible] = await Promise.all([
    probeOllama(urls.origin, probe),
    probeLmStudio(urls.origin, probe),
    probeCompatible(urls.baseUrl, probe),
  ]);
  return ollama ?? lmStudio ?? compatible;
}

/** A model, and the kind of server that has it. */
export interface ServedModel {
  kind: ServerKind;
  model: LocalModel;
}

/** Probes one model of a server. It reads the whole list of models only where the server has no other way. */
export async function probeLocalModel(
  settings: ServerAddress,
  name: string,
  options: ProbeOptions = {},
): Promise<ServedModel | null> {
  const urls = probeUrlsOf(settings);
  if (!urls) return null;
  const probe = probeRequestOf(settings, options);
  const [ofOllama, server] = await Promise.all([
    urls.isOpenRouter ? null : probeOllamaModel(urls.origin, name, probe),
    urls.isOpenRouter ? probeOpenRouter(urls.baseUrl, probe) : probeLists(urls, probe),
  ]);
  if (ofOllama) return { kind: "ollama", model: ofOllama };
  const model = server?.models.find((listed) => listed.name === name);
  return server && model ? { kind: server.kind, model } : null;
}

async function probeLists({ origin, baseUrl }: ProbeUrls, probe: ProbeRequest): Promise<LocalServer | null> {
  const [lmStudio, compatible] = await Promise.all([probeLmStudio(origin, probe), probeCompatible(baseUrl, probe)]);
  return lmStudio ?? compatible;
}

function probeRequestOf(
  { key }: ServerAddress,
  { timeoutMs = 1_500, clock = systemClock(), fetch = globalThis.fetch }: ProbeOptions,
): ProbeRequest {
  return { key, timeoutMs, clock, fetch };
}

interface ProbeUrls {
  baseUrl: string;
  /** URL of the server's own API: the base URL without `/v1`. */
  origin: string;
  isOpenRouter: boolean;
}

function probeUrlsOf({ baseUrl }: ServerAddress): ProbeUrls | null {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  if (!url) return null;
  const trimmed = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  const isOpenRouter = url.hostname === "openrouter.ai" || url.pathname.startsWith("/api/v1");
  return { baseUrl: trimmed, origin: trimmed.replace(/\/v1$/, ""), isOpenRouter };
}

/** Hosts of this machine and of private networks. */
const privateHost = new RegExp(
  [
    ...[/^localhost$/, /^127(\.\d+){3}$/, /^10(\.\d+){3}$/, /^192\.168(\.\d+){2}$/],
    ...[/^172\.(1[6-9]|2\d|3[01])(\.\d+){2}$/, /^\[(::1\]|f[cd])/, /\.(local|lan|internal)$/],
  ]
    .map(({ source }) => source)
    .join("|"),
);

/** Whether the server is the user's own or in a private network, where its owner sets the context windows. */
export function isPrivateServer({ isLocal, baseUrl }: Pick<ProviderSettings, "isLocal" | "baseUrl">): boolean {
  return isLocal || (baseUrl !== null && privateHost.test(URL.parse(baseUrl)?.hostname ?? ""));
}

/** A model may be reloaded with another context window. */
const cachedMs = 60_000;
/** A server that did not answer may be starting. */
const cachedUnknownMs = 5_000;

/**
 * Creates a cached `probeLocalModel`, so that many agents cause one probe. It never throws, and resolves to null when the
 * model is unknown.
 */
export function createModelProbe(
  settings: ServerAddress,
  { clock, fetch }: { clock: Clock; fetch: typeof globalThis.fetch },
): (name: string) => Promise<ServedModel | null> {
  const cache = new Map<string, { model: Promise<ServedModel | null>; untilMs: number }>();
  return async (name) => {
    const cached = cache.get(name);
    if (cached && clock.monotonicMs() < cached.untilMs) return cached.model;
    const model = probeLocalModel(settings, name, { clock, fetch });
    const entry = { model, untilMs: Number.POSITIVE_INFINITY };
    cache.set(name, entry);
    const found = await model;
    const isKnown = typeof found?.model.contextTokens === "number";
    entry.untilMs = clock.monotonicMs() + (isKnown ? cachedMs : cachedUnknownMs);
    return found;
  };
}
