import {
  type Blobs,
  type Clock,
  type Risk,
  RunFailure,
  type ToolCall,
  type ToolContext,
  type ToolHost,
  ToolOutcome,
  TroupeError,
  toRunError,
} from "@troupe/core";
import { systemClock } from "../clock.ts";
import { cutOutput } from "./cut-output.ts";
import type { BoundCall, Tool, ToolResult } from "./define-tool.ts";

/** What happens to a call of some risk. */
export type RiskDecision = "allow" | "ask" | "deny";
export type RiskPolicy = Readonly<Record<Risk, RiskDecision>>;

export const defaultRiskPolicy: RiskPolicy = { low: "allow", medium: "allow", high: "ask" };

export interface ToolHostOptions {
  tools: readonly Tool[];
  /** This machine's own policy: it has the last word, whatever was granted. @default defaultRiskPolicy */
  policy?: RiskPolicy;
  /** Keeps outputs that are too large to be shown whole. @default they are cut and the rest is lost */
  blobs?: Blobs;
  /** @default 65536 */
  outputBytesMax?: number;
  /** @default systemClock() */
  clock?: Clock;
}

/**
 * Runs tools on this machine, under grants that are checked again at every call.
 *
 * @example
 * const host = createToolHost({ tools: [readTool, writeTool, shellTool] });
 * const outcome = await host.run({ id: "1", name: "read", args: { path: "notes.md" } }, context);
 */
export function createToolHost(options: ToolHostOptions): ToolHost {
  const { policy = defaultRiskPolicy, blobs = null, outputBytesMax = 64 * 1024, clock = systemClock() } = options;
  const tools = byName(options.tools);

  const outcomeOf = async (result: ToolResult, startedMs: number, tool: string): Promise<ToolOutcome> =>
    ToolOutcome.parse({
      ...result,
      ...(await cutOutput(result.output, { bytesMax: outputBytesMax, blobs })),
      error: result.error ? { ...result.error, tool } : null,
      durationMs: clock.monotonicMs() - startedMs,
    });

  const refused = (thrown: unknown, startedMs: number, tool: string): Promise<ToolOutcome> => {
    const error = toRunError(thrown, "tool_error", tool);
    return outcomeOf({ output: `${error.type}: ${error.message}`, error }, startedMs, tool);
  };

  /** Throws a `RunFailure` for whatever forbids this call. */
  const admit = (call: ToolCall, context: ToolContext): BoundCall => {
    if (!context.grant.tools.includes(call.name)) throw notGranted(call.name, context.grant.tools);
    const tool = tools.get(call.name);
    if (!tool) throw notHere(call.name);
    const decision = policy[tool.spec.risk];
    if (decision !== "allow") throw forbidden(tool, decision);
    if (context.signal.aborted) throw cancelled(call.name);
    return tool.bind(call.args);
  };

  return {
    specs: () => [...tools.values()].map((tool) => tool.spec),
    async run(call, context) {
      const startedMs = clock.monotonicMs();
      try {
        return await outcomeOf(await admit(call, context).run(context), startedMs, call.name);
      } catch (thrown) {
        return refused(thrown, startedMs, call.name);
      }
    },
    async verify(call, context) {
      const startedMs = clock.monotonicMs();
      let bound: BoundCall;
      try {
        bound = admit(call, context);
      } catch {
        // Running it will say why not.
        return null;
      }
      if (!bound.verify) throw new TroupeError("INTERNAL", `calls of ${call.name} cannot be verified`);
      try {
        const result = await bound.verify(context);
        return result && (await outcomeOf(result, startedMs, call.name));
      } catch (thrown) {
        return { ...(await refused(thrown, startedMs, call.name)), inDoubt: true };
      }
    },
  };
}

function byName(tools: readonly Tool[]): Map<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    if (named.has(tool.spec.name)) throw new TroupeError("CONFLICT", `two tools are named ${tool.spec.name}`);
    named.set(tool.spec.name, tool);
  }
  return named;
}

function notGranted(name: string, granted: readonly string[]): RunFailure {
  const own = granted.length > 0 ? `it has: ${granted.join(", ")}` : "it has no tools";
  return new RunFailure({
    type: "permission",
    message: `the tool ${JSON.stringify(name)} is not granted to this run; ${own}`,
    recoverable: false,
  });
}

function notHere(name: string): RunFailure {
  return new RunFailure({
    type: "tool_error",
    message: `the tool ${name} is granted, but this machine does not have it`,
    recoverable: false,
  });
}

function forbidden(tool: Tool, decision: "ask" | "deny"): RunFailure {
  const { name, risk } = tool.spec;
  const reason = decision === "ask" ? "which asks a person first, and nobody can be asked yet" : "which denies it";
  return new RunFailure({
    type: "permission",
    message: `${name} was not run: it is of ${risk} risk, and this machine's policy for that is "${decision}", ${reason}`,
    recoverable: false,
  });
}

function cancelled(name: string): RunFailure {
  return new RunFailure({ type: "cancelled", message: `${name} was cancelled before it started`, recoverable: false });
}
