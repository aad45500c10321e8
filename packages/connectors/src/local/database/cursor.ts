import { ConnectorError } from "../../ports/connector-error.ts";
import type { Page } from "../../ports/page.ts";

/** One row more than the page tells whether another page follows. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  toCursor: (row: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(toItem), nextCursor: rows.length > limit && last ? toCursor(last) : null };
}

/** The numbers of a cursor. Throws `params` for a text that no page returned. */
export function numbersIn(cursor: string, count: number): bigint[] {
  const numbers = cursor.split(".");
  if (numbers.length !== count || !numbers.every((number) => /^-?\d{1,18}$/.test(number))) throw wrongCursor(cursor);
  return numbers.map(BigInt);
}

export function wrongCursor(cursor: string): ConnectorError {
  return new ConnectorError("params", `cursor: ${JSON.stringify(cursor)} is not a cursor of this list`, {
    param: "cursor",
    fix: "pass nextCursor of the page before, or no cursor",
  });
}
