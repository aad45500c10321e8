import { InboxItem } from "@troupe/core";
import { decodeText, type UndoPlanned, UndoRow } from "@troupe/core/internal";
import type { Database } from "../database/sqlite.ts";
import { toIso } from "./time.ts";

type Finished = Extract<InboxItem, { kind: "undo.finished" }>;

/** Reads the undos of a session from its stored inbox items, oldest first. */
export function createUndoLog(database: Database): (session: string) => UndoRow[] {
  const texts = database.prepareValue<[string], string>(
    `SELECT text FROM inbox_items WHERE session_id = ? AND json_extract(text, '$.kind') LIKE 'undo.%' ORDER BY seq`,
  );
  return (session) => toUndoRows(texts.all(session).map((text) => decodeText(InboxItem, text, "inbox item")));
}

/** The undos that inbox items describe. */
export function toUndoRows(items: readonly InboxItem[]): UndoRow[] {
  const finished = new Map(items.flatMap((item) => (item.kind === "undo.finished" ? [[item.undo, item]] : [])));
  return items.flatMap((item) => (item.kind === "undo.planned" ? [toUndoRow(item, finished.get(item.undo))] : []));
}

function toUndoRow(planned: UndoPlanned, finished: Finished | undefined): UndoRow {
  const { undo, session, run, by, step, redoes = null, at, files } = planned;
  const results = new Map(finished?.files.map((file) => [file.path, file]));
  return UndoRow.parse({
    ...{ undo, session, run, by, step, redoes, at: toIso(at) },
    finishedAt: finished ? toIso(finished.at) : null,
    files: files.map(({ path, before, after }) => ({
      path,
      kind: before === null ? "created" : after === null ? "deleted" : "modified",
      state: results.get(path)?.state ?? null,
      reason: results.get(path)?.reason ?? null,
    })),
  });
}
