import { type ModelReply, type ModelRequest, type RunError, RunFailure, TroupeError } from "@troupe/core";
<<<<<<< HEAD
import { toRunError, wasNotCharged } from "@troupe/core/internal";
import { isRetryable } from "./turned-away.ts";
=======
import { costNothing, toRunError } from "@troupe/core/internal";
import { isRetryable } from "./resilience/retryable.ts";
>>>>>>> 54974c6 (refactor(models): folders for resilience, the scripted provider and the shared wire parts)

/** By a model's id, the model that is asked where it cannot be. */
export type Fallbacks = Readonly<Record<string, string>>;

/** A model, its fallback, the fallback's own, and so on. */
export function chainOf(model: string, fallbacks: Fallbacks): readonly string[] {
  const chain = [model];
  for (let next = fallbackOf(model, fallbacks); next !== undefined; next = fallbackOf(next, fallbacks)) {
    if (chain.includes(next)) throw cycle([...chain, next]);
    chain.push(next);
  }
  return chain;
}

/** Names come from people: `constructor` is none that they have given. */
function fallbackOf(model: string, fallbacks: Fallbacks): string | undefined {
  return Object.hasOwn(fallbacks, model) ? fallbacks[model] : undefined;
}

/**
 * Asks the models of a chain, one after another, until one answers. Only a call that surely was not worked on goes on to
 * the next, because its model is turning all away or its provider's money is spent. A wrong key or a request that does
 * not fit is to be mended, not hidden; a call that had begun and was lost is its run's to repeat.
 *
 * @param ask makes one call; its failure says how many requests it took
 */
export async function askInTurn(
  chain: readonly string[],
  request: ModelRequest,
  ask: (request: ModelRequest) => Promise<ModelReply>,
): Promise<ModelReply> {
  const { triesBefore = 0 } = request.origin;
  const passed: { model: string; error: RunError }[] = [];
  let tries = triesBefore;
  for (const model of chain) {
    try {
      const reply = await ask({ ...request, model, origin: { ...request.origin, triesBefore: tries } });
      return withRetries(reply, passed);
    } catch (thrown) {
      const error = toRunError(thrown, "model");
      tries += error.tries ?? 1;
      const isLast = passed.length === chain.length - 1;
      if (isLast || !goesOn(error)) {
        throw passed.length === 0 ? thrown : allFailed(passed, { model, error }, tries - triesBefore, thrown);
      }
      passed.push({ model, error });
    }
  }
  throw new Error("a chain of models has at least one");
}

function goesOn(error: RunError): boolean {
  return isRetryable(error) || (error.type === "budget" && wasNotCharged(error));
}

function withRetries(reply: ModelReply, passed: readonly { error: RunError }[]): ModelReply {
  if (passed.length === 0) return reply;
  return { ...reply, retries: [...passed.map(({ error }) => ({ error, waitedMs: 0 })), ...(reply.retries ?? [])] };
}

/**
 * One failure for all of them: that of the first, which is the model that is wanted, with the words of the last. What
 * may have been paid for, or may pass where the first cannot, comes before that.
 */
function allFailed(
  passed: readonly { error: RunError }[],
  last: { model: string; error: RunError },
  tries: number,
  cause: unknown,
): RunFailure {
  const [first] = passed;
  if (!first || !wasNotCharged(last.error) || (last.error.recoverable && !first.error.recoverable)) {
    return new RunFailure({ ...last.error, tries }, { cause });
  }
  const message = `${first.error.message}; nor did its fallback ${last.model} answer: ${last.error.message}`;
  return new RunFailure({ ...first.error, message, tries }, { cause });
}

function cycle(chain: readonly string[]): TroupeError {
  return new TroupeError("INVALID_CONFIG", `the fallbacks of ${chain[0]} go round: ${chain.join(" → ")}`, {
    fix: "take one of them out of the fallbacks",
  });
}
