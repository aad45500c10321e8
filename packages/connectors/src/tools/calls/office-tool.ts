import type { CallPreview, ToolContext } from "@troupe/core";
import { type CallRisk, defineTool, type Outward, RunFailure, type Tool, type ToolResult } from "@troupe/core/tool";
import { z } from "zod";
import { ConnectorError } from "../../ports/connector-error.ts";
import { riskOfPreview } from "../risk/risk-of-preview.ts";
import { errorOutput, toConnectorError } from "./error-output.ts";
import { type CallFacts, type OfficeCall, openCall } from "./office-call.ts";
import type { OfficeDomain, OfficeToolDeps } from "./tool-options.ts";

/** The result of a call: a JSON object, and where its text came from. */
export interface OfficeResult {
  output: Record<string, unknown>;
  /** Authors of text in the output who are not the user. */
  untrusted?: string[];
  /** Sources of private data in the output. */
  private?: string[];
}

interface OfficeToolBasics<Input extends z.ZodObject> {
  domain: OfficeDomain;
  name: string;
  description: string;
  input: Input;
  run(args: z.output<Input>, call: OfficeCall): Promise<OfficeResult>;
}

/** A tool that changes or sends. `input` has the fields of `changeFields`. */
export interface ChangingTool<Input extends z.ZodObject> extends OfficeToolBasics<Input> {
  /** The message or event of a call. It checks everything that can be checked before the call. */
  preview(args: z.output<Input>, call: OfficeCall): Promise<CallPreview | null>;
  /** @default riskOfPreview */
  riskOfPreview?(preview: CallPreview): CallRisk;
  /** Content that leaves this machine. */
  outwardOf?(args: z.output<Input>): Outward | null;
}

/** Fields of every tool that changes something. */
export const changeFields = {
  dry_run: z.boolean().default(false).describe("Only shows the preview; nothing changes"),
};

/** Defines a tool that only reads. */
export function readingTool<Input extends z.ZodObject>(tool: OfficeToolBasics<Input>, deps: OfficeToolDeps): Tool {
  const { domain, name, description, input } = tool;
  const run = (args: z.output<Input>, context: ToolContext) =>
    runCall(tool, context, deps, (call) => tool.run(args, call));
  return withJsonErrors(
    defineTool({ name, description, input, risk: "low", effect: "read", groups: [domain], namedOnly: true, run }),
    input,
  );
}

/**
 * Defines a tool that changes or sends something. A repeated call has the key of the first one, and the connector returns its
 * result: so the effect is idempotent.
 */
export function changingTool<Input extends z.ZodObject>(tool: ChangingTool<Input>, deps: OfficeToolDeps): Tool {
  const { domain, name, description, input, outwardOf } = tool;
  const previewOf = (args: z.output<Input>, context: ToolContext) =>
    isDryRun(args) ? Promise.resolve(null) : showCall(tool, context, deps, (call) => tool.preview(args, call));
  const definition = defineTool({
    ...{ name, description, input, previewOf, riskOfPreview: tool.riskOfPreview ?? riskOfPreview },
    risk: "low",
    riskOf: (args) => (isDryRun(args) ? "low" : "medium"),
    effect: "idempotent",
    changesFiles: false,
    groups: [domain],
    namedOnly: true,
    outwardOf: (args) => (isDryRun(args) ? null : (outwardOf?.(args) ?? null)),
    run: (args, context) =>
      runCall(tool, context, deps, async (call) => {
        if (!isDryRun(args)) return await tool.run(args, call);
        return { output: { dry_run: true, preview: await tool.preview(args, call) } };
      }),
  });
  return withJsonErrors(definition, input);
}

function isDryRun(args: unknown): boolean {
  return typeof args === "object" && args !== null && "dry_run" in args && args.dry_run === true;
}

interface NamedTool {
  domain: OfficeDomain;
  name: string;
}

/** Runs a call, writes its log line, and turns errors into an output. */
async function runCall(
  { domain, name }: NamedTool,
  context: ToolContext,
  deps: OfficeToolDeps,
  work: (call: OfficeCall) => Promise<OfficeResult>,
): Promise<ToolResult> {
  const facts: CallFacts = { account: null, tries: 0 };
  const startedMs = deps.clock.monotonicMs();
  const log = (errorType: string | null): void => {
    const durationMs = deps.clock.monotonicMs() - startedMs;
    const details = { domain, tool: name, ...facts, durationMs, errorType };
    deps.logger[errorType === null ? "info" : "warn"](details, "office call");
  };
  try {
    const { output, ...sources } = await work(openCall(name, context, deps, facts));
    log(null);
    return { output: JSON.stringify(output), ...sources };
  } catch (thrown) {
    const error = toConnectorError(thrown);
    log(error.type);
    return errorResult(error);
  }
}

async function showCall(
  { name }: NamedTool,
  context: ToolContext,
  deps: OfficeToolDeps,
  show: (call: OfficeCall) => Promise<CallPreview | null>,
): Promise<CallPreview | null> {
  try {
    return await show(openCall(name, context, deps, { account: null, tries: 0 }));
  } catch (thrown) {
    const error = toConnectorError(thrown);
    throw new RunFailure(error.runError, { cause: error, output: JSON.stringify(errorOutput(error)) });
  }
}

function errorResult(error: ConnectorError): ToolResult {
  return { output: JSON.stringify(errorOutput(error)), error: error.runError };
}

/** Invalid arguments have the same output as all other errors. */
function withJsonErrors(tool: Tool, input: z.ZodObject): Tool {
  return {
    ...tool,
    bind(args, context) {
      try {
        return tool.bind(args, context);
      } catch (thrown) {
        const [issue] = input.safeParse(args).error?.issues ?? [];
        const param = issue?.path.join(".") ?? "";
        const message = thrown instanceof Error ? thrown.message : String(thrown);
        const error = new ConnectorError("params", message, { ...(param === "" ? {} : { param }), cause: thrown });
        const run = async () => errorResult(error);
        return { risk: "low", consent: null, outward: null, run, plan: null, verify: null };
      }
    },
  };
}
