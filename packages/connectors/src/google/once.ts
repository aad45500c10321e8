import { contentHash, keyReused } from "../idempotency/keyed-content.ts";

/** Enough of a hash to be unique. */
const digestLength = 32;

/** The same content has the same digest. */
export function digestOf(content: unknown): string {
  return contentHash(content).slice(0, digestLength);
}

/** More results than one process needs at a time. */
const rememberedMax = 1_000;

/** Calls of this process by their key: calls at the same moment share one result, and a failed call can be tried again. */
export interface CallsOnce<Result> {
  run(key: string, digest: string, act: () => Promise<Result>): Promise<Result>;
}

export function createCallsOnce<Result>(): CallsOnce<Result> {
  const calls = new Map<string, { digest: string; result: Promise<Result> }>();
  return {
    async run(key, digest, act) {
      const known = calls.get(key);
      if (known && known.digest !== digest) throw keyReused(key);
      if (known) return await known.result;
      const result = act();
      calls.set(key, { digest, result });
      const [oldest] = calls.keys();
      if (calls.size > rememberedMax && oldest !== undefined) calls.delete(oldest);
      try {
        return await result;
      } catch (thrown) {
        calls.delete(key);
        throw thrown;
      }
    },
  };
}
