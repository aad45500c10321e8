import { RunFailure, type ToolContext } from "@troupe/core";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { listFiles, type Ripgrep } from "../ripgrep.ts";
import { shownPath } from "../ripgrep-output.ts";
import {
  countTerms,
  type Evidence,
  findDefinitions,
  findImporters,
  type RecentChanges,
  readRecentChanges,
  type TimedSearch,
} from "./evidence.ts";
import { type Goal, goalOf } from "./goal.ts";
import { importNamesOf, isEntryPoint, type RankedFile, rankFiles, withRelatedFiles } from "./rank-files.ts";

export interface PlanFilesOptions {
  ripgrep: Ripgrep;
  sandbox: Sandbox;
  /** Time limit of the searches. Ranking takes less time than that. @default 4000 */
  searchMs?: number;
}

/** How many of the best files have their tests and importers added. */
const bestMax = 8;
const entryPointsShown = 8;
const reasonLengthMax = 240;
const historyMsMax = 2_000;

/** Suggests where to start: the files that are relevant for a goal, and why. */
export function createPlanFilesTool({ ripgrep, sandbox, searchMs = 4_000 }: PlanFilesOptions): Tool {
  return defineTool({
    name: "plan_files",
    description:
      "Ranks files by their relevance for a goal, with reasons, so that you know where to start reading. State the " +
      "goal in a sentence with the terms that the code would use.",
    input: z.strictObject({
      goal: z.string().min(1).max(4_000),
      limit: z.int().min(1).max(50).default(12),
    }),
    risk: "low",
    effect: "read",
    groups: ["search", "filesystem"],
    async run({ goal: text, limit }, context) {
      const goal = goalOf(text);
      const budget = createTimeBudget(searchMs);
      const { workspace, signal } = context;
      const { paths, isCut } = await listFiles(ripgrep, {
        root: ".",
        ignored: false,
        workspace,
        signal,
        timeoutMs: searchMs,
      });
      const search = createTimedSearch(ripgrep, context, budget);
      const changes = await readRecentChanges({
        sandbox,
        workspace,
        signal,
        timeoutMs: Math.min(historyMsMax, budget.leftMs()),
      });
      const evidence = await gatherEvidence(goal, paths, search);
      const ranked = await rankAll(goal, { evidence, changes, search });
      const missed = [...(isCut ? ["some files: there are too many to list"] : []), ...evidence.missed];
      return { output: formatPlan(ranked, { goal, limit, evidence: { ...evidence, missed } }) };
    },
  });
}

interface TimeBudget {
  leftMs(): number;
}

function createTimeBudget(totalMs: number): TimeBudget {
  const untilMs = performance.now() + totalMs;
  return { leftMs: () => Math.max(0, Math.round(untilMs - performance.now())) };
}

/** A search that is out of time is not a failure. The output names it. */
function createTimedSearch(ripgrep: Ripgrep, { workspace, signal }: ToolContext, budget: TimeBudget): TimedSearch {
  return async (args, captureBytesMax) => {
    const timeoutMs = budget.leftMs();
    if (timeoutMs <= 0) return null;
    try {
      return await ripgrep.run(args, { workspace, signal, timeoutMs, captureBytesMax });
    } catch (error) {
      if (error instanceof RunFailure && error.runError.type === "timeout") return null;
      throw error;
    }
  };
}

async function gatherEvidence(goal: Goal, paths: string[], search: TimedSearch): Promise<Evidence> {
  const { definitions, missed } = await findDefinitions(goal, search);
  const counted = await countTerms(goal, search);
  return { paths, definitions, counts: counted.counts, missed: [...missed, ...counted.missed] };
}

async function rankAll(
  goal: Goal,
  { evidence, changes, search }: { evidence: Evidence; changes: RecentChanges; search: TimedSearch },
): Promise<RankedFile[]> {
  const ranked = await rankFiles(goal, evidence, changes);
  const best = ranked.slice(0, bestMax);
  const importers = await findImporters(importNamesOf(best), search);
  return withRelatedFiles(ranked, { best, paths: evidence.paths, importers, aboutTests: goal.aboutTests });
}

function formatPlan(
  ranked: readonly RankedFile[],
  { goal, limit, evidence }: { goal: Goal; limit: number; evidence: Evidence },
): string {
  const notes = evidence.missed.length > 0 ? [`[not searched, out of time: ${evidence.missed.join("; ")}]`] : [];
  const words = goal.terms.map(({ word }) => word).join(", ") || "no specific words";
  const best = ranked[0];
  if (!best) {
    const entries = evidence.paths.filter(isEntryPoint).sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
    const shown = entries.slice(0, entryPointsShown).map(shownPath).join(", ");
    const start = shown ? `; entry points: ${shown}` : "";
    return [`no file contains a word of the goal (searched for: ${words})${start}`, ...notes].join("\n");
  }
  const rows = ranked.slice(0, limit).map(({ path, score, reasons }, i) => {
    const text = reasons.join("; ");
    const why = text.length > reasonLengthMax ? `${text.slice(0, reasonLengthMax)}…` : text;
    return `${i + 1}. ${shownPath(path)} (${Math.round((100 * score) / best.score)}): ${why}`;
  });
  const total = `[${rows.length} of ${ranked.length} relevant files, of ${evidence.paths.length} in all; searched for: ${words}]`;
  return [...rows, total, ...notes].join("\n");
}

function depthOf(path: string): number {
  return path.split("/").length;
}
