import type { RunRow, SessionRow } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatCost, formatDuration, shortIds, shortRunId } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { statusStyle } from "../render/status.ts";
import { isSettled } from "../session/client.ts";
import { type HomeConnection, joinOwner } from "../session/join-or-start.ts";

const listedMax = 500;

/** A session under way, with its runs that have not ended. */
interface ActiveSession {
  session: SessionRow;
  runs: RunRow[];
}

/** `troupe ps`: shows the process that owns the home, and the sessions and runs under way. */
export async function ps(cli: Cli, { json }: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const connection = await joinOwner(cli);
  if (!connection) {
    if (json) out.line(jsonLine({ owner: null, sessions: [] }));
    else err.line("no daemon runs: troupe up -d starts one");
    return 0;
  }
  const active = await activeSessions(connection);
  const { token: _, ...owner } = connection.owner;
  if (json) {
    out.line(jsonLine({ owner, sessions: active.map(({ session, runs }) => ({ ...session, runs })) }));
    return 0;
  }
  const age = formatDuration(cli.now() - Date.parse(owner.startedAt));
  out.line(`${out.colours.bold(owner.kind)}  pid ${owner.pid}  ${owner.url}  troupe ${owner.version}  up ${age}`);
  if (active.length === 0) err.line("no session is under way");
  else for (const line of table(cli, active)) out.line(line);
  return 0;
}

async function activeSessions({ client }: HomeConnection): Promise<ActiveSession[]> {
  const { sessions } = await client.sessions({ limit: listedMax });
  const active = sessions.filter(({ status }) => !isSettled(status));
  return await Promise.all(
    active.map(async (session) => {
      const detail = await client.session(session.session);
      return { session, runs: (detail?.runs ?? []).filter(({ status }) => !isSettled(status)) };
    }),
  );
}

function table({ terminal: { out }, now }: Cli, active: readonly ActiveSession[]): string[] {
  const { colours, width } = out;
  const shortId = shortIds(active.map(({ session }) => session.session));
  const head = ["SESSION", "RUN", "AGENT", "STATUS", "DOES", "TOKENS", "COST", "TIME", "TASK"];
  const rows = active.flatMap(({ session, runs }) =>
    runs.map((run): Cell[] => [
      { text: shortId(session.session), paint: colours.dim },
      { text: shortRunId(run) },
      { text: cleanLine(run.agent), paint: colours.bold },
      {
        text: `${statusStyle(run.exactStatus).glyph} ${run.exactStatus}`,
        paint: statusStyle(run.exactStatus).paint(colours),
      },
      { text: cleanLine(run.activity ?? "") },
      { text: run.totalTokens.toLocaleString("en-US") },
      { text: formatCost(run.costUsd, { isEstimate: run.estimatedTokens > 0 }) },
      { text: formatDuration(now() - Date.parse(run.startedAt)) },
      { text: cleanLine(run.task) },
    ]),
  );
  const right = { align: "right" } as const;
  const columns = [{}, {}, {}, {}, {}, right, right, right, { flexible: true }];
  return layout(columns, [head.map((text) => ({ text, paint: colours.dim })), ...rows], width);
}
