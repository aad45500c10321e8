import { ModelReply, RunFailure, type ToolCall } from "@troupe/core";
import { inlineBytesMax } from "@troupe/core/internal";

/** The largest arguments of one call, as JSON: what is larger belongs into a file. */
export const callArgsBytesMax = inlineBytesMax;

/** How deep the arguments of a call may be nested: far deeper, whoever goes into them by recursion falls over. */
export const callArgsDepthMax = 100;

/** The longest name of a tool. */
export const callNameCharactersMax = 256;

/** The most calls of one reply that are made. */
export const callsMax = 64;

/**
 * A model's reply, checked at the border. Calls that are not fit to be kept are not kept but named, so that the model
 * reads why its call was not made and the journal stays readable. Throws a `RunFailure` for what is no reply at all.
 */
export function readReply(reply: ModelReply): ModelReply {
  const parsed = ModelReply.safeParse(withoutDepths(reply));
  if (!parsed.success) throw unusable(parsed.error.issues[0]);
  const { calls } = parsed.data;
  return { ...parsed.data, calls: calls.map((call, place) => boundCall(call, place, calls.length)) };
}

function unusable(issue: { path: PropertyKey[]; message: string } | undefined): RunFailure {
  const message = `the model's reply cannot be used: ${issue?.path.join(".")}: ${issue?.message}`;
  return new RunFailure({ type: "model", message, recoverable: false });
}

/** Before anything goes into the arguments: the schema itself does so by recursion. */
function withoutDepths(reply: ModelReply): ModelReply {
  if (!Array.isArray(reply.calls)) return reply;
  const calls = reply.calls.map((call) =>
    isDeeper(call?.args, callArgsDepthMax)
      ? refused(
          call,
          `its arguments are more than ${callArgsDepthMax} levels deep: that is the most that is allowed; say it flatter`,
        )
      : call,
  );
  return { ...reply, calls };
}

/** Goes from level to level, so that no depth is too much for it. */
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

function boundCall(call: ToolCall, place: number, count: number): ToolCall {
  if (call.name.length > callNameCharactersMax) {
    const problem = `its name has ${call.name.length} characters; at most ${callNameCharactersMax} are allowed`;
    return { ...refused(call, problem), name: call.name.slice(0, callNameCharactersMax) };
  }
  if (place >= callsMax) {
    return refused(
      call,
      `call ${place + 1} of ${count} in one turn; at most ${callsMax} are made: ask for the others later`,
    );
  }
  const bytes = Buffer.byteLength(JSON.stringify(call.args));
  if (bytes <= callArgsBytesMax) return call;
  return refused(
    call,
    `its arguments have ${bytes} bytes as JSON; at most ${callArgsBytesMax} are allowed: split the work`,
  );
}

function refused(call: ToolCall, problem: string): ToolCall {
  return { ...call, args: null, problem };
}
