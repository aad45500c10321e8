import { createHash } from "node:crypto";
import { ConnectorError } from "../ports/connector-error.ts";

/** The same content has the same digest. Bytes count by their own hash. */
export function digestOf(content: unknown): string {
  const text = JSON.stringify(content, (_, value) =>
    value instanceof Uint8Array ? createHash("sha256").update(value).digest("hex") : value,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, digestLength);
}

/** Enough of a hash to be unique. */
const digestLength = 32;

export function keyReused(key: string): ConnectorError {
  return new ConnectorError("params", `the idempotency key ${JSON.stringify(key)} was used with another content`, {
    param: "idempotencyKey",
    fix: "use a new key",
  });
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
