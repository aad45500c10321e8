import type { Message, ModelReply } from "@troupe/core";
import type { EffectScope } from "./effect.ts";

export interface Question {
  purpose: "intent" | "summary";
  system: string;
  text: string;
  step: number;
  maxOutputTokens: number;
}

/** A model call beside the run's conversation: one question, one text, no tools, nothing shown. */
export function askModel(question: Question, { world, request, pin, signal }: EffectScope): Promise<ModelReply> {
  const { session, run, agent, task, attempt, depth } = request;
  const { purpose, system, text, step, maxOutputTokens } = question;
  const messages: Message[] = [{ role: "user", text }];
  return world.models.call(
    {
      model: pin.model,
      system,
      messages,
      tools: [],
      maxOutputTokens,
      temperature: pin.temperature,
      origin: { session, run, agent, task, attempt, depth, step, purpose },
    },
    { signal, onDelta: () => {} },
  );
}
