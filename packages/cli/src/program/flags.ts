import { isIP } from "node:net";
import { type PartialBudget, TroupeError } from "@troupe/core";
import {
  durationForms,
  leaseMsDefault,
  parseDuration,
  type SessionGrant,
  statsWindowMsMax,
} from "@troupe/core/internal";
import type { NatsFlags, ServeOptions } from "troupe/internal";
import type { NatsOptions } from "./shared-options.ts";

/** Parses a whole number within bounds. Throws `USAGE` with the value and the fix. */
export function parseWhole(flag: string, text: string, bounds: { min: number; max: number; fix: string }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  const wanted = `a whole number from ${bounds.min} to ${bounds.max}`;
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(text)} is not ${wanted}`, {
    fix: bounds.fix,
  });
}

/** 0 takes any free port. */
export function parsePort(text: string): number {
  return parseWhole("--port", text, { min: 0, max: 65_535, fix: "troupe up --port 4711" });
}

/** Parses a number of days, or a duration such as `36h`. Throws `USAGE` with the value and the fix. */
export function parseDays(flag: string, text: string): number {
  const days = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(days) && days >= 0) return days;
  const durationMs = parseDuration(text);
  if (durationMs !== null) return durationMs / msPerDay;
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(text)} is not a number of days or a duration`, {
    fix: `troupe nats purge ${flag} 36h`,
  });
}

const msPerDay = 86_400_000;

/** Parses a duration within bounds in milliseconds. Throws `USAGE` with the value, the accepted forms and the fix. */
function parseMs(flag: string, text: string, { min, max, fix }: { min: number; max: number; fix: string }): number {
  const value = parseDuration(text);
  if (value !== null && value >= min && value <= max) return value;
  const wanted = `a whole number from ${min} to ${max}: ${durationForms}`;
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(text)} is not ${wanted}`, { fix });
}

/** At most the longest delay of a Node timer. */
export function parseTimeoutMs(text: string): number {
  return parseMs("--timeout", text, { min: 1, max: 2_147_483_647, fix: 'troupe run "…" --timeout 5m' });
}

/** The time that a command looks back. `fix` is an example of the command. */
export function parseSince(text: string, fix = "troupe agents stats --since 30d"): number {
  return parseMs("--since", text, { min: 1, max: statsWindowMsMax, fix });
}

export function parseSeed(text: string): number {
  return parseWhole("--seed", text, { min: 0, max: 2_147_483_647, fix: "troupe office seed --seed 1" });
}

export function parseLimit(text: string): number {
  return parseWhole("--limit", text, { min: 1, max: 500, fix: "troupe sessions ls --limit 20" });
}

/** Newest lines of a log. */
export function parseLines(text: string): number {
  return parseWhole("--lines", text, { min: 0, max: 1_000_000, fix: "troupe logs --lines 100" });
}

export function parseStep(text: string): number {
  return parseWhole("--step", text, { min: 0, max: 1_000_000, fix: "troupe undo RUN --step 3" });
}

/** Accepts loopback addresses only, because the API can run commands on this machine. */
export function parseHost(text: string): string {
  if (text === "localhost" || text === "::1" || (isIP(text) === 4 && text.startsWith("127."))) return text;
  throw new TroupeError("USAGE", `--host ${JSON.stringify(text)} is not a loopback address`, {
    fix: "troupe up --host 127.0.0.1",
  });
}

/** The NATS flags. `--nats` and `--context` exclude each other. */
export function parseNats({ nats, context, namespace, place, lease }: NatsOptions): NatsFlags {
  if (nats !== undefined && context !== undefined) {
    throw new TroupeError("USAGE", "--nats and --context cannot be used together", { fix: "pass one of them" });
  }
  const fix = `pass a duration: --lease ${leaseMsDefault / 1_000}s`;
  const leaseMs = lease === undefined ? undefined : parseMs("--lease", lease, { min: 500, max: 600_000, fix });
  return { nats, context, namespace, locality: place, leaseMs };
}

/** The agents that a process serves, and its capacity. */
export function parseWork(
  { agents, capacity }: { agents: string; capacity: string },
  { command, mayBeNone }: { command: string; mayBeNone: boolean },
): ServeOptions {
  const fix = `troupe ${command} --capacity 8`;
  const serve = agents.trim() === "all" ? "all" : parseAgentNames("--agents", agents);
  if (serve.length === 0 && !mayBeNone) {
    throw new TroupeError("USAGE", "--agents is empty", { fix: `troupe ${command} --agents coder,tester` });
  }
  return { serve, capacity: parseWhole("--capacity", capacity, { min: 1, max: 10_000, fix }) };
}

/** The team of `troupe teams use`; null for `--none`. */
export function parseTeamChoice(name: string | undefined, none: boolean): string | null {
  if ((name === undefined) === none) return name ?? null;
  throw new TroupeError("USAGE", none ? "a team and --none cannot be used together" : "name a team, or pass --none", {
    fix: "troupe teams use coding   # or: troupe teams use --none",
  });
}

/** The budget flags of `troupe run` as text. */
export interface BudgetFlags {
  maxTokens?: string;
  maxCost?: string;
  maxToolCalls?: string;
  maxRuns?: string;
}

/** The given limits only. 0 tool calls or sub-runs are allowed; 0 tokens or dollars would allow no work at all. */
export function parseBudget({ maxTokens, maxCost, maxToolCalls, maxRuns }: BudgetFlags): PartialBudget {
  const fix = 'troupe run "…" --max-tokens 200000 --max-cost 0.50 --max-tool-calls 100 --max-runs 10';
  const whole = (flag: string, text: string, min: number) => parseWhole(flag, text, { min, max: 1e12, fix });
  return {
    ...(maxTokens === undefined ? {} : { tokens: whole("--max-tokens", maxTokens, 1) }),
    ...(maxCost === undefined ? {} : { costUsd: parseDollars("--max-cost", maxCost, fix) }),
    ...(maxToolCalls === undefined ? {} : { toolCalls: whole("--max-tool-calls", maxToolCalls, 0) }),
    ...(maxRuns === undefined ? {} : { spawns: whole("--max-runs", maxRuns, 0) }),
  };
}

function parseDollars(flag: string, text: string, fix: string): number {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0) return value;
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(text)} is not an amount of US dollars above 0`, { fix });
}

export interface GrantFlags {
  tools?: string;
  denyTools?: string;
  agents?: string;
  denyAgents?: string;
}

/** The given restrictions only. An empty list allows no tool; a missing list restricts nothing. */
export function parseGrant({ tools, denyTools, agents, denyAgents }: GrantFlags): SessionGrant {
  return {
    ...(tools === undefined ? {} : { tools: parseNames("--tools", tools) }),
    ...(denyTools === undefined ? {} : { denyTools: parseNames("--deny-tools", denyTools) }),
    ...(agents === undefined ? {} : { agents: parseAgentNames("--agents", agents) }),
    ...(denyAgents === undefined ? {} : { denyAgents: parseAgentNames("--deny-agents", denyAgents) }),
  };
}

/** Agents can be written as `team/agent`. */
function parseAgentNames(flag: string, text: string): string[] {
  return parseNames(flag, text, /^[\w*.-]+(\/[\w*.-]+)?$/);
}

function parseNames(flag: string, text: string, form = /^[\w*.-]+$/): string[] {
  if (text.trim() === "") return [];
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => form.test(name))) return [...new Set(names)];
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(text)} is not a list of names separated by commas`, {
    fix: `troupe run "…" ${flag} ${flag.endsWith("tools") ? "read,write" : "coder,tester"}`,
  });
}
