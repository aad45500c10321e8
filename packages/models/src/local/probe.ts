import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type { ProviderSettings } from "../settings.ts";
import type { Asking } from "./get-json.ts";
import type { LocalModel, LocalServer } from "./local-model.ts";
import { probeOllama, showOllamaModel } from "./ollama.ts";
import { probeList, probeLmStudio, probeOpenRouter } from "./server-apis.ts";

export interface ProbeOptions {
  /** Of one question; there are a few, several of them at once. @default 1500 */
  timeoutMs?: number;
  /** @default the machine's own */
  clock?: Clock;
  /** @default the machine's own */
  fetch?: typeof globalThis.fetch;
}

type Probed = Pick<ProviderSettings, "baseUrl" | "key">;

/**
 * What kind of server is at a base URL, which models it has, and what they are run with; null where there is none, or
 * one that says nothing. Never throws.
 *
 * @example
 * const server = await probeLocalServer(presetSettings("ollama"));
 * const traps = server?.models.flatMap((model) => trapsOf(server, model));
 */
export async function probeLocalServer(settings: Probed, options: ProbeOptions = {}): Promise<LocalServer | null> {
  const place = placeOf(settings);
  if (!place) return null;
  const asking = askingOf(settings, options);
  if (place.isOpenRouter) return probeOpenRouter(place.baseUrl, asking);
  // Asked together: whichever it is not answers with an error, or not at all.
  const [ollama, lmStudio, list] = await Promise.all([
    probeOllama(place.origin, asking),
    probeLmStudio(place.origin, asking),
    probeList(place.baseUrl, asking),
  ]);
  return ollama ?? lmStudio ?? list;
}

/** One model of a server, without going through all that it has where that can be helped. */
export async function probeLocalModel(
  settings: Probed,
  name: string,
  options: ProbeOptions = {},
): Promise<{ kind: LocalServer["kind"]; model: LocalModel } | null> {
  const place = placeOf(settings);
  if (!place) return null;
  const asking = askingOf(settings, options);
  const [shown, server] = await Promise.all([
    place.isOpenRouter ? null : showOllamaModel(place.origin, name, asking),
    place.isOpenRouter ? probeOpenRouter(place.baseUrl, asking) : probeLists(place, asking),
  ]);
  if (shown) return { kind: "ollama", model: shown };
  const model = server?.models.find((listed) => listed.name === name);
  return server && model ? { kind: server.kind, model } : null;
}

async function probeLists({ origin, baseUrl }: Place, asking: Asking): Promise<LocalServer | null> {
  const [lmStudio, list] = await Promise.all([probeLmStudio(origin, asking), probeList(baseUrl, asking)]);
  return lmStudio ?? list;
}

function askingOf(
  { key }: Probed,
  { timeoutMs = 1_500, clock = systemClock(), fetch = globalThis.fetch }: ProbeOptions,
): Asking {
  return { key, timeoutMs, clock, fetch };
}

interface Place {
  baseUrl: string;
  /** Where a server's own API begins: what stands before `/v1`. */
  origin: string;
  isOpenRouter: boolean;
}

function placeOf({ baseUrl }: Probed): Place | null {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  if (!url) return null;
  const whole = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  const isOpenRouter = url.hostname === "openrouter.ai" || url.pathname.startsWith("/api/v1");
  return { baseUrl: whole, origin: whole.replace(/\/v1$/, ""), isOpenRouter };
}

/** Addresses of this machine and of private networks. */
const nearbyHost = new RegExp(
  [
    ...[/^localhost$/, /^127(\.\d+){3}$/, /^10(\.\d+){3}$/, /^192\.168(\.\d+){2}$/],
    ...[/^172\.(1[6-9]|2\d|3[01])(\.\d+){2}$/, /^\[(::1\]|f[cd])/, /\.(local|lan|internal)$/],
  ]
    .map(({ source }) => source)
    .join("|"),
);

/** Whether its owner sits beside it, so that its models' windows are whatever somebody has set. */
export function isNearby({ isLocal, baseUrl }: Pick<ProviderSettings, "isLocal" | "baseUrl">): boolean {
  return isLocal || (baseUrl !== null && nearbyHost.test(URL.parse(baseUrl)?.hostname ?? ""));
}
