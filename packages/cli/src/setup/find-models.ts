import { toRunError } from "@troupe/core/internal";
import {
  type Config,
  createHomeRedactor,
  describeOrigin,
  type ModelAccess,
  type Provider,
  sizesOf,
  withoutPassword,
} from "troupe/internal";
import type { Cli } from "../cli.ts";
import { type Finding, probeModel } from "../models/probe-model.ts";
import { configuredModel } from "./configuration.ts";
import { finding, type SetupFinding } from "./finding.ts";

/** Local servers that are named even if they do not run. */
const shownLocalServers: readonly string[] = ["ollama", "lmstudio"];

/** Models of a server that are considered for the test. */
const consideredMax = 10;

/** Needs of an agent. `troupe models test` also tests the context of a model, which takes long. */
const testedParts: readonly Finding["name"][] = ["answer", "streaming", "usage", "tools"];

const namesOf: Record<string, string> = { ollama: "Ollama", lmstudio: "LM Studio", vllm: "vLLM" };

/** Tests each provider that has a key or an address, and the usual local servers: its list of models, and one model. */
export async function findModels(cli: Cli, config: Config): Promise<SetupFinding[]> {
  const access = await cli.composition.openModels(config);
  const redact = createHomeRedactor({ env: cli.env, providers: config.providers.map(({ settings }) => settings) });
  const found = await Promise.all(config.providers.map((provider) => findModel(cli, { config, provider, access })));
  // A server can repeat the key that it was sent.
  return found.flat().map((each) => ({ ...each, detail: redact.text(each.detail) }));
}

interface Candidate {
  config: Config;
  provider: Provider;
  access: ModelAccess;
}

async function findModel(cli: Cli, candidate: Candidate): Promise<SetupFinding[]> {
  const { provider, access } = candidate;
  const { settings, isImplied, problem } = provider;
  const { id } = settings;
  const name = namesOf[id] ?? id;
  if (problem) return [finding("provider", name, "fails", { detail: problem.message, fix: problem.fix })];
  try {
    const names = await access.list(settings, { timeoutMs: isImplied ? 1_000 : 10_000 });
    const model = await modelToTest(candidate, names);
    if (model === null && isImplied && names.length === 0 && !shownLocalServers.includes(id)) return [];
    if (model === null) {
      const fix = id === "ollama" ? "ollama pull qwen3" : `load a model in ${name}`;
      return [finding("provider", name, "fails", { detail: `${placeOf(provider)}: it has no model`, fix })];
    }
    return [await testModel(cli, candidate, { name, model })];
  } catch (thrown) {
    if (!isImplied) return [finding("provider", name, "fails", failureFacts(provider, thrown))];
    if (!shownLocalServers.includes(id)) return [];
    return [finding("provider", name, "absent", { detail: `no server at ${addressOf(provider)}` })];
  }
}

function failureFacts(provider: Provider, thrown: unknown): { detail: string; fix: string } {
  const { message, type } = toRunError(thrown, "model");
  const variable = provider.keyFrom ?? provider.settings.keyVariable;
  const isKey = (type === "auth" || type === "permission") && variable !== null;
  const fix = isKey ? `export ${variable}=<a key that is valid>` : `check the address ${addressOf(provider)}`;
  return { detail: message, fix };
}

/** The configured model of this provider, else its medium model, else the first that can call tools. */
async function modelToTest({ config, provider, access }: Candidate, names: readonly string[]): Promise<string | null> {
  const { settings } = provider;
  const configured = configuredModel(config);
  if (configured?.startsWith(`${settings.id}/`)) return configured;
  const medium = sizesOf(provider)?.sonnet;
  if (medium !== undefined) return `${settings.id}/${medium}`;
  for (const name of names.slice(0, consideredMax)) {
    const warnings = await access.serverWarnings(settings, name);
    if (warnings.length === 0) return `${settings.id}/${name}`;
  }
  return names[0] === undefined ? null : `${settings.id}/${names[0]}`;
}

async function testModel(
  cli: Cli,
  { provider, access }: Candidate,
  { name, model }: { name: string; model: string },
): Promise<SetupFinding> {
  const probe = probeModel({
    provider: access.provider,
    model,
    serverWarnings: null,
    timeoutMs: provider.settings.limits.idleTimeoutMs,
    signal: cli.interrupts.signal,
    monotonicMs: () => performance.now(),
  });
  for await (const { name: part, status, detail, fix } of probe) {
    if (!testedParts.includes(part)) break;
    // An agent works without streaming and without token counts.
    if (status !== "failed" || part === "streaming" || part === "usage") continue;
    const next = fix ?? `troupe models test ${model}`;
    return finding("provider", name, "fails", { detail: `${model}: ${part}: ${detail}`, fix: next, model });
  }
  cli.interrupts.signal.throwIfAborted();
  return finding("provider", name, "works", {
    detail: `${model} answers and calls tools, ${placeOf(provider)}`,
    model,
  });
}

function placeOf(provider: Provider): string {
  const { keyFrom, isImplied, origin } = provider;
  if (isImplied) return `at ${addressOf(provider)}`;
  return keyFrom === null ? `set up by ${describeOrigin(origin)}` : `with the key in ${keyFrom}`;
}

function addressOf({ settings: { baseUrl } }: Provider): string {
  return baseUrl === null ? "the vendor's address" : withoutPassword(baseUrl);
}
