import type { Clock } from "@troupe/core";
import { contentHash, keyReused } from "../../idempotency/keyed-content.ts";
import type { OfficeDatabase } from "./office-database.ts";

/** One kind of call of one account. Keys of other accounts and kinds do not collide with its keys. */
export interface ReceiptScope {
  database: OfficeDatabase;
  clock: Pick<Clock, "now">;
  account: string;
  kind: "send" | "draft" | "event" | "post";
}

/**
 * Acts once for each key, and returns the id that the first call made. The act and its receipt are one transaction: a kill
 * leaves both or neither.
 */
export function actOnce(scope: ReceiptScope, key: string, content: unknown, act: () => string): string {
  const { database, account, kind } = scope;
  const hash = contentHash(content);
  return database.transaction(() => {
    const known = readReceipt(scope, key);
    if (known) {
      if (known.contentHash === hash) return known.result;
      throw keyReused(key);
    }
    const result = act();
    database.run(
      "INSERT INTO receipts (account, kind, key, content_hash, result, created_ms) VALUES (?, ?, ?, ?, ?, ?)",
      ...[account, kind, key, hash, result, scope.clock.now()],
    );
    return result;
  });
}

/** The result of an earlier call with this key. */
export function readReceipt(
  { database, account, kind }: ReceiptScope,
  key: string,
): { result: string; contentHash: string } | undefined {
  return database.get(
    "SELECT result, content_hash AS contentHash FROM receipts WHERE account = ? AND kind = ? AND key = ?",
    account,
    kind,
    key,
  );
}
