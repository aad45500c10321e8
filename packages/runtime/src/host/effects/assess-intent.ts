import { Risk, Usage } from "@troupe/core";
import { Intent, openContext, recordsIntent, toRunError } from "@troupe/core/internal";
import { z } from "zod";
import { askModel } from "./ask-model.ts";
import type { Perform } from "./effect.ts";
import { assessByHandler } from "./handle-request.ts";
import { matchPatterns } from "./match-patterns.ts";

const Assessment = z.object({
  risk: Risk,
  expected_format: z.string(),
  success_criteria: z.string(),
  /** Null: all that the run may use. */
  tools: z.array(z.string()).nullable().default(null),
  params: z.record(z.string(), z.json()).default({}),
  on_error: z.string().default(""),
  notes: z.array(z.string()).default([]),
});

const system = `Before doing anything, assess the request below. Reply with one JSON object and nothing else:
{"risk": "low" | "medium" | "high", "expected_format": string, "success_criteria": string, "tools": string[],
"params": {"TOOL": {…}}, "on_error": string, "notes": string[]}
risk: low only reads, medium makes limited changes, high is external, in bulk, or hard to undo. tools: the tools that the
request needs, in the order of their calls. params: the arguments that the request already gives, by tool. on_error: what to
do if a call fails.`;

/**
 * Assesses the intent of a run whose agent asks for it. If the model fails or its reply is unusable, the direct intent
 * stays, with a note: the assessment never ends a run. The usage of the call is counted in every case.
 */
export const assessIntent: Perform<"assessIntent"> = async ({ maxOutputTokens }, scope) => {
  const { pin, request, openedAt } = scope;
  const direct = openContext({ request, pin, openedAt }).intent;
  if (scope.deps.replay && recordsIntent(pin)) return await recordedAssessment(scope);
  const { handler, intent } = pin.definition;
  if (intent === "patterns" && handler !== undefined) return assessed(await byHandler(direct, handler, scope), null);
  if (intent === "patterns") return assessed(byPatterns(direct, scope), null);
  if (maxOutputTokens === 0)
    return assessed(withNotes(direct, ["the intent was not assessed: no budget is left"]), null);
  let usage: Usage | null = null;
  try {
    const text = `${request.task}\n\nTools: ${pin.grant.tools.join(", ") || "none"}`;
    const reply = await askModel({ purpose: "intent", system, text, step: 1, maxOutputTokens }, scope);
    usage = reply.usage;
    return assessed(byModel(direct, Assessment.parse(JSON.parse(reply.text)), scope), usage);
  } catch (thrown) {
    return assessed(withNotes(direct, [`the intent was not assessed: ${toRunError(thrown, "model").message}`]), usage);
  }
};

type Scope = Parameters<typeof assessIntent>[1];

/** A request without a fitting pattern goes to the agent's model. */
async function byHandler(direct: Intent, handler: string, scope: Scope): Promise<Intent> {
  try {
    const intent = await assessByHandler(direct, handler, scope);
    if (intent === null) return withNotes(direct, [noPattern]);
    return typeof intent === "string" ? withNotes(direct, [intent]) : intent;
  } catch (thrown) {
    return withNotes(direct, [
      `the handler ${handler} could not read the request: ${toRunError(thrown, "tool_error").message}`,
    ]);
  }
}

/** A replay takes the recorded assessment: a later version may understand the request otherwise. */
async function recordedAssessment(scope: Scope) {
  const reply = await askModel({ purpose: "intent", system, text: "", step: 1, maxOutputTokens: 1 }, scope);
  const { intent, usage } = z.object({ intent: Intent, usage: Usage.nullable() }).parse(JSON.parse(reply.text));
  return assessed(intent, usage);
}

/** Journals contain this note. */
const noPattern = "no pattern of this domain fits the request";

function byModel(direct: Intent, assessment: z.infer<typeof Assessment>, scope: Scope): Intent {
  const { risk, expected_format, success_criteria, params, on_error } = assessment;
  const { tools, notes } = grantedTools(assessment.tools ?? direct.context.tools, scope);
  const intent = { ...direct, risk, expectedFormat: expected_format, successCriteria: success_criteria };
  const onError = on_error === "" ? [] : [`if a call fails: ${on_error}`];
  const context = { ...direct.context, tools, params };
  const way = recordsIntent(scope.pin) ? { by: "model" as const, errorPlan: on_error === "" ? [] : [on_error] } : {};
  return withNotes({ ...intent, ...way, context }, [...assessment.notes, ...onError, ...notes]);
}

function byPatterns(direct: Intent, scope: Scope): Intent {
  const match = matchPatterns(scope.pin.definition.patterns ?? [], scope.request.task);
  if (match.risk === null) return withNotes(direct, [noPattern]);
  const { tools, notes } = grantedTools(match.tools, scope);
  const way = recordsIntent(scope.pin) ? { by: "patterns" as const } : {};
  const context = { ...direct.context, tools };
  return withNotes({ ...direct, ...way, risk: match.risk, context }, [...match.notes, ...notes]);
}

/** The tools that the run may use, and a note for each of the others. */
function grantedTools(wanted: readonly string[], { pin: { grant } }: Scope): { tools: string[]; notes: string[] } {
  const [tools, missing] = [true, false].map((isGranted) =>
    wanted.filter((tool) => grant.tools.includes(tool) === isGranted),
  );
  return { tools: tools ?? [], notes: (missing ?? []).map((tool) => `${tool} is not granted to this run`) };
}

function assessed(intent: Intent, usage: Usage | null) {
  return { kind: "intent.assessed" as const, intent, usage };
}

function withNotes(intent: Intent, notes: string[]): Intent {
  return Intent.parse({ ...intent, context: { ...intent.context, notes: [...intent.context.notes, ...notes] } });
}
