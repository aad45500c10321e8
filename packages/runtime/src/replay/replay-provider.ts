import {
  type Entry,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  RunFailure,
  type Usage,
} from "@troupe/core";
import { type ModelPrice, openContext, recordsIntent } from "@troupe/core/internal";
import type { Recording } from "./recording.ts";

type Origin = ModelRequest["origin"];

export interface ReplayProviderOptions {
  recording: Recording;
  /** Called for a model call that was not recorded. The call stays open until it is aborted. */
  onUnanswered?(origin: Origin): void;
}

/**
 * Creates a model provider that answers each call with the recorded reply of the same run and step. It needs no network.
 *
 * @example
 * const recording = readRecording(await readFeed(journal), session);
 * const models = createReplayProvider({ recording });
 */
export function createReplayProvider({ recording, onUnanswered = () => {} }: ReplayProviderOptions): ModelProvider {
  const specsOf = (model: string) =>
    recording.items.flatMap((item) =>
      item.kind === "entry" && item.entry.kind === "run.opened" && item.entry.pin.model === model ? item.entry.pin : [],
    );
  return {
    id: "replay",
    async call({ origin }, { signal, onDelta }) {
      const reply = answerOf(recording, origin);
      if (reply) {
        if (reply.text !== "") onDelta(reply.text);
        return reply;
      }
      onUnanswered(origin);
      return await new Promise((_, reject) => {
        const stop = (): void => reject(stopped);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
      });
    },
    priceOf: async (model): Promise<ModelPrice | null> => specsOf(model)[0]?.price ?? null,
    contextOf: async (model) => specsOf(model)[0]?.contextTokens ?? null,
  };
}

const stopped = new RunFailure({ type: "cancelled", message: "the model call was stopped", recoverable: false });

/** The recorded reply, or null if none was recorded. Throws a recorded failure. */
function answerOf(recording: Recording, { run, step, purpose = "turn" }: Origin): ModelReply | null {
  if (purpose === "intent") return assessmentIn(recording.answerTo(run, "intent"), recording.entriesOf(run));
  if (purpose === "summary") {
    return summaryIn(recording.answerTo(run, `compact/${step}`) ?? recording.answerTo(run, `summary/${step}`));
  }
  const answer = recording.answerTo(run, `model/${step}`);
  if (answer?.kind === "model.failed") throw new RunFailure(answer.error);
  return answer?.kind === "model.replied" ? answer.reply : null;
}

const noSummary = /^the model gave no summary \(it stopped with "(.+)"\)$/;

/** Rebuilds the reply from which the recorded summary was made. */
function summaryIn(answer: Entry | undefined): ModelReply | null {
  if (answer?.kind !== "context.compacted" && answer?.kind !== "context.summarised") return null;
  const { text, usage, error } = answer;
  if (!error) return replyOf(text, usage);
  const [, stopReason] = noSummary.exec(error.message) ?? [];
  if (stopReason === undefined) throw new RunFailure(error);
  return { ...replyOf("", usage), stopReason: stopReason as ModelReply["stopReason"] };
}

/**
 * Rebuilds the reply from which the recorded assessment was made. An unusable reply was not recorded, so another unusable
 * reply takes its place.
 */
function assessmentIn(answer: Entry | undefined, [opened]: readonly Entry[]): ModelReply | null {
  if (answer?.kind !== "intent.assessed" || opened?.kind !== "run.opened") return null;
  const { intent, usage } = answer;
  if (recordsIntent(opened.pin)) return replyOf(JSON.stringify({ intent, usage }), nothing);
  const direct = openContext({ request: opened.request, pin: opened.pin, openedAt: opened.at }).intent;
  const notes = intent.context.notes.slice(direct.context.notes.length);
  const failure = notes.find((note) => note.startsWith(notAssessed))?.slice(notAssessed.length);
  if (failure !== undefined && !usage) throw new RunFailure({ type: "model", message: failure, recoverable: false });
  const { risk, expectedFormat, successCriteria, context } = intent;
  const { tools, params } = context;
  const assessment = {
    risk,
    expected_format: expectedFormat,
    success_criteria: successCriteria,
    tools,
    params,
    notes,
  };
  return replyOf(failure === undefined ? JSON.stringify(assessment) : "(not JSON)", usage ?? nothing);
}

export const notAssessed = "the intent was not assessed: ";
const nothing: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };

function replyOf(text: string, usage: Usage): ModelReply {
  return { text, calls: [], usage, stopReason: "end", model: "replay" };
}
