import { inlineBytesMax, type ModelReply, type ToolCall } from "@troupe/core";

/** The largest arguments of one call, as JSON: what is larger belongs into a file. */
export const callArgsBytesMax = inlineBytesMax;

/** The most calls of one reply that are made. */
export const callsMax = 64;

/**
 * A reply whose calls are fit to be kept: what is too large, or too much, is not kept but named, so that the model
 * reads why its call was not made and the journal stays readable.
 */
export function withinBounds(reply: ModelReply): ModelReply {
  return { ...reply, calls: reply.calls.map((call, place) => boundCall(call, place, reply.calls.length)) };
}

function boundCall(call: ToolCall, place: number, count: number): ToolCall {
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
