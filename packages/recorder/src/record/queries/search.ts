import { randomUUID } from "node:crypto";
import { SearchHit, type SearchPage, type SnippetPart } from "@troupe/core/internal";
import type { Database, SqlValue } from "../../database/sqlite.ts";
import { toIso } from "../time.ts";
import { quoted, searchExpression } from "./search-words.ts";

export interface SearchOptions {
  words: string;
  sinceMs: number | null;
  agent: string | null;
  after: number | null;
  limit: number;
}

/** Words of a snippet. */
const snippetTokens = 24;
const contentColumns = "{request_content response_summary response_content error_message}";

/** Searches the texts of runs and tool calls, newest first. The hits of a common word are read only as far as needed. */
export function createSearch(database: Database): (options: SearchOptions) => SearchPage {
  const matches = database.prepare<[string, number, string, string | null, string | null, number], { place: number }>(`
    SELECT words.rowid AS place FROM words CROSS JOIN messages m ON m.id = words.rowid
    WHERE words MATCH ? AND words.rowid < CAST(? AS INTEGER) AND m.started_at >= ?
      AND (? IS NULL OR m.agent_role = ?)
    ORDER BY words.rowid DESC LIMIT CAST(? AS INTEGER)`);
  const hit = database.prepare<[string, string, string, number], Record<string, SqlValue>>(`
    SELECT m.id AS place, m.session_id AS session, coalesce(r.run_id, p.run_id) AS run, m.agent_role AS agent,
      coalesce(r.team, p.team) AS team, coalesce(r.exact_status, m.status) AS status, m.started_at AS startedAt,
      CASE WHEN r.run_id IS NULL THEN json_object(
        'step', json_extract(m.metadata_json, '$.step'), 'call', json_extract(m.metadata_json, '$.call'),
        'tool', json_extract(m.request_content, '$.tool')
      ) END AS toolCall,
      snippet(words, -1, ?, ?, '…', ${snippetTokens}) AS snippet
    FROM words JOIN messages m ON m.id = words.rowid
      LEFT JOIN runs r ON r.message_id = m.id
      LEFT JOIN runs p ON r.run_id IS NULL AND p.message_id = m.parent_message_id
    WHERE words MATCH ? AND words.rowid = CAST(? AS INTEGER)`);

  return ({ words, sinceMs, agent: given, after, limit }) => {
    const expression = `${contentColumns} : (${searchExpression(words)})`;
    const agent = given?.replace("/", "_") ?? null;
    // The index has the words of an agent's id. The exact comparison follows in the query.
    const narrowed = agent === null ? expression : `(agent_role : ${quoted(agent)}) AND (${expression})`;
    const since = sinceMs === null ? "" : toIso(sinceMs);
    const before = after ?? Number.MAX_SAFE_INTEGER;
    const places = matches.all(narrowed, before, since, agent, agent, limit + 1).map(({ place }) => place);
    // A mark that no text can contain: it is new for each search.
    const mark = randomUUID();
    const hits = places.slice(0, limit).flatMap((place) => {
      const row = hit.get(`<${mark}`, `>${mark}`, expression, place);
      return row ? [toHit(row, mark)] : [];
    });
    return { hits, next: places.length > limit ? (places[limit - 1] ?? null) : null };
  };
}

function toHit({ toolCall, snippet, ...row }: Record<string, SqlValue>, mark: string): SearchHit {
  const call: unknown = typeof toolCall === "string" ? JSON.parse(toolCall) : null;
  const kind = call === null ? "run" : "tool_call";
  return SearchHit.parse({ ...row, kind, call, snippet: partsOf(String(snippet), mark) });
}

function partsOf(text: string, mark: string): SnippetPart[] {
  const parts = text.split(`<${mark}`).flatMap((part, i): SnippetPart[] => {
    if (i === 0) return [{ text: part, isMatch: false }];
    const [match = "", rest = ""] = part.split(`>${mark}`);
    return [
      { text: match, isMatch: true },
      { text: rest, isMatch: false },
    ];
  });
  return parts.filter((part) => part.text !== "");
}
