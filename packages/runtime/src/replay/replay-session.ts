import type { AgentSource, Entry, FeedItem, Journal, ToolSpec } from "@troupe/core";
import type { Divergence } from "./divergence.ts";
import { type Recording, readFeed, readRecording } from "./recording.ts";
import { Replay } from "./replay.ts";
import { currentSources, recordedSources } from "./sources.ts";

export interface ReplayOptions {
  session: string;
  /** What was recorded: a journal, or the feed of one, as `readFeed` gives it. */
  from: Pick<Journal, "tail" | "watch"> | readonly FeedItem[];
  /** Agents of today. @default those that the runs were opened with */
  agentSource?: AgentSource;
  /** Tools of today, for the agents of today. @default those that the runs were opened with */
  tools?: readonly ToolSpec[];
}

export interface Replayed {
  session: string;
  /** Whether all that is recorded came about again. */
  same: boolean;
  /** What did, up to the divergence if there was one. */
  turns: number;
  runs: number;
  modelCalls: number;
  toolCalls: number;
  /** Whether the session had come to an end when it was recorded. */
  settled: boolean;
  divergence: Divergence | null;
}

/**
 * Runs a recorded session again, offline, with its recorded answers, and says where it first goes another way. Nothing
 * is called, no tool is run, no file is touched: models and tools say what they said, timers fire and people speak when
 * they did. What the machines make of it, and what they write, is done anew and compared with the record.
 *
 * @example
 * // A recorded session as a test: JSON.stringify(await readFeed(journal)) made the file.
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

/** Beside its turns a run asks its model for assessments and summaries: those that used something were calls. */
function isModelCall(entry: Entry): boolean {
  if (entry.kind === "model.replied" || entry.kind === "model.failed") return true;
  const isAside = ["intent.assessed", "context.summarised", "context.compacted"].includes(entry.kind);
  return isAside && "usage" in entry && (entry.usage?.inputTokens ?? 0) > 0;
}
