import { exitCodes, TroupeError } from "@troupe/core";
import { type ModelPrice, toRunError } from "@troupe/core/internal";
import { resolveModelName, tierNames } from "@troupe/models";
import {
  type Config,
  chooseModel,
  createHomeRedactor,
  describeOrigin,
  findProvider,
  type ModelAccess,
  type ModelChoice,
  type Provider,
  withoutPassword,
} from "troupe/internal";
import type { Cli } from "../cli.ts";
import { type Finding, probeModel } from "../models/probe-model.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Cell, layout } from "../render/layout.ts";
import type { Output } from "../terminal/terminal.ts";

interface ListedModel {
  id: string;
  price: ModelPrice | null;
  contextTokens: number | null;
}

interface ListedProvider {
  id: string;
  wire: string;
  baseUrl: string | null;
  /** The variable that holds its key; null if there is none. */
  key: string | null;
  origin: string;
  /** Why it cannot answer. */
  problem: { message: string; fix: string | null } | null;
  models: ListedModel[];
}

/** Models shown for one provider, because some list hundreds. */
const modelsShown = 25;

/** `troupe models ls`: lists providers, models and prices, and the default model. */
export async function listModels(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const config = await configHere(cli);
  const access = await cli.composition.openModels(config);
  const listed = await Promise.all(config.providers.map((provider) => describeProvider(provider, access)));
  // An implied local server is listed only if it answers.
  const providers = listed.filter(({ models }, i) => !config.providers[i]?.isImplied || models.length > 0);
  const chosen = defaultOf(config);
  const aliases = aliasesOf(config, "id" in chosen ? chosen.id : null);
  if (flags.json) {
    const named = "id" in chosen ? { id: chosen.id, origin: chosen.origin } : null;
    out.line(jsonLine({ default: named, aliases, providers }));
    return 0;
  }
  for (const line of render({ providers, chosen, aliases }, out)) out.line(line);
  return 0;
}

async function describeProvider({ settings, origin, problem, keyFrom, isImplied }: Provider, access: ModelAccess) {
  const { id, wire, baseUrl } = settings;
  const known = {
    id,
    wire,
    baseUrl: baseUrl === null ? null : withoutPassword(baseUrl),
    key: keyFrom,
    origin: describeOrigin(origin),
  };
  if (problem) return { ...known, problem, models: [] };
  try {
    const names = await access.list(settings, { timeoutMs: isImplied ? 500 : 5_000 });
    const models = await Promise.all(names.map((name) => factsOf(`${id}/${name}`, access)));
    return { ...known, problem: null, models };
  } catch (thrown) {
    return { ...known, problem: { message: toRunError(thrown, "model").message, fix: null }, models: [] };
  }
}

async function factsOf(id: string, { provider }: ModelAccess): Promise<ListedModel> {
  const [price, contextTokens] = await Promise.all([provider.priceOf(id), provider.contextOf?.(id) ?? null]);
  return { id, price, contextTokens };
}

function defaultOf(config: Config): ModelChoice | { problem: TroupeError } {
  try {
    return chooseModel(config);
  } catch (error) {
    return { problem: toTroupeError(error) };
  }
}

/** The models behind the aliases, for a session with the default model. */
function aliasesOf({ names }: Config, inherited: string | null): Record<string, string> {
  const aliases = [...new Set([...Object.keys(names.aliases), ...tierNames])];
  return Object.fromEntries(
    aliases.flatMap((alias) => {
      try {
        return [[alias, resolveModelName(alias, names, inherited)]];
      } catch {
        return [];
      }
    }),
  );
}

interface ModelListing {
  providers: ListedProvider[];
  chosen: ReturnType<typeof defaultOf>;
  aliases: Record<string, string>;
}

function render({ providers, chosen, aliases }: ModelListing, out: Output): string[] {
  const { colours, width } = out;
  const name = (text: string): Cell => ({ text, paint: colours.bold });
  const dim = (text: string): Cell => ({ text, paint: colours.dim });
  const head: Cell[][] =
    "id" in chosen
      ? [[name("default"), { text: cleanLine(chosen.id) }, dim(describeOrigin(chosen.origin))]]
      : [[name("default"), { text: "none" }, dim(cleanLine(chosen.problem.message))]];
  const sizes = Object.entries(aliases).map(([alias, id]): Cell[] => [
    name(alias),
    { text: cleanLine(id) },
    dim("alias"),
  ]);
  return [
    ...layout([{}, {}, { flexible: true }], [...head, ...sizes], width),
    ...providers.flatMap((provider) => ["", ...renderProvider(provider, out)]),
  ];
}

function renderProvider({ id, wire, baseUrl, key, origin, problem, models }: ListedProvider, out: Output): string[] {
  const { colours, width } = out;
  const facts = [wire, baseUrl ?? "the vendor's address", key ? `key in ${key}` : "no key", origin];
  const title = `${colours.bold(id)}  ${colours.dim(cleanLine(facts.join(" · ")))}`;
  if (problem) {
    const line = `  ${colours.yellow("!")} ${cleanLine(problem.message)}`;
    return [title, line, ...(problem.fix ? [`    ${colours.dim("fix:")} ${cleanLine(problem.fix)}`] : [])];
  }
  const rows = models.slice(0, modelsShown).map(({ id: model, price, contextTokens }): Cell[] => [
    { text: `  ${cleanLine(model)}` },
    { text: contextTokens === null ? "" : `${contextTokens.toLocaleString("en")} tokens` },
    {
      text: price ? `$${price.inputPerMillion} in, $${price.outputPerMillion} out` : "price unknown",
      paint: colours.dim,
    },
  ]);
  const more = models.length - modelsShown;
  return [
    title,
    ...layout([{}, { align: "right" }, {}], rows, width),
    ...(more > 0 ? [colours.dim(`  and ${more} more: troupe models ls --json`)] : []),
  ];
}

/** `troupe models test`: calls a model and checks that agents can use it. */
export async function testModel(cli: Cli, named: string | null, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const config = await configHere(cli);
  const { id, demo } = chooseModel(config, named);
  const provider = findProvider(config, id);
  if (demo || !provider) {
    throw new TroupeError("NO_PROVIDER", `${id} is a scripted model; it cannot be tested`, {
      fix: "troupe models test <provider/model>   # troupe models ls lists them",
    });
  }
  const findings: Finding[] = [];
  if (!flags.json) out.line(out.colours.bold(cleanLine(id)));
  const access = await cli.composition.openModels(config);
  const { settings } = provider;
  const isOwn = settings.isLocal || settings.baseUrl?.startsWith("http:") === true;
  const probe = probeModel({
    provider: access.provider,
    model: id,
    serverWarnings:
      isOwn && settings.wire !== "anthropic"
        ? () => access.serverWarnings(settings, id.slice(settings.id.length + 1))
        : null,
    timeoutMs: settings.limits.idleTimeoutMs,
    signal: cli.interrupts.signal,
    monotonicMs: () => performance.now(),
  });
  // A server can repeat the key that it was sent.
  const redact = createHomeRedactor({ env: cli.env, providers: config.providers.map((each) => each.settings) });
  for await (const found of probe) {
    const finding = { ...found, detail: redact.text(found.detail) };
    findings.push(finding);
    if (!flags.json) for (const line of renderFinding(finding, out)) out.line(line);
  }
  const ok = findings.every(({ status }) => status !== "failed");
  if (flags.json) out.line(jsonLine({ model: id, ok, findings }));
  return cli.interrupts.exitCode() ?? exitCodeOf(findings);
}

function renderFinding({ name, status, detail, fix }: Finding, { colours }: Output): string[] {
  const styles = { ok: colours.green("✓ ok"), failed: colours.red("✗ failed"), skipped: colours.dim("– skipped") };
  const line = `  ${styles[status]}  ${name}: ${cleanLine(detail)}`;
  return fix ? [line, `    ${colours.dim("fix:")} ${cleanLine(fix)}`] : [line];
}

function exitCodeOf(findings: readonly Finding[]): number {
  const first = findings.find(({ status }) => status === "failed");
  if (!first) return 0;
  if (first.type === "auth" || first.type === "permission") return exitCodes.UNAUTHORIZED;
  if (first.type === "network" || first.type === "timeout") return exitCodes.UNREACHABLE;
  return exitCodes.NO_PROVIDER;
}

function configHere({ composition, home, env, cwd }: Cli): Promise<Config> {
  return composition.readConfig({ home, env, cwd, workspace: cwd });
}
