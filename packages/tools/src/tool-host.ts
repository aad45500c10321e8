import {
  type Blobs,
  type Clock,
  createRedactor,
  defaultPolicy,
  type Journal,
  type Policy,
  type Redactor,
  RunFailure,
  type ToolCall,
  type ToolContext,
  type ToolHost,
  ToolOutcome,
  TroupeError,
} from "@troupe/core";
import type { ApprovalRules } from "@troupe/core/internal";
import {
  canonicalJson,
  hashText,
  isReadOnly,
  previewPath,
  recallToolName,
  staleApproval,
  type Taint,
  type ToolAssessment,
  type ToolExamination,
  taintField,
  toRunError,
} from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import type { BoundCall, Outward, Tool, ToolResult } from "@troupe/core/tool";
import type { CustomTools } from "./custom/custom-tools.ts";
import type { SessionUsage } from "./disk/session-usage.ts";
import { type CommandReview, reviewCommand } from "./file-losses/command-losses.ts";
import { createCreatedFiles } from "./file-losses/created-files.ts";
import { approvalReach } from "./policy/approval-reach.ts";
import { createPolicyCheck, type PolicyDecision } from "./policy/check-policy.ts";
import { contentParts, decideWithFiles } from "./policy/file-decision.ts";
import { countedCharacters, isTrusted } from "./policy/outward-calls.ts";
import { createPrivateDataFinder } from "./policy/private-data.ts";
import { truncateOutput } from "./truncate-output.ts";

export interface ToolHostOptions {
  tools: readonly Tool[];
  /** The users' own tools. Some exist in one workspace only. @default none */
  custom?: Pick<CustomTools, "refresh" | "of">;
  /** The policy of this machine. It can deny a call that the grant allows. @default defaultPolicy */
  policy?: Policy;
  /** Stored approval rules. @default none */
  rules?: Pick<ApprovalRules, "match">;
  /** Tells the files that a run created before a restart. @default only files that calls of this process created are known */
  journal?: Pick<Journal, "readRun">;
  /** Stores outputs over the limit. @default an output over the limit is truncated and the rest is lost */
  blobs?: Blobs;
  /** Limit of an output, in bytes. @default 65536 */
  outputBytesMax?: number;
  /** Removes secrets from outputs before truncation, so that no secret is cut in two. @default no redaction */
  redact?: Redactor;
  /** Charges calls that may write to their session, and refuses them when its space is used. @default no limit */
  usage?: Pick<SessionUsage, "refuseFull" | "add">;
  /** @default systemClock() */
  clock?: Clock;
}

/** A tool host that can wait for its running calls. */
export interface LocalToolHost extends ToolHost {
  /** Resolves when no call is running. A command that was stopped can take a moment to end. */
  idle(): Promise<void>;
}

/**
 * Creates a tool host that runs tools on this machine. It checks the grant and the policy at every call.
 *
 * @example
 * const host = createToolHost({ tools: createFileTools() });
 * const outcome = await host.run({ id: "1", name: "read", args: { path: "notes.md" } }, context);
 */
export function createToolHost(options: ToolHostOptions): LocalToolHost {
  const { blobs = null, outputBytesMax = 64 * 1024, clock = systemClock(), redact, custom, usage } = options;
  const builtIn = byName(options.tools);
  const toolsIn = (workspace: string | null | undefined): readonly Tool[] =>
    custom ? [...options.tools, ...custom.of(workspace ?? null)] : options.tools;
  // A custom tool cannot replace a built-in one.
  const find = (name: string, { workspace, project = workspace }: ToolContext): Tool | undefined =>
    builtIn.get(name) ?? custom?.of(project).find(({ spec }) => spec.name === name);
  const checkPolicy = createPolicyCheck(options);
  const { web, privateFiles } = options.policy ?? defaultPolicy;
  const findPrivateData = createPrivateDataFinder(privateFiles);
  const secrets = redact ?? createRedactor();
  const running = new Set<Promise<ToolOutcome>>();
  const created = createCreatedFiles(options.journal ?? null);
  const policy = options.policy ?? defaultPolicy;

  /** Sources of the output, and the characters that were sent. */
  const taintOf = (result: ToolResult, hasSecret: boolean, { call, context, outward }: StartedCall): Taint => {
    const { spec } = find(call.name, context) ?? {};
    return {
      untrusted: (result.untrusted ?? []).filter((source) => !isTrusted(source, web.trustedHosts)),
      private: spec ? findPrivateData(result, { spec, args: call.args, hasSecret }) : [],
      sentCharacters: countedCharacters(outward ?? null, context.taint, web.trustedHosts),
    };
  };

  const outcomeOf = async (result: ToolResult, started: StartedCall): Promise<ToolOutcome> => {
    const { call, context, startedMs } = started;
    const tool = call.name;
    const redacted = secrets.text(result.output);
    const output = redact ? redacted : result.output;
    const ownMax = find(tool, context)?.outputBytesMax ?? outputBytesMax;
    const bytesMax = Math.min(ownMax, context.outputBytesMax ?? ownMax);
    return ToolOutcome.parse({
      ...result,
      ...(await truncateOutput(output, { bytesMax, blobs, reference: referenceOf(context) })),
      error: result.error ? { ...result.error, tool } : null,
      durationMs: clock.monotonicMs() - startedMs,
      ...taintField(taintOf(result, redacted !== result.output, started)),
    });
  };

  const failed = (thrown: unknown, started: StartedCall): Promise<ToolOutcome> => {
    const error = toRunError(thrown, "tool_error", started.call.name);
    const output = thrown instanceof RunFailure ? thrown.output : null;
    return outcomeOf({ output: output ?? `${error.type}: ${error.message}`, error }, started);
  };

  /** Throws a `RunFailure` for a call that is not allowed. It repeats all checks at every call. */
  const admit = (call: ToolCall, context: ToolContext): AdmittedCall => {
    const tool = toolFor(call, context, find(call.name, context));
    if (context.signal.aborted) throw cancelled(call.name);
    const decision = checkPolicy(tool, call, context);
    if (decision.verdict.decision !== "allow" || decision.bound === null) throw forbidden(call.name, decision.verdict);
    if (!isReadOnly(tool.spec)) usage?.refuseFull(context.session);
    return { decision, bound: decision.bound };
  };

  const review = async (bound: BoundCall, context: ToolContext): Promise<CommandReview> => {
    if (!bound.command) return { losses: null, ownAfter: [] };
    return await reviewCommand(bound.command, { context, created, contained: bound.contained ?? false });
  };

  /** The decision about a call by its preview, which can show a higher risk than the arguments. */
  const decideByPreview = async (tool: Tool, call: ToolCall, admitted: AdmittedCall, context: ToolContext) => {
    const previewed = (await admitted.bound.preview?.(context)) ?? null;
    if (previewed === null) return { decision: admitted.decision, preview: null, shown: [] };
    const { preview, risk, reason } = previewed;
    const decision = checkPolicy(tool, call, context, { ...admitted.bound, risk, riskReason: reason });
    return { decision, preview, shown: [{ path: previewPath, digest: hashText(canonicalJson(preview)) }] };
  };

  /** Looks at the message and the files of a call right before it starts, and throws if it may not run as it is now. */
  const checkNow = async (call: ToolCall, admitted: AdmittedCall, context: ToolContext) => {
    const { bound } = admitted;
    const tool = toolFor(call, context, find(call.name, context));
    const { decision, preview, shown } = await decideByPreview(tool, call, admitted, context);
    const reviewed = await review(bound, context);
    if (bound.command || preview !== null) {
      const { verdict, state } = decideWithFiles(decision, { ...reviewed, shown }, { policy, context });
      const changed = context.approval ? staleApproval(context.approval, state) : null;
      if (changed !== null) throw forbidden(call.name, { ...verdict, decision: "deny", reason: changed });
      if (verdict.decision !== "allow") throw forbidden(call.name, verdict);
    }
    return reviewed;
  };

  const runOne = async (call: ToolCall, context: ToolContext): Promise<ToolOutcome> => {
    const started: StartedCall = { call, context, startedMs: clock.monotonicMs() };
    try {
      const admitted = admit(call, context);
      started.outward = admitted.bound.outward;
      const { ownAfter } = await checkNow(call, admitted, context);
      const result = await admitted.bound.run(context);
      created.note(context.workspace, ownAfter);
      const outcome = await outcomeOf(result, started);
      created.noteOutcome(context.workspace, outcome);
      usage?.add(context.session, storedBytesOf(call, outcome));
      return outcome;
    } catch (thrown) {
      return failed(thrown, started);
    }
  };

  const examineCall = async (tool: Tool, call: ToolCall, context: ToolContext): Promise<ToolExamination> => {
    const first = checkPolicy(tool, call, context);
    if (first.bound === null || first.verdict.decision === "deny") return first.verdict;
    const admitted = { decision: first, bound: first.bound };
    const { decision, preview, shown } = await decideByPreview(tool, call, admitted, context);
    const reviewed = await review(first.bound, context);
    const { verdict, state } = decideWithFiles(decision, { ...reviewed, shown }, { policy, context });
    if (verdict.decision !== "ask") return { ...verdict, ...state };
    // The person has seen this message, and no other one.
    if (preview !== null) return { ...verdict, ...state, covers: [], preview };
    const { covers } = approvalReach(tool, call, decision);
    return { ...verdict, ...state, covers: covers.length === 0 ? [] : [...covers, ...contentParts(state)] };
  };

  return {
    prepare: async (workspace) => custom?.refresh(workspace),
    specs: (workspace) => toolsIn(workspace).map((tool) => tool.spec),
    assess(call, context) {
      try {
        return checkPolicy(toolFor(call, context, find(call.name, context)), call, context).verdict;
      } catch {
        return { decision: "allow", risk: "low", reason: "the call is invalid; running it returns the error" };
      }
    },
    async reachOf(call, context) {
      try {
        const tool = toolFor(call, context, find(call.name, context));
        return approvalReach(tool, call, checkPolicy(tool, call, context));
      } catch {
        return { covers: [] };
      }
    },
    async examine(call, context) {
      try {
        const tool = toolFor(call, context, find(call.name, context));
        return await examineCall(tool, call, context);
      } catch (thrown) {
        if (thrown instanceof RunFailure) {
          return { decision: "allow", risk: "low", reason: "the call is invalid; running it returns the error" };
        }
        return { decision: "ask", risk: "high", reason: "the files of the call cannot be looked at", covers: [] };
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
        return (await admit(call, context).bound.plan?.(context)) ?? null;
      } catch {
        // Running the call returns the error.
        return null;
      }
    },
    async verify(call, context) {
      const started = { call, context, startedMs: clock.monotonicMs() };
      let bound: BoundCall;
      try {
        ({ bound } = admit(call, context));
      } catch {
        // Running the call returns the error.
        return null;
      }
      if (!bound.verify) throw new TroupeError("INTERNAL", `calls of ${call.name} cannot be verified`);
      try {
        const result = await bound.verify(context);
        return result && (await outcomeOf(result, started));
      } catch (thrown) {
        return { ...(await failed(thrown, started)), inDoubt: true };
      }
    },
  };
}

/** A call that the grant and the policy allow. */
interface AdmittedCall {
  decision: PolicyDecision;
  bound: BoundCall;
}

interface StartedCall {
  call: ToolCall;
  context: ToolContext;
  startedMs: number;
  /** Content that leaves this machine. Absent: the call did not start. */
  outward?: Outward | null;
}

/** About the bytes that a file tool has written. The sandbox counts those of a command. */
function storedBytesOf({ args }: ToolCall, { changes }: ToolOutcome): number {
  return changes.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(args) ?? "");
}

/** The reference that the run can pass to recall to get the whole result. Null for a run without that tool. */
function referenceOf({ grant, run, idempotencyKey }: ToolContext): string | null {
  if (!grant.tools.includes(recallToolName)) return null;
  const [owner, step, call, ...more] = idempotencyKey.split("/");
  // A read on behalf of a child is not a result of the run.
  return owner === run && call !== undefined && more.length === 0 ? `${step}/${call}` : null;
}

/** The tool of a call. Throws a `RunFailure` when it is not granted, not on this machine, or the call is malformed. */
function toolFor(call: ToolCall, { grant }: ToolContext, tool: Tool | undefined): Tool {
  if (!grant.tools.includes(call.name)) throw notGranted(call.name, grant.tools);
  if (!tool) throw notInstalled(call.name);
  if (grant.readOnly && !isReadOnly(tool.spec)) throw notReadOnly(call.name);
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
  const list = granted.length > 0 ? `it has: ${granted.join(", ")}` : "it has no tools";
  return new RunFailure({
    type: "permission",
    message: `the tool ${JSON.stringify(name)} is not granted to this run; ${list}`,
    recoverable: false,
  });
}

function notReadOnly(name: string): RunFailure {
  return new RunFailure({
    type: "permission",
    message: `the tool ${name} can change something, and this run may only read (permissionMode: plan)`,
    recoverable: false,
  });
}

function notInstalled(name: string): RunFailure {
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
