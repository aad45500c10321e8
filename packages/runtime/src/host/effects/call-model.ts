import type { ModelReply } from "@troupe/core";
import { canonicalCall, canonicalJson, outputSchemaOf, toRunError } from "@troupe/core/internal";
import { sha256 } from "../run/seal-entries.ts";
import { createTimeSlice } from "../time-slice.ts";
import { toolFolderOf } from "../tool-folder.ts";
import type { EffectScope, Perform } from "./effect.ts";
import { readReply } from "./reply-bounds.ts";
import { retrying } from "./retrying.ts";

/** One model call. Its failure is an outcome too; what a stopped call says is never heard. */
export const callModel: Perform<"callModel"> = async (effect, scope) => {
  const { step, messages, lastTurn, maxOutputTokens, triesBefore } = effect;
  const { deps, request, pin, signal } = scope;
  scope.show({ kind: "state.entered", state: "think", step });
  const startedMs = deps.clock.monotonicMs();
  const durationMs = (): number => deps.clock.monotonicMs() - startedMs;
  const { session, run, agent, task, attempt, depth } = request;
  try {
    const reply = await deps.models.call(
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
        onDelta: (text) => scope.show({ kind: "text.delta", text }),
        onRetry: (retry) => scope.show(retrying(retry)),
      },
    );
    const tookMs = durationMs();
    await createTimeSlice();
    return {
      kind: "model.replied",
      step,
      reply: inOurWords(readReply(reply), scope),
      durationMs: tookMs,
      messagesHash: sha256(canonicalJson(messages)),
    };
  } catch (thrown) {
    return { kind: "model.failed", step, error: toRunError(thrown, "model"), durationMs: durationMs() };
  }
};

/** Before it is journaled: grant, policy, approval and record see one name of each tool. */
function inOurWords(reply: ModelReply, { deps, pin, request }: EffectScope): ModelReply {
  const real = new Set([...pin.tools, ...deps.tools.specs(toolFolderOf(request))].map(({ name }) => name));
  return { ...reply, calls: reply.calls.map((call) => canonicalCall(call, (name) => real.has(name))) };
}
