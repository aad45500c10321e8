import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import { withArchive } from "../session/archive.ts";
import { compareSessions, type SessionDifference } from "../session/compare-sessions.ts";
import { resolveSessionId } from "../session/resolve-ids.ts";

/** `troupe sessions diff`: compares two sessions. Returns 1 if they differ. */
export async function diffSessions(cli: Cli, one: string, other: string, { json }: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const ids = await withArchive(cli, async (archive) => [
    await resolveSessionId(archive, one),
    await resolveSessionId(archive, other),
  ]);
  const [first = "", second = ""] = ids;
  const { readFeed } = cli.composition;
  const feeds = { [first]: await readFeed(cli.home, first), [second]: await readFeed(cli.home, second) };
  const result = compareSessions({ first, second, feeds });
  if (json) out.line(jsonLine(result));
  else if (result.same) out.line(`the sessions have the same ${result.runs} runs, steps, calls, answers and costs`);
  else for (const line of tableOf(result.differences, out)) out.line(line);
  return result.same ? 0 : 1;
}

function tableOf(differences: readonly SessionDifference[], { colours, width }: Cli["terminal"]["out"]): string[] {
  const head = ["RUN", "AGENT", "WHAT", "FIRST", "SECOND"].map((text): Cell => ({ text, paint: colours.dim }));
  const side = (text: string | null): Cell => ({ text: text === null ? "—" : cleanLine(text).slice(0, 60) });
  const body = differences.map(({ path, agent, what, first, second }): Cell[] => [
    { text: path },
    { text: cleanLine(agent) },
    { text: cleanLine(what) },
    side(first),
    side(second),
  ]);
  return layout([{}, {}, {}, { flexible: true }, {}], [head, ...body], width);
}
