import { toRunError } from "@troupe/core";
import { pace } from "../pace.ts";
import type { Perform } from "./effect.ts";
import { readReply } from "./reply-bounds.ts";

/** One model call. Its failure is an outcome too; what a stopped call says is never heard. */
export const callModel: Perform<"callModel"> = async ({ step, messages, lastTurn, maxOutputTokens }, scope) => {
  const { world, request, pin, signal } = scope;
  scope.show({ kind: "state.entered", state: "think", step });
  const startedMs = world.clock.monotonicMs();
  const durationMs = (): number => world.clock.monotonicMs() - startedMs;
  const { session, run, agent, task, attempt, depth } = request;
  try {
    const reply = await world.models.call(
      {
        model: pin.model,
        system: pin.prompt,
        messages,
        tools: lastTurn ? [] : pin.tools,
        maxOutputTokens,
        temperature: pin.temperature,
        origin: { session, run, agent, task, attempt, depth, continued: request.continues !== null, step },
      },
      { signal, onDelta: (text) => scope.show({ kind: "text.delta", text }) },
    );
    const tookMs = durationMs();
    await pace();
    return { kind: "model.replied", step, reply: readReply(reply), durationMs: tookMs };
  } catch (thrown) {
    return { kind: "model.failed", step, error: toRunError(thrown, "model"), durationMs: durationMs() };
  }
};
