import { type ModelReply, type ModelRequest, type RunError, RunFailure, TroupeError } from "@troupe/core";
import { toRunError, wasNotCharged } from "@troupe/core/internal";
import { isRetryable } from "./resilience/retry.ts";

/** The fallback model of each model, by model id. */
export type Fallbacks = Readonly<Record<string, string>>;

/** A model, its fallback, the fallback's own fallback, and so on. Throws when they form a cycle. */
export function fallbackChain(model: string, fallbacks: Fallbacks): readonly string[] {
  const chain = [model];
  for (let next = fallbackOf(model, fallbacks); next !== undefined; next = fallbackOf(next, fallbacks)) {
    if (chain.includes(next)) throw fallbackCycle([...chain, next]);
    chain.push(next);
  }
  return chain;
}

/** Names come from users: `constructor` must not match a property of every object. */
function fallbackOf(model: string, fallbacks: Fallbacks): string | undefined {
  return Object.hasOwn(fallbacks, model) ? fallbacks[model] : undefined;
}

/**
 * Calls the models of a chain in turn until one answers. The next model is called only after a failure without any work:
 * the model refuses all calls, or the provider's budget is spent. A wrong key or an invalid request is thrown, because
 * a fallback would hide it. A lost call that had begun is thrown, because only its run may repeat it.
 *
 * @param callModel makes one call; its failure says how many requests it made
 */
export async function callWithFallbacks(
  chain: readonly string[],
  request: ModelRequest,
  callModel: (request: ModelRequest) => Promise<ModelReply>,
): Promise<ModelReply> {
  const { triesBefore = 0 } = request.origin;
  const failed: { model: string; error: RunError }[] = [];
  let tries = triesBefore;
  for (const model of chain) {
    try {
      const reply = await callModel({ ...request, model, origin: { ...request.origin, triesBefore: tries } });
      return withRetries(reply, failed);
    } catch (thrown) {
      const error = toRunError(thrown, "model");
      tries += error.tries ?? 1;
      const isLast = failed.length === chain.length - 1;
      if (isLast || !mayFallBack(error)) {
        throw failed.length === 0 ? thrown : combinedFailure(failed, { model, error }, tries - triesBefore, thrown);
      }
      failed.push({ model, error });
    }
  }
  throw new Error("a fallback chain has at least one model");
}

function mayFallBack(error: RunError): boolean {
  return isRetryable(error) || (error.type === "budget" && wasNotCharged(error));
}

function withRetries(reply: ModelReply, failed: readonly { error: RunError }[]): ModelReply {
  if (failed.length === 0) return reply;
  return { ...reply, retries: [...failed.map(({ error }) => ({ error, waitedMs: 0 })), ...(reply.retries ?? [])] };
}

/**
 * One failure for the whole chain: the first model's, with the last model's message added. The last model's failure wins
 * when its call may be charged, or when only it may succeed later.
 */
function combinedFailure(
  failed: readonly { error: RunError }[],
  last: { model: string; error: RunError },
  tries: number,
  cause: unknown,
): RunFailure {
  const [first] = failed;
  if (!first || !wasNotCharged(last.error) || (last.error.recoverable && !first.error.recoverable)) {
    return new RunFailure({ ...last.error, tries }, { cause });
  }
  const message = `${first.error.message}; its fallback ${last.model} failed, too: ${last.error.message}`;
  return new RunFailure({ ...first.error, message, tries }, { cause });
}

function fallbackCycle(chain: readonly string[]): TroupeError {
  return new TroupeError("INVALID_CONFIG", `the fallbacks of ${chain[0]} form a cycle: ${chain.join(" → ")}`, {
    fix: "remove one of them from the fallbacks",
  });
}
