import { existsSync } from "node:fs";
import { exitCodes, TroupeError } from "@troupe/core";
import { type Config, userConfigFile } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Cell, layout } from "../render/layout.ts";
import { configuredModel, createConfiguration, linesToAdd, templateWithModel } from "../setup/configuration.ts";
import { findAgents } from "../setup/find-agents.ts";
import { findModels } from "../setup/find-models.ts";
import { findNats } from "../setup/find-nats.ts";
import { finding, type SetupFinding } from "../setup/finding.ts";
import type { Output } from "../terminal/terminal.ts";
import { askLine } from "./ask-secret.ts";

export interface SetupFlags {
  /** Writes without a question. */
  yes: boolean;
  dryRun: boolean;
  json: boolean;
}

/** The user's configuration, and the outcome of the command for it. */
interface ConfigurationState {
  path: string;
  /** `kept`: it existed. `not-written`: a dry run, no answer, or no model. */
  outcome: "written" | "kept" | "not-written";
  /** Lines that an existing file lacks. */
  add: string[];
}

/**
 * `troupe setup`: finds keys, servers and agents on this machine, tests them live, and writes a configuration. Never overwrites
 * one. Returns 0 if a model works.
 */
export async function setup(cli: Cli, flags: SetupFlags): Promise<number> {
  const { out } = cli.terminal;
  const path = userConfigFile(cli);
  const existed = existsSync(path);
  const { config, env, problem } = await readUsable(cli, path);
  const findings = [
    problem ?? describeFile(path, existed),
    ...(await findModels({ ...cli, env }, config)),
    await findNats(cli, env),
    ...(await findAgents(cli)),
  ];
  if (!flags.json) for (const line of render(findings, out)) out.line(line);
  const model = await chooseDefault(cli, { config, findings, flags });
  const outcome = model === null || existed ? null : await write(cli, { path, model, flags });
  const state: ConfigurationState = {
    path,
    outcome: existed ? "kept" : (outcome ?? "not-written"),
    add: existed ? linesToAdd(config, model) : [],
  };
  if (flags.json) out.line(jsonLine({ ok: model !== null, model, configuration: state, findings }));
  else for (const line of summarise(state, model, flags)) out.line(line);
  return cli.interrupts.exitCode() ?? (model === null ? exitCodes.NO_PROVIDER : 0);
}

interface Writing {
  path: string;
  model: string;
  flags: SetupFlags;
}

async function write(cli: Cli, { path, model, flags }: Writing): Promise<ConfigurationState["outcome"]> {
  if (!(await isWanted(cli, path, flags))) return "not-written";
  // Another process can have created the file since.
  return (await createConfiguration(path, templateWithModel(model))) ? "written" : "kept";
}

interface Usable {
  config: Config;
  /** The environment with which the configuration can be read. */
  env: NodeJS.ProcessEnv;
  /** Why the user's file is not used. */
  problem: SetupFinding | null;
}

/** Without a readable file of the user, the variables alone are read. */
async function readUsable({ composition, home, env, cwd }: Cli, path: string): Promise<Usable> {
  // This file does not exist: only `troupe setup` and `config init` accept that TROUPE_CONFIG names none.
  const bare = { ...env, TROUPE_CONFIG: "", XDG_CONFIG_HOME: `${path}.none` };
  const read = (from: NodeJS.ProcessEnv) => composition.readConfig({ home, env: from, cwd, workspace: null });
  if (!existsSync(path)) return { config: await read(bare), env: bare, problem: null };
  try {
    return { config: await read(env), env, problem: null };
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    const problem = finding("configuration", "configuration", "fails", { detail: message, fix: fix ?? `edit ${path}` });
    return { config: await read(bare), env: bare, problem };
  }
}

function describeFile(path: string, exists: boolean): SetupFinding {
  const detail = exists ? `${path} is valid` : `${path} does not exist yet`;
  return finding("configuration", "configuration", exists ? "works" : "absent", { detail });
}

interface SetupResult {
  config: Config;
  findings: readonly SetupFinding[];
  flags: SetupFlags;
}

/** The configured model if it works, else the first that works; at a terminal the user chooses among several. */
async function chooseDefault(cli: Cli, { config, findings, flags }: SetupResult): Promise<string | null> {
  const working = findings.flatMap(({ status, model }) => (status === "works" && model !== null ? [model] : []));
  const ready = (id: string) => config.providers.some(({ settings, isImplied }) => !isImplied && isOf(id, settings.id));
  // A key that the user set is preferred to a server that happens to run.
  const ordered = [...working.filter(ready), ...working.filter((id) => !ready(id))];
  const [first = null] = ordered;
  const configured = configuredModel(config);
  if (configured !== null && ordered.includes(configured)) return configured;
  const mayAsk = !flags.yes && !flags.json && !flags.dryRun && ordered.length > 1;
  const answer = mayAsk ? await askLine(cli, `default model: ${ordered.map(cleanLine).join(", ")}`, first) : first;
  if (answer === null) return first;
  if (ordered.includes(answer)) return answer;
  throw new TroupeError("USAGE", `${JSON.stringify(answer)} is none of the models that work`, {
    fix: `answer one of: ${ordered.join(", ")}`,
  });
}

function isOf(model: string, provider: string): boolean {
  return model.startsWith(`${provider}/`);
}

async function isWanted(cli: Cli, path: string, { yes, dryRun, json }: SetupFlags): Promise<boolean> {
  if (dryRun || yes) return yes && !dryRun;
  if (json || !cli.keyboard.isTerminal) return false;
  cli.terminal.err.line(`write ${cleanLine(path)}? [Y/n]`);
  const key = await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal);
  cli.interrupts.signal.throwIfAborted();
  return key !== null && key !== "n";
}

const glyphs = { works: "✓ works", fails: "✗ fails", absent: "– none" } as const;

function render(findings: readonly SetupFinding[], { colours, width }: Output): string[] {
  const paints = { works: colours.green, fails: colours.red, absent: colours.dim };
  const rows = findings.map(({ status, name, detail }): Cell[] => [
    { text: glyphs[status], paint: paints[status] },
    { text: cleanLine(name) },
    { text: cleanLine(detail) },
  ]);
  return layout([{}, {}, { flexible: true }], rows, width).flatMap((line, i) => {
    const fix = findings[i]?.fix;
    const label = findings[i]?.status === "fails" ? "fix:" : "use:";
    return fix ? [line, `         ${colours.dim(label)} ${cleanLine(fix)}`] : [line];
  });
}

function summarise({ path, outcome, add }: ConfigurationState, model: string | null, flags: SetupFlags): string[] {
  if (model === null) return ["", "no model works yet. Begin with one of these:", ...beginnings];
  const next = `next: troupe run "what is in this folder?"`;
  if (outcome === "written") return ["", `wrote ${path} with model: ${cleanLine(model)}`, next];
  if (outcome === "kept" && add.length === 0) return ["", `${path} was not changed; nothing is missing`, next];
  if (outcome === "kept") return ["", `${path} was not changed. Set in it:`, ...add.map((line) => `  ${line}`), next];
  const why = flags.dryRun ? "a dry run writes nothing" : "nothing was written";
  return ["", `${why}. To write ${path} with model: ${cleanLine(model)}`, "  troupe setup --yes"];
}

const beginnings = [
  "  export ANTHROPIC_API_KEY=…   # or OPENAI_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY; then: troupe setup",
  "  ollama pull qwen3            # a model on this machine, without a key; then: troupe setup",
  "  troupe demo                  # a scripted team, without a key and without cost",
];
