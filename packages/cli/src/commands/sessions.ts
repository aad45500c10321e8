import type { RunResponse, SessionDetail, SessionRow } from "@troupe/core";
import { type Archive, resolveSession, shortIds, withArchive } from "../archive.ts";
import type { Cli } from "../cli.ts";
import { isSettled } from "../follow.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { formatDuration } from "../render/duration.ts";
import { type Cell, layout } from "../render/layout.ts";
import { statusLook } from "../render/status.ts";
import { renderTree } from "../render/tree.ts";
import type { Output } from "../terminal.ts";

/** `troupe sessions ls`: the newest sessions, newest first. */
export async function listSessions(cli: Cli, flags: { limit: number; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async (archive) => {
    const rows = await archive.sessions(flags.limit);
    if (flags.json) out.line(jsonLine(rows));
    else if (rows.length === 0) err.line('no sessions yet; start one: troupe run "what to do"');
    else for (const line of tableOf(rows, { out, now: cli.now() })) out.line(line);
    if (!flags.json) noteOrphans(archive, rows, err);
    return 0;
  });
}

/** `troupe sessions show`: one session, with its tree or its answer. */
export async function showSession(cli: Cli, given: string, flags: { tree: boolean; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async (archive) => {
    const row = await resolveSession(archive, given);
    const detail = (await archive.session(row.session)) ?? { position: 0, session: row, runs: [] };
    const response = await archive.response(row.session);
    if (flags.json) {
      out.line(jsonLine({ ...detail, response }));
      return 0;
    }
    for (const line of headOf(detail.session, { out, now: cli.now() })) out.line(line);
    out.line("");
    const lines = flags.tree ? treeOf(detail, { out, now: cli.now() }) : answerOf(detail, response);
    for (const line of lines) out.line(line);
    noteOrphans(archive, [detail.session], err);
    return 0;
  });
}

function treeOf(detail: SessionDetail, { out, now }: { out: Output; now: number }): string[] {
  return renderTree(detail.runs, { width: out.width, colours: out.colours, now });
}

function answerOf({ session }: SessionDetail, response: RunResponse | null): string[] {
  const answer = response ? response.details || response.summary : session.summary;
  return [cleanText(answer ?? "no answer yet").trimEnd()];
}

/** A session without anybody who runs it looks alive in the record, and is not. */
function noteOrphans(archive: Archive, rows: readonly SessionRow[], err: Output): void {
  if (archive.member || rows.every((row) => isSettled(row.status))) return;
  err.line(err.colours.yellow("nobody runs this home now; what has not settled goes on with: troupe up"));
}

function tableOf(rows: readonly SessionRow[], { out, now }: { out: Output; now: number }): string[] {
  const { colours } = out;
  const short = shortIds(rows.map((row) => row.session));
  const heads = ["SESSION", "STATUS", "AGENT", "TASK", "RUNS", "TOOK", "AGE"];
  const head: Cell[] = heads.map((text) => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => [
    { text: short(row.session) },
    statusCell(row, out),
    { text: cleanLine(row.agent) },
    { text: cleanLine(row.task) },
    { text: String(row.runs) },
    { text: formatDuration(tookMs(row, now)) },
    { text: formatDuration(now - Date.parse(row.startedAt)), paint: colours.dim },
  ]);
  const right = { align: "right" } as const;
  return layout([{}, {}, {}, { flexible: true }, right, right, right], [head, ...body], out.width);
}

function statusCell(row: SessionRow, { colours }: Output): Cell {
  const look = statusLook(row.status);
  return { text: `${look.glyph} ${row.status}`, paint: look.paint(colours) };
}

function tookMs(row: SessionRow, now: number): number {
  return row.durationMs ?? now - Date.parse(row.startedAt);
}

function headOf(row: SessionRow, { out, now }: { out: Output; now: number }): string[] {
  const { colours } = out;
  const facts: [string, Cell][] = [
    ["session", { text: row.session }],
    ["status", statusCell(row, out)],
    ["agent", { text: cleanLine(row.agent) }],
    ["task", { text: cleanLine(row.task) }],
    ["workspace", { text: cleanLine(row.workspace) }],
    ["started", { text: row.startedAt }],
    ["took", { text: formatDuration(tookMs(row, now)) }],
    ["runs", { text: row.runsActive > 0 ? `${row.runs}, ${row.runsActive} active` : String(row.runs) }],
    ["tokens", { text: row.totalTokens.toLocaleString("en-US") }],
    ...(row.demo ? [["demo", { text: "scripted, offline; no model was called, $0" }] as [string, Cell]] : []),
    ...(row.error ? [["error", { text: cleanLine(row.error), paint: colours.red }] as [string, Cell]] : []),
  ];
  const lines = facts.map(([name, cell]): Cell[] => [{ text: name, paint: colours.dim }, cell]);
  return layout([{}, {}], lines, out.width);
}
