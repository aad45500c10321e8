import { RunFailure, type ToolContext } from "@troupe/core";
import { z } from "zod";
import { defineTool, type Tool } from "../../define-tool.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { listFiles } from "../list-files.ts";
import type { Ripgrep } from "../ripgrep.ts";
import { shownPath } from "../ripgrep-output.ts";
import { countTerms, type Evidence, findDefinitions, findImporters, type Look } from "./evidence.ts";
import { isEntryPoint } from "./file-kind.ts";
import { type Goal, goalOf } from "./goal-terms.ts";
import { type RankedFile, rankFiles } from "./rank-files.ts";
import { type History, recentChanges } from "./recent-changes.ts";
import { subjectsOf, withRelated } from "./related-files.ts";

export interface PlanFilesOptions {
  ripgrep: Ripgrep;
  sandbox: Sandbox;
  /** How long it may look; to rank what it found takes less. @default 4000 */
  lookMs?: number;
}

/** Whose tests and importers are looked for. */
const bestMax = 8;
const entryPointsShown = 8;
const reasonLengthMax = 240;
const historyMsMax = 2_000;

/** Says where to begin: the files that bear on a goal, and why. */
export function createPlanFilesTool({ ripgrep, sandbox, lookMs = 4_000 }: PlanFilesOptions): Tool {
  return defineTool({
    name: "plan_files",
    description:
      "Ranks the workspace's files by how much they bear on a goal, each with the reasons: words of the goal in names, " +
      "definitions and content, tests and importers of such files, recent commits. Say the goal in a sentence with the " +
      "terms that the code would use. Use it before reading, to decide where to begin.",
    input: z.strictObject({
      goal: z.string().min(1).max(4_000).describe("What is to be done or found out"),
      limit: z.int().min(1).max(50).default(12).describe("How many files to show"),
    }),
    risk: "low",
    effect: "read",
    groups: ["search", "filesystem"],
    async run({ goal: text, limit }, context) {
      const goal = goalOf(text);
      const time = timeFor(lookMs);
      const { workspace, signal } = context;
      const { paths, isCut } = await listFiles(ripgrep, {
        root: ".",
        ignored: false,
        workspace,
        signal,
        timeoutMs: lookMs,
      });
      const look = lookIn(ripgrep, context, time);
      const history = await recentChanges({
        sandbox,
        workspace,
        signal,
        timeoutMs: Math.min(historyMsMax, time.leftMs()),
      });
      const evidence = await evidenceOf(goal, paths, look);
      const ranked = await ranking(goal, { evidence, history, look });
      const missed = [...(isCut ? ["all files: there are too many to list"] : []), ...evidence.missed];
      return { output: shownPlan(ranked, { goal, limit, evidence: { ...evidence, missed } }) };
    },
  });
}

async function evidenceOf(goal: Goal, paths: string[], look: Look): Promise<Evidence> {
  const { definitions, missed } = await findDefinitions(goal, look);
  const counted = await countTerms(goal, look);
  return { paths, definitions, counts: counted.counts, missed: [...missed, ...counted.missed] };
}

async function ranking(
  goal: Goal,
  { evidence, history, look }: { evidence: Evidence; history: History; look: Look },
): Promise<RankedFile[]> {
  const ranked = await rankFiles(goal, evidence, history);
  const best = ranked.slice(0, bestMax);
  const importers = await findImporters(subjectsOf(best), look);
  return withRelated(ranked, { best, paths: evidence.paths, importers, aboutTests: goal.aboutTests });
}

/** Searches until the time is up; what then is missing is said, and is no failure. */
function lookIn(ripgrep: Ripgrep, { workspace, signal }: ToolContext, time: { leftMs(): number }): Look {
  return {
    async search(args, captureBytesMax) {
      const timeoutMs = time.leftMs();
      if (timeoutMs <= 0) return null;
      try {
        return await ripgrep.run(args, { workspace, signal, timeoutMs, captureBytesMax });
      } catch (error) {
        if (error instanceof RunFailure && error.runError.type === "timeout") return null;
        throw error;
      }
    },
  };
}

function timeFor(lookMs: number): { leftMs(): number } {
  const untilMs = performance.now() + lookMs;
  return { leftMs: () => Math.max(0, Math.round(untilMs - performance.now())) };
}

function shownPlan(
  ranked: readonly RankedFile[],
  { goal, limit, evidence }: { goal: Goal; limit: number; evidence: Evidence },
): string {
  const notes = evidence.missed.length > 0 ? [`[not looked at, for want of time: ${evidence.missed.join("; ")}]`] : [];
  const words = goal.terms.map(({ word }) => word).join(", ") || "none that tells";
  const best = ranked[0];
  if (!best) {
    const entries = evidence.paths.filter(isEntryPoint).sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
    const some = entries.slice(0, entryPointsShown).map(shownPath).join(", ");
    const begin = some ? `; a reader would begin with ${some}` : "";
    return [`no file has a word of the goal (looked for: ${words})${begin}`, ...notes].join("\n");
  }
  const rows = ranked.slice(0, limit).map(({ path, score, reasons }, i) => {
    const why = reasons.join("; ");
    const cut = why.length > reasonLengthMax ? `${why.slice(0, reasonLengthMax)}…` : why;
    return `${i + 1}. ${shownPath(path)} (${Math.round((100 * score) / best.score)}): ${cut}`;
  });
  const total = `[${rows.length} of ${ranked.length} files that have to do with it, of ${evidence.paths.length}; looked for: ${words}]`;
  return [...rows, total, ...notes].join("\n");
}

function depthOf(path: string): number {
  return path.split("/").length;
}
