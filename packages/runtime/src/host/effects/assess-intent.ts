import { Risk, type Usage } from "@troupe/core";
import { Intent, openContext, toRunError } from "@troupe/core/internal";
import { z } from "zod";
import { askModel } from "./ask-model.ts";
import type { Perform } from "./effect.ts";
import { matchPatterns } from "./match-patterns.ts";

const Assessment = z.object({
  risk: Risk,
  expected_format: z.string(),
  success_criteria: z.string(),
  notes: z.array(z.string()).default([]),
});

const system = `Before doing anything, assess the request below. Reply with one JSON object and nothing else:
{"risk": "low" | "medium" | "high", "expected_format": string, "success_criteria": string, "notes": string[]}
low: only reads. medium: limited changes. high: external, in bulk, or hard to undo.`;

/**
 * Assesses the intent of a run whose agent asks for it. If the model fails or its reply is unusable, the direct intent
 * stays, with a note: the assessment never ends a run. The usage of the call is counted in every case.
 */
export const assessIntent: Perform<"assessIntent"> = async ({ maxOutputTokens }, scope) => {
  const { pin, request, openedAt } = scope;
  const direct = openContext({ request, pin, openedAt }).intent;
  if (pin.definition.intent === "patterns") return assessed(byPatterns(direct, scope), null);
  if (maxOutputTokens === 0)
    return assessed(withNotes(direct, ["the intent was not assessed: no budget is left"]), null);
  let usage: Usage | null = null;
  try {
    const reply = await askModel({ purpose: "intent", system, text: request.task, step: 1, maxOutputTokens }, scope);
    usage = reply.usage;
    const { risk, expected_format, success_criteria, notes } = Assessment.parse(JSON.parse(reply.text));
    const intent = { ...direct, risk, expectedFormat: expected_format, successCriteria: success_criteria };
    return assessed(withNotes(intent, notes), usage);
  } catch (thrown) {
    return assessed(withNotes(direct, [`the intent was not assessed: ${toRunError(thrown, "model").message}`]), usage);
  }
};

function byPatterns(
  direct: Intent,
  { pin: { definition, grant }, request }: Parameters<typeof assessIntent>[1],
): Intent {
  const { risk, tools, notes } = matchPatterns(definition.patterns ?? [], request.task);
  // Journals contain this note.
  if (risk === null) return withNotes(direct, ["no pattern of this domain fits the request"]);
  const granted = tools.filter((tool) => grant.tools.includes(tool));
  const missing = tools.filter((tool) => !granted.includes(tool)).map((tool) => `${tool} is not granted to this run`);
  const context = { ...direct.context, tools: granted };
  return withNotes({ ...direct, context, risk }, [...notes, ...missing]);
}

function assessed(intent: Intent, usage: Usage | null) {
  return { kind: "intent.assessed" as const, intent, usage };
}

function withNotes(intent: Intent, notes: string[]): Intent {
  return Intent.parse({ ...intent, context: { ...intent.context, notes: [...intent.context.notes, ...notes] } });
}
