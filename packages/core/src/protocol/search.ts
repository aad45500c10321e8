import { z } from "zod";
import { Id, Token } from "./ids.ts";

/** A piece of a snippet. A reader marks the matches itself, so a snippet never carries markup. */
export const SnippetPart = z.object({ text: z.string(), isMatch: z.boolean() });
export type SnippetPart = z.infer<typeof SnippetPart>;

/** A run or a tool call whose texts match a search. */
export const SearchHit = z.object({
  /** The place in the record. `after` of the next page is the place of the last hit. */
  place: z.int(),
  kind: z.enum(["run", "tool_call"]),
  session: Id,
  run: Id,
  agent: Token,
  team: Token.nullable(),
  status: z.string(),
  startedAt: z.iso.datetime(),
  /** The tool call; null for a run. */
  call: z.object({ step: z.int(), call: z.int(), tool: z.string() }).nullable(),
  snippet: z.array(SnippetPart),
});
export type SearchHit = z.infer<typeof SearchHit>;

/** Hits, newest first. */
export const SearchPage = z.object({
  hits: z.array(SearchHit),
  /** The place after which the next page begins; null for the last page. */
  next: z.int().nullable(),
});
export type SearchPage = z.infer<typeof SearchPage>;

/** Longer searches are refused. */
export const searchCharsMax = 1_000;
