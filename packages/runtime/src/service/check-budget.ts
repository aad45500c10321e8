import { type AgentRegistry, type RunRequest, TroupeError } from "@troupe/core";
import { type MissingBudget, missingBudget, openContext } from "@troupe/core/internal";
import { openingEntries } from "../host/claim/open-run.ts";
import type { HostDeps } from "../host/host-deps.ts";

/**
 * Throws `USAGE` if a limit of tokens or money is too low for the first turn of a request. The run would be paid for an
 * answer without work. An agent that only other hosts serve is not checked: its prompt and tools are known there.
 */
export async function checkBudget(deps: HostDeps, request: RunRequest, registry: AgentRegistry): Promise<void> {
  const agent = registry.find(request.agent);
  if (!agent || agent.source.origin === "remote") return;
  const { budget, limits } = request;
  const caps = [budget.tokens, budget.costUsd, limits.maxTokens, limits.maxCostUsd];
  const own = [agent.budget.tokens, agent.budget.costUsd, agent.limits.maxTokens, agent.limits.maxCostUsd];
  if ([...caps, ...own].every((cap) => cap === null || cap === undefined)) return;
  const [opened] = await openingEntries(deps, request, registry);
  if (opened?.kind !== "run.opened") return;
  const missing = missingBudget(openContext({ request, pin: opened.pin, openedAt: deps.clock.now() }));
  if (missing) throw tooSmall(missing, request, agent.source.path);
}

const names = {
  tokens: { budget: "token budget", flag: "--max-tokens", limit: "maxTokens" },
  costUsd: { budget: "cost budget", flag: "--max-cost", limit: "maxCostUsd" },
} as const;

function tooSmall(missing: MissingBudget, request: RunRequest, file: string): TroupeError {
  const { kind, withTools } = missing;
  const { budget, flag, limit } = names[kind];
  const [given, needed] = [textOf(missing.given, kind), textOf(roundedUp(missing), kind)];
  const what = withTools ? "one turn with its tools and the answer after it" : "one answer";
  const message = `the ${budget} of ${given} is too small: ${request.agent} needs at least ${needed} for ${what}`;
  const isRequested = [request.budget[kind], request.limits[limit]].includes(missing.given);
  const amount = kind === "tokens" ? String(missing.needed) : roundedUp(missing).toFixed(costDigits);
  return new TroupeError("USAGE", message, {
    fix: isRequested
      ? `troupe run "…" ${flag} ${amount} (more if further turns follow)`
      : `raise it in ${file} to ${amount} (more if further turns follow)`,
  });
}

/** Digits after the point. A first turn of a small model costs less than a cent. */
const costDigits = 4;

function roundedUp({ kind, needed }: MissingBudget): number {
  return kind === "tokens" ? needed : Math.ceil(needed * 10 ** costDigits) / 10 ** costDigits;
}

function textOf(value: number, kind: MissingBudget["kind"]): string {
  return kind === "tokens" ? `${value.toLocaleString("en-US")} tokens` : `$${Number(value.toFixed(6))}`;
}
