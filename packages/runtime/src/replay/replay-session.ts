import type { AgentSource, Entry, FeedItem, Journal, ToolSpec } from "@troupe/core";
import type { Divergence } from "./divergence.ts";
import { type Recording, readFeed, readRecording } from "./recording.ts";
import { Replay } from "./replay.ts";
import { currentSources, recordedSources } from "./sources.ts";

export interface ReplayOptions {
  session: string;
  /** The recording: a journal, or the feed of a journal as `readFeed` returns it. */
  from: Pick<Journal, "tail" | "watch"> | readonly FeedItem[];
  /** Replays with these agents. @default the agents that were pinned when the runs opened */
  agentSource?: AgentSource;
  /** Replays with these tools; needs `agentSource`. @default the tools that were pinned when the runs opened */
  tools?: readonly ToolSpec[];
}

export interface Replayed {
  session: string;
  /** Whether the replay wrote the same entries as the recording. */
  same: boolean;
  /** Counts up to the divergence, or of the whole session. */
  turns: number;
  runs: number;
  modelCalls: number;
  toolCalls: number;
  /** Whether the session had ended when it was recorded. */
  settled: boolean;
  divergence: Divergence | null;
}

/**
 * Runs a recorded session again, offline, and returns the first divergence. No model or tool is called and no file is
 * touched: their outcomes, timers and commands come from the recording. The machines run anew, and each entry that they
 * write is compared with the recorded one.
 *
 * @example
 * // A recorded session as a test. JSON.stringify(await readFeed(journal)) wrote the file.
 * const from = JSON.parse(await readFile("session.json", "utf8"));
 * const { same, divergence } = await replaySession({ session, from });
 * expect(divergence).toBeNull();
 */
export async function replaySession({ session, from, agentSource, tools }: ReplayOptions): Promise<Replayed> {
  const feed = "tail" in from ? await readFeed(from) : from;
  const recording = readRecording(feed, session);
  const sources = agentSource
    ? await currentSources(recording, { agentSource, tools: tools ?? null })
    : recordedSources(recording);
  const replay = new Replay(recording, sources);
  const divergence = await replay.play();
  return { session, same: divergence === null, ...countIn(recording), divergence };
}

function countIn(recording: Recording): Omit<Replayed, "session" | "same" | "divergence"> {
  const counts = { turns: 0, runs: 0, modelCalls: 0, toolCalls: 0, settled: true };
  for (const item of recording.items) {
    if (item.kind === "inbox") continue;
    const { entry } = item;
    if (entry.index > recording.endOf(entry.run)) continue;
    if (entry.kind === "run.opened") {
      counts.runs += 1;
      if (!entry.request.parent) counts.turns += 1;
      counts.settled &&= recording.entriesOf(entry.run).at(-1)?.kind === "run.settled";
    }
    if (isModelCall(entry)) counts.modelCalls += 1;
    if (entry.kind === "tool.finished") counts.toolCalls += 1;
  }
  return counts;
}

/** Assessments and summaries are model calls too, if they used tokens. */
function isModelCall(entry: Entry): boolean {
  if (entry.kind === "model.replied" || entry.kind === "model.failed") return true;
  const isAssessmentOrSummary = ["intent.assessed", "context.summarised", "context.compacted"].includes(entry.kind);
  return isAssessmentOrSummary && "usage" in entry && (entry.usage?.inputTokens ?? 0) > 0;
}
