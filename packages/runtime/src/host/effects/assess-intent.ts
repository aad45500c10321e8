import { Intent, openContext, Risk, toRunError } from "@troupe/core";
import { z } from "zod";
import type { EffectScope, Perform } from "./effect.ts";

const Assessment = z.object({
  risk: Risk,
  expected_format: z.string(),
  success_criteria: z.string(),
  notes: z.array(z.string()).default([]),
});

const question = `Before doing anything, assess the request below. Reply with one JSON object and nothing else:
{"risk": "low" | "medium" | "high", "expected_format": string, "success_criteria": string, "notes": string[]}
low: only reads. medium: limited changes. high: external, in bulk, or hard to undo.`;

/**
 * The intent of a run whose definition asks for more than the request's own words. A reply that cannot be used, or a
 * model that fails, leaves the direct intent, with a note that says so: assessing never ends a run.
 */
export const assessIntent: Perform<"assessIntent"> = async (_effect, scope) => {
  const { pin, request, openedAt } = scope;
  const direct = openContext({ request, pin, openedAt }).intent;
  if (pin.definition.intent === "patterns") {
    return { kind: "intent.assessed", intent: withNotes(direct, ["no pattern of this domain fits the request"]) };
  }
  try {
    const { risk, expected_format, success_criteria, notes } = await ask(scope);
    const assessed = { ...direct, risk, expectedFormat: expected_format, successCriteria: success_criteria };
    return { kind: "intent.assessed", intent: withNotes(assessed, notes) };
  } catch (thrown) {
    const note = `the intent was not assessed: ${toRunError(thrown, "model").message}`;
    return { kind: "intent.assessed", intent: withNotes(direct, [note]) };
  }
};

async function ask({ world, pin, request, signal }: EffectScope): Promise<z.infer<typeof Assessment>> {
  const { session, run, agent, task, attempt } = request;
  const reply = await world.models.call(
    {
      model: pin.model,
      system: question,
      messages: [{ role: "user", text: request.task }],
      tools: [],
      origin: { session, run, agent, task, attempt, step: 1 },
    },
    { signal, onDelta: () => {} },
  );
  return Assessment.parse(JSON.parse(reply.text));
}

function withNotes(intent: Intent, notes: string[]): Intent {
  return Intent.parse({ ...intent, context: { ...intent.context, notes: [...intent.context.notes, ...notes] } });
}
