import { z } from "zod";
import type { SimpleCommand } from "../permissions/command-pattern.ts";
import type { ToolContext } from "../ports/tool-host.ts";
import { Risk } from "../protocol/agent.ts";
import type { CallPreview } from "../protocol/call-preview.ts";
import { type RunError, RunFailure } from "../protocol/run-error.ts";
import { type EffectClass, type FilePlan, type ToolOutcome, ToolSpec } from "../protocol/tool.ts";
import { modelSchema } from "./model-schema.ts";

/** The result of a call. The host turns it into a `ToolOutcome`. */
export interface ToolResult extends Partial<Pick<ToolOutcome, "changes" | "seen" | "tests" | "artifacts" | "events">> {
  /** The text that the model reads. */
  output: string;
  /** Set it when the work was done with a bad result. When the work cannot be done, throw a `RunFailure` instead. */
  error?: z.input<typeof RunError>;
  /** Paths within the workspace. */
  filesCreated?: string[];
  filesModified?: string[];
  /** Where text of strangers in the output came from, such as the host of a page. @default none */
  untrusted?: string[];
  /** Sources of private data in the output. The host adds files whose names or contents say so. @default none */
  private?: string[];
  /** Files of the workspace whose text is in the output, if `seen` does not name them. @default none */
  reads?: string[];
}

/** Content of a call that leaves this machine. */
export interface Outward {
  /** The host that receives it; null if the call could reach any host. */
  host: string | null;
  /** The length of everything that the agent chose, such as the path and query of a URL. Null if it has no limit. */
  characters: number | null;
}

/**
 * A command of a call: a line for `/bin/sh`, the words of one program, or a program that can run any file of the workspace
 * and deletes none by itself. The folder is relative to the workspace.
 */
export type CommandText = ({ line: string } | { words: readonly string[] } | { runsAnyFile: true }) & {
  folder?: string;
};

/** The risk of one call. */
export interface CallRisk {
  risk: Risk;
  /** Why it is that high, for a person. Null for an ordinary call. */
  reason: string | null;
}

interface ToolBasics<Input extends z.ZodObject> {
  name: string;
  /** Tells the model when and how to use the tool. */
  description: string;
  input: Input;
  /** Risk of the most harmless call. */
  risk: Risk;
  /** Risk of a call with these arguments. It can only raise `risk`. When it throws, the risk is high. */
  riskOf?(args: z.output<Input>, context: ToolContext): Risk;
  /** The reason why a person must approve this call at any risk. Null where only the risk decides. */
  consent?(args: z.output<Input>, context: ToolContext): string | null;
  /** Content of a call with these arguments that leaves this machine. Null for none. @default null */
  outwardOf?(args: z.output<Input>, context: ToolContext): Outward | null;
  /** For a tool that runs commands: its commands. Null if they cannot be told. @default the tool runs no commands */
  commandsOf?(args: z.output<Input>): readonly SimpleCommand[] | null;
  /** For a tool that runs commands: the command, whose files the host looks at. @default it is not looked at */
  commandText?(args: z.output<Input>): CommandText;
  /** Whether a sandbox keeps that command inside of the workspace. @default false */
  contained?: boolean;
  /**
   * The message or event of a call, for the person who is asked to approve it. It must not change anything. The host asks for
   * it before the decision, and again right before the call starts: an approval is valid for the same preview only. Null: the
   * arguments are shown.
   * @default the arguments are shown
   */
  previewOf?(args: z.output<Input>, context: ToolContext): Promise<CallPreview | null>;
  /**
   * The risk of a call by its preview, because arguments do not tell all of it: the recipients of a reply are in the message.
   * It can only raise the risk.
   */
  riskOfPreview?(preview: CallPreview): CallRisk;
  /** Groups that grants and policies can name. @default [] */
  groups?: string[];
  /** Why calls fail on this host, such as a missing setting. Absent: the tool works. */
  unready?: string;
  /**
   * For a tool of a special task: only agents whose `tools` name it, or one of its groups, get it. Every request of an agent
   * pays for the description of each of its tools.
   * @default agents with all tools get it too
   */
  namedOnly?: true;
  /** False for an idempotent tool that changes no files of the workspace. @default the host looks for changed files */
  changesFiles?: false;
  /** Limit of the output that the model reads. The rest is stored. @default the limit of the host */
  outputBytesMax?: number;
  run(args: z.output<Input>, context: ToolContext): Promise<ToolResult>;
}

type ToolEffect<Input extends z.ZodObject> =
  | {
      effect: "verifiable";
      /** The file changes of the call. The host journals them first and passes them to `run` and `verify` as `context.plan`. */
      plan?(args: z.output<Input>, context: ToolContext): Promise<FilePlan[]>;
      /** The result if the call has happened. Null if it has not and can run. */
      verify(args: z.output<Input>, context: ToolContext): Promise<ToolResult | null>;
    }
  | { effect: Exclude<EffectClass, "verifiable">; verify?: never; plan?: never };

export type ToolDefinition<Input extends z.ZodObject> = ToolBasics<Input> & ToolEffect<Input>;

/** A tool. Its type does not depend on its arguments. */
export interface Tool {
  readonly spec: ToolSpec;
  /** Null for the limit of the host. */
  readonly outputBytesMax: number | null;
  /** Parses the arguments. Throws a `RunFailure` that lists the expected fields when they are invalid. */
  bind(args: unknown, context: ToolContext): BoundCall;
  /** The commands of a call. Null if they cannot be told; absent if the tool runs none. */
  commandsOf?(args: unknown): readonly SimpleCommand[] | null;
}

/** The message or event of a call. */
export interface PreviewedCall extends CallRisk {
  preview: CallPreview;
}

/** A call whose arguments have been parsed. */
export interface BoundCall {
  /** The risk of the tool, or a higher one for these arguments. */
  readonly risk: Risk;
  /** The reason why a person must approve the call at any risk. Null where only the risk decides. */
  readonly consent: string | null;
  /** Content of the call that leaves this machine. Null for none. */
  readonly outward: Outward | null;
  /** The command of the call, whose files the host looks at. Absent, or null: they are not looked at. */
  readonly command?: CommandText | null;
  /** Whether a sandbox keeps the command inside of the workspace. @default false */
  readonly contained?: boolean;
  /** Why the risk is that high, for a person. Absent: the risk is that of the tool or of the arguments. */
  readonly riskReason?: string | null;
  /** The message or event of the call, and the risk that it shows. Absent, or null: the arguments are shown. */
  readonly preview?: (context: ToolContext) => Promise<PreviewedCall | null>;
  run(context: ToolContext): Promise<ToolResult>;
  /** Null unless the tool's effect is `verifiable`. */
  plan: ((context: ToolContext) => Promise<FilePlan[]>) | null;
  /** Null unless the tool's effect is `verifiable`. */
  verify: ((context: ToolContext) => Promise<ToolResult | null>) | null;
}

/**
 * Declares a tool. Models get a JSON Schema that is derived from the zod schema of its input.
 *
 * @example
 * const shout = defineTool({
 *   name: "shout",
 *   description: "Returns a text in capitals.",
 *   input: z.strictObject({ text: z.string() }),
 *   risk: "low",
 *   effect: "read",
 *   run: async ({ text }) => ({ output: text.toUpperCase() }),
 * });
 */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input, risk, riskOf, commandsOf, effect, groups = [], outputBytesMax = null } = definition;
  const unready = definition.unready === undefined ? {} : { unready: definition.unready };
  const namedOnly = definition.namedOnly ? { namedOnly: true } : {};
  const files = definition.changesFiles === undefined ? {} : { changesFiles: definition.changesFiles };
  const inputSchema = modelSchema(input);
  return {
    spec: ToolSpec.parse({ name, description, risk, effect, groups, inputSchema, ...unready, ...namedOnly, ...files }),
    outputBytesMax,
    ...(commandsOf ? { commandsOf: (args: unknown) => commandsIn(input.safeParse(args), commandsOf) } : {}),
    bind(args, context) {
      const parsed = input.safeParse(args);
      if (!parsed.success) throw badArguments(name, input, parsed.error);
      const { plan, verify } = definition;
      const boundRisk = riskOf ? higherRisk(risk, () => riskOf(parsed.data, context)) : risk;
      return {
        risk: boundRisk,
        consent: definition.consent?.(parsed.data, context) ?? null,
        outward: definition.outwardOf?.(parsed.data, context) ?? null,
        command: definition.commandText?.(parsed.data) ?? null,
        contained: definition.contained ?? false,
        ...previewField(definition, parsed.data, boundRisk),
        run: (scope) => definition.run(parsed.data, scope),
        plan: plan ? (scope) => plan(parsed.data, scope) : null,
        verify: verify ? (scope) => verify(parsed.data, scope) : null,
      };
    },
  };
}

function previewField<Input extends z.ZodObject>(
  { previewOf, riskOfPreview }: ToolDefinition<Input>,
  args: z.output<Input>,
  risk: Risk,
): Pick<BoundCall, "preview"> {
  if (!previewOf) return {};
  return {
    preview: async (context) => {
      const preview = await previewOf(args, context);
      if (preview === null) return null;
      const shown = riskOfPreview?.(preview) ?? { risk, reason: null };
      const raised = higherRisk(risk, () => shown.risk);
      return { preview, risk: raised, reason: raised === shown.risk ? shown.reason : null };
    },
  };
}

function commandsIn<Args>(
  { success, data }: z.ZodSafeParseResult<Args>,
  commandsOf: (args: Args) => readonly SimpleCommand[] | null,
): readonly SimpleCommand[] | null {
  return success ? commandsOf(data) : null;
}

/** The higher of the two risks. High when the second one throws. */
function higherRisk(risk: Risk, ofArguments: () => Risk): Risk {
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
    message: `the arguments of ${tool} are invalid (${problems.join("; ")}); expected fields: ${expectedFields(input)}`,
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
