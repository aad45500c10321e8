import type { CallProgress } from "../../ports/model-provider.ts";
import type { ModelPrice, Usage } from "../../protocol/model.ts";
import type { AgentContext } from "./context.ts";
import { bytesPerToken } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import { addEstimate, addLost } from "./usage.ts";

/** Model calls that end without a reply: their usage is an estimate. Hosts estimate it, and the machine books it. */

const million = 1_000_000;

/**
 * The usage of a model call that was stopped, from what its provider has reported and streamed. Without a report the input
 * is the estimate of the conversation.
 */
export function estimateUsage(
  { contextTokens, price }: { contextTokens: number; price: ModelPrice | null },
  { usage, outputCharacters }: CallProgress,
): Usage {
  const streamed = Math.ceil(outputCharacters / bytesPerToken);
  const known = usage ?? { ...usageOf(contextTokens, 0, price), cachedTokens: 0 };
  const missing = Math.max(0, streamed - known.outputTokens);
  const costUsd =
    known.costUsd === null || price === null
      ? known.costUsd
      : known.costUsd + (missing * price.outputPerMillion) / million;
  return {
    ...known,
    outputTokens: known.outputTokens + missing,
    costUsd: missing > 0 && price === null ? null : costUsd,
  };
}

function usageOf(inputTokens: number, outputTokens: number, price: ModelPrice | null): Omit<Usage, "cachedTokens"> {
  const costUsd =
    price === null ? null : (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / million;
  return { inputTokens, outputTokens, costUsd };
}

/** Facts that can stop a running model call. Their entries have its estimated usage. */
export type LostUsage = Usage | null | undefined;

/** The estimate in an entry; undefined if the entry has none, as after a kill. */
export function lostUsageIn(event: AgentEvent): LostUsage {
  return "lostUsage" in event ? event.lostUsage : undefined;
}

/**
 * Books the running model call, which will have no outcome: its whole reserve against the budget, and its estimated usage
 * as used. Without an estimate it is the highest possible usage, because a killed host leaves none. Null as the estimate
 * means that the call had not started.
 */
export function withLostCall(
  context: Pick<AgentContext, "usage" | "callReserve" | "contextTokens" | "pin">,
  lost: LostUsage,
): Pick<AgentContext, "usage" | "callReserve"> {
  const { usage, callReserve, contextTokens, pin } = context;
  if (callReserve === null) return { usage, callReserve };
  if (!pin.booksLostCalls) return { usage: addLost(usage, callReserve), callReserve: null };
  if (lost === null) return { usage, callReserve: null };
  const output = Math.max(0, callReserve.tokens - contextTokens);
  const estimate = lost ?? { ...usageOf(Math.min(contextTokens, callReserve.tokens), output, pin.price) };
  return { usage: addEstimate(usage, callReserve, estimate), callReserve: null };
}

/** The same for a fact that ends the run. Runs of earlier versions only kept the reserve. */
export function withInterruptedCall(context: AgentContext, event: AgentEvent): Partial<AgentContext> {
  return context.pin.booksLostCalls ? withLostCall(context, lostUsageIn(event)) : {};
}
