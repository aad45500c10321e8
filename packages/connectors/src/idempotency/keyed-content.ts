import { createHash } from "node:crypto";
import { ConnectorError } from "../ports/connector-error.ts";

/** The same content has the same hash. Bytes count by their own hash. */
export function contentHash(content: unknown): string {
  const text = JSON.stringify(content, (_, value) =>
    value instanceof Uint8Array ? createHash("sha256").update(value).digest("hex") : value,
  );
  return createHash("sha256").update(text).digest("hex");
}

/** The error for a call whose key was used with another content. */
export function keyReused(key: string): ConnectorError {
  return new ConnectorError("params", `the idempotency key ${JSON.stringify(key)} was used with another content`, {
    param: "idempotencyKey",
    fix: "use a new key",
  });
}
