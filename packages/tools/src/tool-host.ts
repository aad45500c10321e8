import type { Policy } from "@troupe/core";
import {
  type Blobs,
  type Clock,
  type Redactor,
  RunFailure,
  type ToolCall,
  type ToolContext,
  type ToolHost,
  ToolOutcome,
  TroupeError,
} from "@troupe/core";
import type { ApprovalRules } from "@troupe/core/internal";
import { recallToolName, type ToolAssessment, toRunError } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import type { CustomTools } from "./custom/custom-tools.ts";
import { cutOutput } from "./cut-output.ts";
import type { BoundCall, Tool, ToolResult } from "./define-tool.ts";
import { createPolicyCheck } from "./policy/check-policy.ts";

export interface ToolHostOptions {
  tools: readonly Tool[];
  /** Tools of users' own: some of them are there in one workspace alone. @default none */
  custom?: Pick<CustomTools, "refresh" | "of">;
  /** This machine's own policy: it has the last word, whatever was granted. @default defaultPolicy */
  policy?: Policy;
  /** Answers that were given for good. @default none */
  rules?: Pick<ApprovalRules, "match">;
  /** Keeps outputs that are too large to be shown whole. @default they are cut and the rest is lost */
  blobs?: Blobs;
  /** @default 65536 */
  outputBytesMax?: number;
  /** Takes secrets out of outputs before they are cut, so that none is cut in two. @default nothing is looked for */
  redact?: Redactor;
  /** @default systemClock() */
  clock?: Clock;
}

/** A tool host, and a way to wait for what it has at work. */
export interface LocalToolHost extends ToolHost {
  /** Resolves when no call is at work: a command that was stopped may take a moment to end. */
  idle(): Promise<void>;
}

/**
 * Runs tools on this machine, under grants that are checked again at every call.
 *
 * @example
 * const host = createToolHost({ tools: createFileTools() });
 * const outcome = await host.run({ id: "1", name: "read", args: { path: "notes.md" } }, context);
 */
export function createToolHost(options: ToolHostOptions): LocalToolHost {
  const { blobs = null, outputBytesMax = 64 * 1024, clock = systemClock(), redact, custom } = options;
  const shipped = byName(options.tools);
  const toolsIn = (workspace: string | null | undefined): readonly Tool[] =>
    custom ? [...options.tools, ...custom.of(workspace ?? null)] : options.tools;
  /** A shipped one is never another's. */
  const find = (name: string, { workspace, project = workspace }: ToolContext): Tool | undefined =>
    shipped.get(name) ?? custom?.of(project).find(({ spec }) => spec.name === name);
  const judge = createPolicyCheck(options);
  const running = new Set<Promise<ToolOutcome>>();

  const outcomeOf = async (result: ToolResult, { call, context, startedMs }: Asked): Promise<ToolOutcome> => {
    const tool = call.name;
    const output = redact?.text(result.output) ?? result.output;
    const ownMax = find(tool, context)?.outputBytesMax ?? outputBytesMax;
    const bytesMax = Math.min(ownMax, context.outputBytesMax ?? ownMax);
    return ToolOutcome.parse({
      ...result,
      ...(await cutOutput(output, { bytesMax, blobs, reference: referenceOf(context) })),
      error: result.error ? { ...result.error, tool } : null,
      durationMs: clock.monotonicMs() - startedMs,
    });
  };

  const refused = (thrown: unknown, asked: Asked): Promise<ToolOutcome> => {
    const error = toRunError(thrown, "tool_error", asked.call.name);
    return outcomeOf({ output: `${error.type}: ${error.message}`, error }, asked);
  };

  /** Throws a `RunFailure` for whatever forbids this call: checked anew each time, whatever was found before. */
  const admit = (call: ToolCall, context: ToolContext): BoundCall => {
    const tool = toolFor(call, context, find(call.name, context));
    if (context.signal.aborted) throw cancelled(call.name);
    const { verdict, bound } = judge(tool, call, context);
    if (verdict.decision !== "allow" || bound === null) throw forbidden(call.name, verdict);
    return bound;
  };

  const runOne = async (call: ToolCall, context: ToolContext): Promise<ToolOutcome> => {
    const asked = { call, context, startedMs: clock.monotonicMs() };
    try {
      return await outcomeOf(await admit(call, context).run(context), asked);
    } catch (thrown) {
      return refused(thrown, asked);
    }
  };

  return {
    prepare: async (workspace) => custom?.refresh(workspace),
    specs: (workspace) => toolsIn(workspace).map((tool) => tool.spec),
    assess(call, context) {
      try {
        return judge(toolFor(call, context, find(call.name, context)), call, context).verdict;
      } catch {
        return { decision: "allow", risk: "low", reason: "it cannot be run, and running it says why" };
      }
    },
    async run(call, context) {
      const outcome = runOne(call, context);
      running.add(outcome);
      try {
        return await outcome;
      } finally {
        running.delete(outcome);
      }
    },
    async idle() {
      await Promise.allSettled(running);
    },
    async plan(call, context) {
      try {
        return (await admit(call, context).plan?.(context)) ?? null;
      } catch {
        // Running it will say why not.
        return null;
      }
    },
    async verify(call, context) {
      const asked = { call, context, startedMs: clock.monotonicMs() };
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
        return result && (await outcomeOf(result, asked));
      } catch (thrown) {
        return { ...(await refused(thrown, asked)), inDoubt: true };
      }
    },
  };
}

/** A call that is under way. */
interface Asked {
  call: ToolCall;
  context: ToolContext;
  startedMs: number;
}

/** By what a run can recall the whole result of a call of its own; null for a run without that tool. */
function referenceOf({ grant, run, idempotencyKey }: ToolContext): string | null {
  if (!grant.tools.includes(recallToolName)) return null;
  const [of, step, call, ...more] = idempotencyKey.split("/");
  // What is read on behalf of a child is no result of the run.
  return of === run && call !== undefined && more.length === 0 ? `${step}/${call}` : null;
}

/** The tool of a call that was granted, is here, and came whole. */
function toolFor(call: ToolCall, { grant }: ToolContext, tool: Tool | undefined): Tool {
  if (!grant.tools.includes(call.name)) throw notGranted(call.name, grant.tools);
  if (!tool) throw notHere(call.name);
  if (call.problem) throw new RunFailure({ type: "params", message: call.problem, recoverable: false });
  return tool;
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

function forbidden(name: string, { decision, reason }: ToolAssessment): RunFailure {
  const why = decision === "ask" ? `${reason}, and no person has allowed this call` : reason;
  return new RunFailure({ type: "permission", message: `${name} was not run: ${why}`, recoverable: false });
}

function cancelled(name: string): RunFailure {
  return new RunFailure({ type: "cancelled", message: `${name} was cancelled before it started`, recoverable: false });
}
