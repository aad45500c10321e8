import { RunError, Usage } from "@troupe/core";
import { durationSchema, ModelPrice, Token } from "@troupe/core/internal";
import { z } from "zod";
import { templateProblem } from "./templates.ts";

/** Text with templates that are filled in at run time. */
const Template = z.string().superRefine((text, context) => {
  const problem = templateProblem(text);
  if (problem) context.addIssue({ code: "custom", message: problem });
});

const ScriptedCall = z
  .strictObject({
    tool: z.string().min(1),
    args: z.json().default({}),
    /** Raw argument text as the API would send it, to script malformed arguments. */
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

/** Pieces in which a text is streamed: a number of them, or one per interval. Either way it takes the step's latency. */
const Deltas = z.union([
  z.int().positive(),
  z.strictObject({ pieces: z.int().positive() }),
  z.strictObject({ everyMs: durationSchema(z.number().positive()) }),
]);

/** Without the defaults of `Usage`: missing figures are estimated. */
const ScriptedUsage = z.strictObject({
  inputTokens: Usage.shape.inputTokens.unwrap().exactOptional(),
  outputTokens: Usage.shape.outputTokens.unwrap().exactOptional(),
  cachedTokens: Usage.shape.cachedTokens.unwrap().exactOptional(),
  cacheWriteTokens: Usage.shape.cacheWriteTokens.unwrap().exactOptional(),
  reasoningTokens: Usage.shape.reasoningTokens.unwrap().exactOptional(),
  costUsd: Usage.shape.costUsd.unwrap().exactOptional(),
});

const AfterPieces = z.strictObject({
  /** Pieces of the answer that are streamed first. */
  afterPieces: z.int().nonnegative(),
});

/** The ways in which a request can fail. A fault has at most one of them. */
const faultKinds = ["status", "stall", "cut", "halfOpen", "streamError", "notWhatItSays"] as const;

/**
 * A scripted failure of one request for a step. With `delayMs` alone the answer is only late. `code` is the vendor's
 * error code, as in `insufficient_quota`.
 *
 * @example
 * Fault.parse({ status: 429, retryAfterMs: 700 });
 */
export const Fault = z
  .strictObject({
    /** Delay before anything else happens. */
    delayMs: durationSchema(z.number().nonnegative().max(3_600_000)).exactOptional(),
    /** Refuses the request with this HTTP status. */
    status: z.int().min(400).max(599).exactOptional(),
    retryAfterMs: durationSchema(z.number().nonnegative()).exactOptional(),
    code: z.string().min(1).exactOptional(),
    message: z.string().min(1).exactOptional(),
    /** The server sends nothing more; the connection stays open. */
    stall: AfterPieces.exactOptional(),
    /** The connection is lost. */
    cut: AfterPieces.exactOptional(),
    /** The peer vanishes: it neither reads nor closes any more. */
    halfOpen: AfterPieces.exactOptional(),
    /** An error inside an answer that began well. */
    streamError: AfterPieces.extend({
      /** The HTTP status that the error stands for. */
      status: z.int().min(400).max(599).default(529),
      /** @default the vendors' error type for that status */
      type: z.string().min(1).exactOptional(),
      message: z.string().min(1).exactOptional(),
    }).exactOptional(),
    /** A success status with a body of another kind. */
    notWhatItSays: z.enum(["html", "json", "empty"]).exactOptional(),
  })
  .superRefine((fault, context) => {
    const given = faultKinds.filter((kind) => fault[kind] !== undefined);
    if (given.length > 1) {
      context.addIssue({ code: "custom", message: `a fault has one kind of failure, not ${given.join(" and ")}` });
    }
    if (given.length === 0 && fault.delayMs === undefined) {
      context.addIssue({ code: "custom", message: `a fault needs delayMs or one of ${faultKinds.join(", ")}` });
    }
    for (const name of ["retryAfterMs", "code", "message"] as const) {
      if (fault[name] === undefined || fault.status !== undefined) continue;
      context.addIssue({ code: "custom", message: `${name} needs a status`, path: [name] });
    }
  });
export type Fault = z.infer<typeof Fault>;

/**
 * One answer of the model.
 *
 * @example
 * ScriptedStep.parse({ latencyMs: 400, calls: [{ tool: "read", args: { path: "CHANGES.md" } }] });
 */
export const ScriptedStep = z
  .strictObject({
    latencyMs: durationSchema(z.number().nonnegative().max(3_600_000)).default(0),
    /** Reasoning of the model, as a thinking block. */
    thinking: Template.exactOptional(),
    text: Template.default(""),
    deltas: Deltas.default({ everyMs: 60 }),
    calls: z.array(ScriptedCall).default([]),
    /** The step fails with this error after the latency and after the streamed `text`. */
    error: RunError.pick({ type: true, message: true, retryAfterMs: true, tries: true, begun: true })
      .extend({ recoverable: z.boolean().default(false) })
      .strict()
      .optional(),
    /** @default an estimate of four characters per token, at the scenario's price */
    usage: ScriptedUsage.optional(),
    /** Faults of the first requests for this step, one per request. The next request is answered. */
    faults: z.array(Fault).max(100).exactOptional(),
    /** Only on the last step: it answers all later turns, too. */
    repeat: z.boolean().default(false),
  })
  .refine((step) => step.text !== "" || step.calls.length > 0 || step.error, "a step needs text, calls or error")
  .refine((step) => !(step.error && step.calls.length > 0), "a step that fails cannot make calls");
export type ScriptedStep = z.infer<typeof ScriptedStep>;

/** An answer outside the conversation: text only. */
const ScriptedAside = ScriptedStep.refine(
  (step) => step.calls.length === 0 && !step.repeat,
  "only text or error can be given here",
);

/** All answers of one agent to one kind of task. */
export const Script = z.strictObject({
  when: z
    .strictObject({
      /** Text that the task contains, or /a regular expression/. */
      task: z
        .string()
        .min(1)
        .superRefine((pattern, context) => {
          const problem = patternProblem(pattern);
          if (problem) context.addIssue({ code: "custom", message: problem });
        })
        .optional(),
      attempt: z.int().positive().optional(),
      depth: z.int().nonnegative().optional(),
      /** Whether the run is a further turn of a session. */
      continued: z.boolean().optional(),
    })
    .default({}),
  /** Answer to the question for the intent of the request: JSON in the form that the question asks for. */
  intent: ScriptedAside.optional(),
  /** Answer to the request for a summary of the conversation. */
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

/** Scripted answers of all agents of a run. The first script of an agent that matches gives the answer. */
export const Scenario = z.strictObject({
  name: Token,
  description: z.string().min(1),
  /** Whether its sessions are labelled as a demo. */
  demo: z.boolean().default(false),
  /** Price of its model, to try out budgets; null for an unknown price. */
  price: ModelPrice.nullable().default({ inputPerMillion: 0, outputPerMillion: 0 }),
  agents: z
    .record(Token, z.array(Script).min(1))
    .refine((agents) => Object.keys(agents).length > 0, "a scenario needs at least one agent"),
});
export type Scenario = z.infer<typeof Scenario>;

const regularExpression = /^\/(.+)\/([a-z]*)$/s;

/** Whether a task matches the pattern of a script: text that it contains, or a regular expression between slashes. */
export function taskMatches(pattern: string, task: string): boolean {
  const [, source, flags] = regularExpression.exec(pattern) ?? [];
  // Compiled for each test: a sticky or global expression has state that would change the second result.
  return source === undefined ? task.includes(pattern) : new RegExp(source, flags).test(task);
}

/** The reason why a pattern is invalid, or null. */
function patternProblem(pattern: string): string | null {
  try {
    taskMatches(pattern, "");
    return null;
  } catch (error) {
    return `not a regular expression: ${error instanceof Error ? error.message : error}`;
  }
}
