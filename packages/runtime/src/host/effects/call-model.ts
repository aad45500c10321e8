import { ModelReply, RunFailure, type ToolCall } from "@troupe/core";
import {
  canonicalCall,
  canonicalJson,
  type EffectOf,
  inlineBytesMax,
  outputSchemaOf,
  playPlan,
  spawnReply,
  toRunError,
} from "@troupe/core/internal";
import { toolFolderOf } from "../claim/run-spec.ts";
import { sha256 } from "../run/seal-entries.ts";
import { waitForTimeSlice } from "../time-slice.ts";
import { type EffectScope, noteRetry, type Perform } from "./effect.ts";
import { handledReply } from "./handle-request.ts";

/** The largest arguments of one call, as JSON. Larger content belongs in a file. */
export const callArgsBytesMax = inlineBytesMax;

/** The deepest nesting of a call's arguments. Much deeper ones overflow the stack of recursive code. */
export const callArgsDepthMax = 100;

/** The longest tool name. */
export const callNameCharactersMax = 256;

/** The most calls of one reply that are made. */
export const callsMax = 64;

/** Makes one model call. A failure is an outcome too. The reply of a cancelled call is dropped. */
export const callModel: Perform<"callModel"> = async (effect, scope) => {
  const { step, messages } = effect;
  const { deps } = scope;
  scope.publish({ kind: "state.entered", state: "think", step });
  const startedMs = deps.clock.monotonicMs();
  const elapsedMs = (): number => deps.clock.monotonicMs() - startedMs;
  try {
    const reply = await replyOf(effect, scope);
    const durationMs = elapsedMs();
    await waitForTimeSlice();
    return {
      kind: "model.replied",
      step,
      reply: withCanonicalCalls(checkReply(reply), scope),
      durationMs,
      messagesHash: sha256(canonicalJson(messages)),
    };
  } catch (thrown) {
    return { kind: "model.failed", step, error: toRunError(thrown, "model"), durationMs: elapsedMs() };
  }
};

/** The reply of the model. A plan, a handler, and a `/spawn` in the first turn take its place. */
async function replyOf(effect: EffectOf<"callModel">, scope: EffectScope): Promise<ModelReply> {
  const { step, messages, lastTurn, maxOutputTokens, triesBefore } = effect;
  const { deps, request, pin, signal } = scope;
  if (request.plan) return playPlan(request.plan, messages, lastTurn);
  if (request.spawn && step === 1) return spawnReply(request.spawn, request);
  // A replay takes the recorded reply: a later version may decide otherwise.
  if (effect.handled && !deps.replay) return await handledReply(effect.handled, step, scope);
  const { session, run, agent, task, attempt, depth } = request;
  return await deps.models.call(
    {
      model: pin.model,
      system: pin.prompt,
      messages,
      tools: lastTurn ? [] : pin.tools,
      maxOutputTokens,
      temperature: pin.temperature,
      effort: pin.definition.effort,
      outputSchema: outputSchemaOf({ request, pin }),
      origin: { session, run, agent, task, attempt, depth, continued: request.continues !== null, step, triesBefore },
    },
    {
      signal,
      onDelta: (text) => scope.publish({ kind: "text.delta", text }),
      onProgress: (progress) => scope.noteProgress(progress),
      onRetry: (retry) => noteRetry(retry, scope),
    },
  );
}

/** Renames calls before they are journaled, so that grant, policy, approval and record see one name of each tool. */
function withCanonicalCalls(reply: ModelReply, { deps, pin, request }: EffectScope): ModelReply {
  const names = new Set([...pin.tools, ...deps.tools.specs(toolFolderOf(request))].map(({ name }) => name));
  return { ...reply, calls: reply.calls.map((call) => canonicalCall(call, (name) => names.has(name))) };
}

/**
 * Checks a model's reply. A call beyond the limits keeps its name and loses its arguments: the model reads why the call
 * was not made, and the journal stays readable. Throws a `RunFailure` for a reply that does not fit the schema.
 */
function checkReply(reply: ModelReply): ModelReply {
  const parsed = ModelReply.safeParse(withoutDeepArgs(reply));
  if (!parsed.success) throw unusableReply(parsed.error.issues[0]);
  const { calls } = parsed.data;
  return { ...parsed.data, calls: calls.map((call, index) => limitCall(call, index, calls.length)) };
}

function unusableReply(issue: { path: PropertyKey[]; message: string } | undefined): RunFailure {
  const message = `the model's reply cannot be used: ${issue?.path.join(".")}: ${issue?.message}`;
  return new RunFailure({ type: "model", message, recoverable: false });
}

/** Runs before the schema, because the schema descends into the arguments by recursion. */
function withoutDeepArgs(reply: ModelReply): ModelReply {
  if (!Array.isArray(reply.calls)) return reply;
  const calls = reply.calls.map((call) =>
    isDeeper(call?.args, callArgsDepthMax)
      ? rejectCall(
          call,
          `its arguments are more than ${callArgsDepthMax} levels deep: that is the most that is allowed; say it flatter`,
        )
      : call,
  );
  return { ...reply, calls };
}

/** Descends level by level, not by recursion, so that no depth overflows the stack. */
function isDeeper(value: unknown, depthMax: number): boolean {
  let level = [value].filter(isBranch);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === depthMax) return true;
    level = level.flatMap((branch) => Object.values(branch).filter(isBranch));
  }
  return false;
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function limitCall(call: ToolCall, index: number, count: number): ToolCall {
  if (call.name.length > callNameCharactersMax) {
    const problem = `its name has ${call.name.length} characters; at most ${callNameCharactersMax} are allowed`;
    return { ...rejectCall(call, problem), name: call.name.slice(0, callNameCharactersMax) };
  }
  if (index >= callsMax) {
    return rejectCall(
      call,
      `call ${index + 1} of ${count} in one turn; at most ${callsMax} are made: ask for the others later`,
    );
  }
  const bytes = Buffer.byteLength(JSON.stringify(call.args));
  if (bytes <= callArgsBytesMax) return call;
  return rejectCall(
    call,
    `its arguments have ${bytes} bytes as JSON; at most ${callArgsBytesMax} are allowed: split the work`,
  );
}

function rejectCall(call: ToolCall, problem: string): ToolCall {
  return { ...call, args: null, problem };
}
