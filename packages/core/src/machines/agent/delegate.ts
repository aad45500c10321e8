import { z } from "zod";
import { layersForChild } from "../../permissions/grant.ts";
import { childRunId, Token } from "../../protocol/ids.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { ToolCall, ToolSpec } from "../../protocol/tool.ts";
import { protocolVersion } from "../../protocol/version.ts";
import type { DelegationInput } from "../delegation/machine.ts";
import type { AgentContext } from "./context.ts";

/** What a model says when it delegates. `role` is the seeds' word for `agent`. */
const DelegateArgs = z
  .object({
    agent: Token.optional(),
    role: Token.optional(),
    task: z.string().trim().min(1, "say what the agent should do"),
    context: z.string().optional(),
    success_criteria: z.string().optional(),
  })
  .refine((args) => args.agent !== undefined || args.role !== undefined, {
    path: ["agent"],
    message: "name the agent",
  });

/** A child leaves its parent time to answer. */
const answerReserveMs = 1_000;

/** The delegation tool as a model sees it: its `agent` can only name what this run can really reach. */
export function delegateSpec(targets: readonly { id: string; description: string }[]): ToolSpec {
  const list = targets.map(({ id, description }) => `- ${id}: ${description}`).join("\n");
  return {
    name: "delegate",
    description: `Gives one self-contained task to another agent and returns its result. Several calls in one turn run in parallel. The agent sees only what you write here and cannot ask back.\nAgents:\n${list}`,
    risk: "low",
    effect: "idempotent",
    groups: [],
    inputSchema: {
      type: "object",
      properties: {
        agent: { type: "string", enum: targets.map(({ id }) => id) },
        task: { type: "string", description: "Everything the agent has to know and do." },
        success_criteria: { type: "string", description: "How to tell that it is done." },
      },
      required: ["agent", "task"],
      additionalProperties: false,
    },
  };
}

export const noTimeLeft = "no time is left for another agent: answer now";

export type DelegationPlan = { input: DelegationInput } | { error: RunError };

/** Checks a delegate call against everything that is known before it starts, and makes the child's request. */
export function planDelegation(context: AgentContext, call: number, toolCall: ToolCall): DelegationPlan {
  const parsed = DelegateArgs.safeParse(toolCall.args);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return refuse("params", `delegate: ${issue?.path.join(".") || "arguments"}: ${issue?.message}`);
  }
  const agent = parsed.data.agent ?? parsed.data.role ?? "";
  const target = context.pin.targets.find(({ id }) => id === agent);
  if (!target) return refuse("permission", unreachable(context, agent));
  const depth = context.request.depth + 1;
  if (depth > context.pin.limits.maxDepth) {
    return refuse("depth", `depth ${depth} is over the limit of ${context.pin.limits.maxDepth}: do it yourself`);
  }
  const chain = [...context.request.chain, context.request.agent];
  if (chain.includes(agent)) return refuse("permission", `${[...chain, agent].join(" → ")} is a cycle`);
  const remainingMs = childTimeMs(context);
  if (remainingMs <= 0) return refuse("budget", noTimeLeft);
  const { step, request } = context;
  const child: RunRequest = {
    v: protocolVersion,
    session: request.session,
    contextFiles: [],
    outputSchema: null,
    ancestors: [...request.ancestors, request.run],
    budget: { tokens: null, costUsd: null, toolCalls: null, spawns: null },
    temperature: null,
    parentPrompt: null,
    run: childRunId({ parentRun: request.run, step, call, attempt: 1 }),
    parent: { run: request.run, agent: request.agent, step, call, item: 0 },
    agent,
    depth,
    attempt: 1,
    task: parsed.data.task,
    context: null,
    contextMode: "task_only",
    successCriteria: parsed.data.success_criteria ?? null,
    userId: request.userId,
    chain,
    layers: layersForChild(request.layers, context.pin.definition),
    limits: { maxDepth: context.pin.limits.maxDepth },
    model: context.pin.model,
    workspace: request.workspace,
    remainingMs,
  };
  return { input: { run: request.run, step, call, item: 0, request: child, retry: target.retry } };
}

/** What a child may take if it is offered now: all that the run has left, as of its newest entry, but the reserve. */
export function childTimeMs(context: AgentContext): number {
  return deadlineDelayMs(context) + context.pausedMs - (context.lastAt - context.openedAt) - answerReserveMs;
}

/** From opening to deadline: the run's own cap, or what its parent had left, whichever is less. */
export function deadlineDelayMs(context: AgentContext): number {
  return Math.min(context.pin.limits.maxDurationMs, context.request.remainingMs ?? Number.POSITIVE_INFINITY);
}

function unreachable(context: AgentContext, agent: string): string {
  const ids = context.pin.targets.map(({ id }) => id);
  return ids.length === 0
    ? `you cannot delegate to "${agent}": this agent delegates to nobody`
    : `you cannot delegate to "${agent}"; you can to: ${ids.join(", ")}`;
}

function refuse(type: RunError["type"], message: string): DelegationPlan {
  return { error: { type, message, tool: "delegate", recoverable: false, retryAfterMs: null } };
}
