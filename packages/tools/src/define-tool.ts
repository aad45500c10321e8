import { Risk, type RunError, RunFailure, type ToolContext, type ToolOutcome, ToolSpec } from "@troupe/core";
import type { EffectClass, FilePlan } from "@troupe/core/internal";
import { z } from "zod";

/** What a tool's work gives back; the host makes a `ToolOutcome` of it. */
export interface ToolResult extends Partial<Pick<ToolOutcome, "changes" | "seen" | "tests" | "artifacts">> {
  /** What the model reads. */
  output: string;
  /** Set when the work was done and came out badly; for work that could not be done, throw a `RunFailure`. */
  error?: z.input<typeof RunError>;
  /** Paths within the workspace. */
  filesCreated?: string[];
  filesModified?: string[];
}

interface ToolBasics<Input extends z.ZodObject> {
  name: string;
  /** When and how to use it: read by the model. */
  description: string;
  input: Input;
  /** Of the most harmless call. */
  risk: Risk;
  /** Risk of a call with these arguments. It can only raise what `risk` says; where it throws, the call is of high risk. */
  riskOf?(args: z.output<Input>, context: ToolContext): Risk;
  /** Why a person has to allow this call whatever its risk is; null where nothing but the risk counts. */
  consent?(args: z.output<Input>, context: ToolContext): string | null;
  /** @default [] */
  groups?: string[];
  /** Of what the model reads; the rest goes by reference. @default the host's */
  outputBytesMax?: number;
  run(args: z.output<Input>, context: ToolContext): Promise<ToolResult>;
}

type ToolEffect<Input extends z.ZodObject> =
  | {
      effect: "verifiable";
      /** What the call is about to do to files; it is journaled first, and handed to `run` and `verify` as `context.plan`. */
      plan?(args: z.output<Input>, context: ToolContext): Promise<FilePlan[]>;
      /** The result if the call really happened, null if it did not and can be run. */
      verify(args: z.output<Input>, context: ToolContext): Promise<ToolResult | null>;
    }
  | { effect: Exclude<EffectClass, "verifiable">; verify?: never; plan?: never };

export type ToolDefinition<Input extends z.ZodObject> = ToolBasics<Input> & ToolEffect<Input>;

/** A tool, whatever its arguments are. */
export interface Tool {
  readonly spec: ToolSpec;
  readonly outputBytesMax: number | null;
  /** Parses the arguments. Throws a `RunFailure` that lists the expected ones when they do not fit. */
  bind(args: unknown, context: ToolContext): BoundCall;
}

/** A call whose arguments have been parsed. */
export interface BoundCall {
  /** The tool's, raised by what these arguments would do. */
  readonly risk: Risk;
  /** Why a person has to allow it, whatever its risk is. */
  readonly consent: string | null;
  run(context: ToolContext): Promise<ToolResult>;
  /** Only for tools of class `verifiable`. */
  plan: ((context: ToolContext) => Promise<FilePlan[]>) | null;
  /** Only for tools of class `verifiable`. */
  verify: ((context: ToolContext) => Promise<ToolResult | null>) | null;
}

/**
 * Declares a tool. The JSON Schema that models are given is derived from the zod schema that its calls are parsed with.
 *
 * @example
 * const shout = defineTool({
 *   name: "shout",
 *   description: "Says a text in capitals.",
 *   input: z.strictObject({ text: z.string() }),
 *   risk: "low",
 *   effect: "read",
 *   run: async ({ text }) => ({ output: text.toUpperCase() }),
 * });
 */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input, risk, riskOf, effect, groups = [], outputBytesMax = null } = definition;
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return {
    spec: ToolSpec.parse({ name, description, risk, effect, groups, inputSchema }),
    outputBytesMax,
    bind(args, context) {
      const parsed = input.safeParse(args);
      if (!parsed.success) throw badArguments(name, input, parsed.error);
      const { plan, verify } = definition;
      return {
        risk: riskOf ? raised(risk, () => riskOf(parsed.data, context)) : risk,
        consent: definition.consent?.(parsed.data, context) ?? null,
        run: (scope) => definition.run(parsed.data, scope),
        plan: plan ? (scope) => plan(parsed.data, scope) : null,
        verify: verify ? (scope) => verify(parsed.data, scope) : null,
      };
    },
  };
}

/** The higher of the two. What cannot be judged is taken for the worst. */
function raised(risk: Risk, ofArguments: () => Risk): Risk {
  try {
    const order = Risk.options;
    return order[Math.max(order.indexOf(risk), order.indexOf(ofArguments()))] ?? "high";
  } catch {
    return "high";
  }
}

function badArguments(tool: string, input: z.ZodObject, error: z.ZodError): RunFailure {
  const problems = error.issues.slice(0, 3).map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`);
  return new RunFailure({
    type: "params",
    tool,
    message: `the arguments of ${tool} do not fit (${problems.join("; ")}); expected fields: ${expectedFields(input)}`,
    recoverable: false,
  });
}

function expectedFields(input: z.ZodObject): string {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: "input" });
  return Object.entries(properties)
    .map(([field, schema]) => {
      const type = typeof schema === "object" && typeof schema.type === "string" ? ` ${schema.type}` : "";
      return `${field} (${required.includes(field) ? "required" : "optional"}${type})`;
    })
    .join(", ");
}
