import type { SearchHit, SearchPage } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import type { Cli } from "../cli.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { formatDuration } from "../render/format.ts";
import { withArchive } from "../session/archive.ts";
import type { Output } from "../terminal/terminal.ts";

export interface SearchFlags {
  /** How far to look back; null for the whole record. */
  windowMs: number | null;
  agent: string | null;
  limit: number;
  json: boolean;
}

/** `troupe search`: finds runs and tool calls by the words of their requests, answers, arguments and results. */
export async function search(cli: Cli, words: string, { windowMs, agent, limit, json }: SearchFlags): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async ({ queries }) => {
    const sinceMs = windowMs === null ? null : cli.now() - windowMs;
    const page = await queries.search({ words, sinceMs, agent, after: null, limit });
    if (json) {
      out.line(jsonLine(page));
      return 0;
    }
    for (const hit of page.hits) for (const line of linesOf(hit, out, cli.now())) out.line(line);
    err.line(err.colours.dim(noteOf(page, words)));
    return 0;
  });
}

function noteOf({ hits, next }: SearchPage, words: string): string {
  const [newest] = hits;
  if (!newest) return `nothing has all words of: ${cleanLine(words)}`;
  const more = next === null ? "" : `; the newest ${hits.length} are shown, for more: --limit ${hits.length * 2}`;
  return `to read one: troupe sessions show ${newest.session} --log --run ${newest.run}${more}`;
}

function linesOf(hit: SearchHit, { colours }: Output, now: number): string[] {
  const { session, run, call, status, startedAt, snippet } = hit;
  const what = call === null ? "" : ` › ${cleanLine(call.tool)}, step ${call.step}`;
  const age = formatDuration(now - Date.parse(startedAt));
  const text = snippet.map((part) => {
    // Parts are cut within words and spaces, so the white space at their ends stays.
    const shown = cleanText(part.text).replace(/\s+/g, " ");
    return part.isMatch ? colours.bold(colours.yellow(shown)) : shown;
  });
  return [
    `${colours.cyan(cleanLine(describeAgent(hit)))}${what}  ${colours.dim(`${cleanLine(status)}, ${age} ago`)}`,
    `  ${text.join("").trim()}`,
    `  ${colours.dim(`session ${session}  run ${run}`)}`,
  ];
}
