import { RunError, Usage } from "@troupe/core";
import { ModelPrice, Token } from "@troupe/core/internal";
import { z } from "zod";
import { Fault } from "./fault.ts";
import { matcherProblem } from "./task-matcher.ts";
import { templateProblem } from "./templates.ts";

/** Text in which templates stand for what is only known at run time. */
const Template = z.string().superRefine((text, context) => {
  const problem = templateProblem(text);
  if (problem) context.addIssue({ code: "custom", message: problem });
});

const ScriptedCall = z
  .strictObject({
    tool: z.string().min(1),
    args: z.json().default({}),
    /** The arguments as they come over the wire, where they are to be malformed. */
    rawArgs: z.string().exactOptional(),
  })
  .refine(
    ({ args, rawArgs }) => rawArgs === undefined || JSON.stringify(args) === "{}",
    "a call has args or rawArgs, not both",
  )
  .superRefine((call, context) => {
    const problem = templateProblem(call.args);
    if (problem) context.addIssue({ code: "custom", message: problem, path: ["args"] });
  });

/** How a text is streamed: in so many pieces, or a piece every so often. Either way it takes the step's latency. */
const Deltas = z.union([
  z.int().positive(),
  z.strictObject({ pieces: z.int().positive() }),
  z.strictObject({ everyMs: z.number().positive() }),
]);

/** Unwrapped, since a default would stand for what the estimate is meant to fill in. */
const ScriptedUsage = z.strictObject({
  inputTokens: Usage.shape.inputTokens.unwrap().exactOptional(),
  outputTokens: Usage.shape.outputTokens.unwrap().exactOptional(),
  cachedTokens: Usage.shape.cachedTokens.unwrap().exactOptional(),
  cacheWriteTokens: Usage.shape.cacheWriteTokens.unwrap().exactOptional(),
  reasoningTokens: Usage.shape.reasoningTokens.unwrap().exactOptional(),
  costUsd: Usage.shape.costUsd.unwrap().exactOptional(),
});

/** One answer of the model. */
export const ScriptedStep = z
  .strictObject({
    latencyMs: z.number().nonnegative().max(3_600_000).default(0),
    /** What is thought before it is said. */
    thinking: Template.exactOptional(),
    text: Template.default(""),
    deltas: Deltas.default({ everyMs: 60 }),
    calls: z.array(ScriptedCall).default([]),
    /** Fails after the latency, and after whatever `text` has been streamed by then. */
    error: RunError.pick({ type: true, message: true, retryAfterMs: true, tries: true, begun: true })
      .extend({ recoverable: z.boolean().default(false) })
      .strict()
      .optional(),
    /** @default an estimate of four characters a token, at the scenario's price */
    usage: ScriptedUsage.optional(),
    /** What becomes of the first requests for this step, one each; the next one is answered. */
    faults: z.array(Fault).max(100).exactOptional(),
    /** Only on the last step: it answers for ever. */
    repeat: z.boolean().default(false),
  })
  .refine((step) => step.text !== "" || step.calls.length > 0 || step.error, "a step needs text, calls or error")
  .refine((step) => !(step.error && step.calls.length > 0), "a step that fails cannot make calls");
export type ScriptedStep = z.infer<typeof ScriptedStep>;

/** An answer to a question beside the conversation: a text, and nothing else. */
const ScriptedAside = ScriptedStep.refine(
  (step) => step.calls.length === 0 && !step.repeat,
  "only text or error can be given here",
);

/** All answers of one agent to one sort of task. */
export const Script = z.strictObject({
  when: z
    .strictObject({
      /** A part of the task, or /a regular expression/. */
      task: z
        .string()
        .min(1)
        .superRefine((pattern, context) => {
          const problem = matcherProblem(pattern);
          if (problem) context.addIssue({ code: "custom", message: problem });
        })
        .optional(),
      attempt: z.int().positive().optional(),
      depth: z.int().nonnegative().optional(),
      /** Whether it is another turn of a session. */
      continued: z.boolean().optional(),
    })
    .default({}),
  /** What is said when the intent of the request is asked for: JSON, as that question wants it. */
  intent: ScriptedAside.optional(),
  /** What is said when the conversation so far is to be summed up. */
  summary: ScriptedAside.optional(),
  steps: z
    .array(ScriptedStep)
    .min(1)
    .superRefine((steps, context) => {
      for (const [i, step] of steps.slice(0, -1).entries()) {
        if (!step.repeat) continue;
        context.addIssue({ code: "custom", message: "only the last step can repeat", path: [i, "repeat"] });
      }
    }),
});
export type Script = z.infer<typeof Script>;

/** What the agents of a company say, given in advance. Of an agent's scripts the first that matches is its answer. */
export const Scenario = z.strictObject({
  name: Token,
  description: z.string().min(1),
  /** Whether sessions of it are labelled as a demo. */
  demo: z.boolean().default(false),
  /** What its model costs, for trying out budgets; null for a price that nobody knows. */
  price: ModelPrice.nullable().default({ inputPerMillion: 0, outputPerMillion: 0 }),
  agents: z
    .record(Token, z.array(Script).min(1))
    .refine((agents) => Object.keys(agents).length > 0, "a scenario needs at least one agent"),
});
export type Scenario = z.infer<typeof Scenario>;
