import type { Message, ModelReply } from "@troupe/core";
import type { EffectScope } from "./effect.ts";
import { retrying } from "./retrying.ts";

export interface Question {
  purpose: "intent" | "summary";
  system: string;
  text: string;
  step: number;
  maxOutputTokens: number;
}

/** A model call beside the run's conversation: one question, one text, no tools, nothing shown. */
export function askModel(question: Question, scope: EffectScope): Promise<ModelReply> {
  const { deps, request, pin, signal } = scope;
  const { session, run, agent, task, attempt, depth } = request;
  const { purpose, system, text, step, maxOutputTokens } = question;
  const messages: Message[] = [{ role: "user", text }];
  return deps.models.call(
    {
      model: pin.model,
      system,
      messages,
      tools: [],
      maxOutputTokens,
      temperature: pin.temperature,
      // There is little room to answer in: it is not to be filled with thoughts. No word of it, where none was said.
      effort: pin.definition.effort === null ? null : "low",
      origin: { session, run, agent, task, attempt, depth, step, purpose },
    },
    { signal, onDelta: () => {}, onRetry: (retry) => scope.show(retrying(retry)) },
  );
}
