import { ApprovalRow, ChangeRow, Entry, HostRow, SessionRow } from "@troupe/core";
import { ApprovalRule, IdMatch, RunNode, UndoRow } from "@troupe/core/internal";
import { z } from "zod";

/** `position` was read before the rows. Events after it can repeat a row, but they skip none. */
export const SessionList = z.object({ position: z.int(), sessions: z.array(SessionRow) });
export type SessionList = z.infer<typeof SessionList>;

/** `position` has the same meaning as in `SessionList`. */
export const ApprovalList = z.object({ position: z.int(), approvals: z.array(ApprovalRow) });
export type ApprovalList = z.infer<typeof ApprovalList>;

export const RuleList = z.object({ rules: z.array(ApprovalRule) });
export type RuleList = z.infer<typeof RuleList>;

/** The hosts that this process knows. The event stream does not cover hosts; a client polls this list. */
export const HostList = z.object({ hosts: z.array(HostRow) });
export type HostList = z.infer<typeof HostList>;

/** The undos of a run, oldest first. */
export const UndoList = z.object({ undos: z.array(UndoRow) });
export type UndoList = z.infer<typeof UndoList>;

/** The runs from the root down to the parent of a run. */
export const AncestorList = z.object({ ancestors: z.array(RunNode) });
export type AncestorList = z.infer<typeof AncestorList>;

/** Sessions, and then runs, whose id begins with a prefix. */
export const IdMatchList = z.object({ matches: z.array(IdMatch) });
export type IdMatchList = z.infer<typeof IdMatchList>;

export const ChangePage = z.object({
  changes: z.array(ChangeRow),
  /** The id after which the next page starts; null for the last page. */
  next: z.int().nullable(),
});
export type ChangePage = z.infer<typeof ChangePage>;

export const EntryPage = z.object({
  entries: z.array(Entry),
  /** The index at which the next page starts; null for the last page. */
  next: z.int().nullable(),
  /** Indexes of entries that are larger than a page. */
  omitted: z.array(z.int()),
});
export type EntryPage = z.infer<typeof EntryPage>;

/** The largest page that the API sends. */
const pageBytesMax = 1024 * 1024;
/** Part of a page that is reserved for the fields around its items. */
const headBytes = 1024;
export const itemBytesMax = pageBytesMax - headBytes;

/** Cuts a page from stored texts that start at index `from`. With `more`, the record can have further entries. */
export function cutEntryPage(texts: readonly string[], from: number, more: boolean): Record<keyof EntryPage, unknown> {
  const entries: unknown[] = [];
  const omitted: number[] = [];
  let bytesLeft = itemBytesMax;
  for (const [i, text] of texts.entries()) {
    const bytes = Buffer.byteLength(text) + 1;
    if (bytes > itemBytesMax) omitted.push(from + i);
    else if (bytes > bytesLeft) return { entries, next: from + i, omitted };
    else {
      bytesLeft -= bytes;
      entries.push(JSON.parse(text));
    }
  }
  return { entries, next: more ? from + texts.length : null, omitted };
}

/** Cuts a page of changes. A change that is larger than a page loses its diff. */
export function cutChangePage(rows: readonly ChangeRow[], more: boolean): ChangePage {
  const changes: ChangeRow[] = [];
  let bytesLeft = itemBytesMax;
  for (const whole of rows) {
    const row = bytesOf(whole) > itemBytesMax ? { ...whole, diff: "", cut: true } : whole;
    bytesLeft -= bytesOf(row) + 1;
    const last = changes.at(-1);
    if (bytesLeft < 0 && last) return { changes, next: last.id };
    changes.push(row);
  }
  return { changes, next: more ? (rows.at(-1)?.id ?? null) : null };
}

/** Bytes of a value as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
