import type { RunResponse, RunRow, SessionDetail, SessionRow } from "@troupe/core";
import { describeAgent } from "@troupe/core/texts";
import type { Cli } from "../cli.ts";
import { approvalTable } from "../render/approval.ts";
import { changeTable, diffLines } from "../render/changes.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { formatCost, formatDuration, shortIds } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { statusStyle } from "../render/status.ts";
import { renderTree } from "../render/tree.ts";
import { undoLines } from "../render/undos.ts";
import { type Archive, withArchive } from "../session/archive.ts";
import { isSettled } from "../session/client.ts";
import { resolveSession } from "../session/resolve-ids.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe sessions ls`: lists sessions, newest first. */
export async function listSessions(cli: Cli, flags: { limit: number; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async (archive) => {
    const rows = await archive.sessions(flags.limit);
    if (flags.json) out.line(jsonLine(rows));
    else if (rows.length === 0) err.line('no sessions yet; start one: troupe run "what to do"');
    else for (const line of tableOf(rows, { out, now: cli.now() })) out.line(line);
    if (!flags.json) warnIfNotRunning(archive, rows, err);
    return 0;
  });
}

export interface ShowFlags {
  tree: boolean;
  diff: boolean;
  json: boolean;
}

/** `troupe sessions show`: shows a session with its answer or its tree, and its file changes. */
export async function showSession(cli: Cli, given: string, flags: ShowFlags): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async (archive) => {
    const row = await resolveSession(archive, given);
    const detail = (await archive.session(row.session)) ?? { position: 0, session: row, runs: [], approvals: [] };
    const response = await archive.response(row.session);
    const changes = await archive.changes(row.session);
    if (flags.json) {
      out.line(jsonLine({ ...detail, response, changes }));
      return 0;
    }
    const now = cli.now();
    const head = headOf(detail, { out, now });
    const body = flags.tree ? treeOf(detail, { out, now }) : answerOf(detail, response);
    const warnings = [...warningLines(response, out), ...damageLines(detail, out)];
    const undos = (detail.undos ?? []).flatMap((row) => undoLines(row, out));
    const touched = changes.length === 0 ? [] : ["", ...changeTable(changes, out)];
    const diffs = flags.diff ? changes.flatMap((change) => diffLines(change, out)) : [];
    for (const line of [
      ...head,
      "",
      ...body,
      ...warnings,
      ...touched,
      ...diffs,
      ...undos,
      ...questionsOf(detail, { out, now }),
    ])
      out.line(line);
    warnIfNotRunning(archive, [detail.session], err);
    return 0;
  });
}

function treeOf(detail: SessionDetail, { out, now }: { out: Output; now: number }): string[] {
  return renderTree(detail.runs, { width: out.width, colours: out.colours, now });
}

/** The requests for approval that the session waits for. */
function questionsOf({ approvals }: SessionDetail, options: { out: Output; now: number }): string[] {
  const waiting = approvals.filter((row) => row.state === "waiting");
  return waiting.length === 0 ? [] : ["", ...approvalTable(waiting, options)];
}

function answerOf({ session }: SessionDetail, response: RunResponse | null): string[] {
  const answer = response ? response.details || response.summary : session.summary;
  return [cleanText(answer ?? "no answer yet").trimEnd()];
}

/** Warnings that need the user's attention, such as a command with an unknown outcome. */
function warningLines(response: RunResponse | null, { colours }: Output): string[] {
  if (response === null || response.warnings.length === 0) return [];
  return ["", ...response.warnings.map((warning) => `${colours.yellow("warning:")} ${cleanLine(warning)}`)];
}

/** Damaged and contradicting entries of the session. */
function damageLines({ flaws = [] }: SessionDetail, { colours }: Output): string[] {
  return flaws.map(({ kind, run, index, reason }) => {
    const what = run === null ? `item ${index} of its inbox` : `entry ${index} of run ${run}`;
    const then = kind === "forked" ? "both are stored, the first counts" : "it was set aside";
    return `${colours.red("damage:")} ${what} ${cleanLine(reason)}: ${then}`;
  });
}

/** Warns that no process runs the home: the record still shows unfinished sessions as running. */
function warnIfNotRunning(archive: Archive, rows: readonly SessionRow[], err: Output): void {
  if (archive.connection || rows.every((row) => isSettled(row.status))) return;
  err.line(err.colours.yellow("no daemon is running; unfinished sessions continue with: troupe up"));
}

function tableOf(rows: readonly SessionRow[], { out, now }: { out: Output; now: number }): string[] {
  const { colours } = out;
  const short = shortIds(rows.map((row) => row.session));
  const heads = ["SESSION", "STATUS", "AGENT", "TASK", "RUNS", "TOOK", "AGE"];
  const head: Cell[] = heads.map((text) => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => [
    { text: short(row.session) },
    statusCell(row, out),
    { text: cleanLine(describeAgent(row)) },
    { text: cleanLine(row.task) },
    { text: String(row.runs) },
    { text: formatDuration(tookMs(row, now)) },
    { text: formatDuration(now - askedAt(row)), paint: colours.dim },
  ]);
  const right = { align: "right" } as const;
  return layout([{}, {}, {}, { flexible: true }, right, right, right], [head, ...body], out.width);
}

/** @param status a more exact status than that of the row */
function statusCell(row: SessionRow, { colours }: Output, status: string = row.status): Cell {
  const waits = row.approvalsWaiting > 0 && !isSettled(row.status);
  const word = waits ? "waiting" : status;
  const style = statusStyle(word);
  return { text: `${style.glyph} ${waits ? "waiting for approval" : word}`, paint: style.paint(colours) };
}

/** Start of the newest turn. */
function askedAt(row: SessionRow): number {
  return Date.parse(row.turnStartedAt ?? row.startedAt);
}

function tookMs(row: SessionRow, now: number): number {
  return row.durationMs ?? now - askedAt(row);
}

function headOf({ session: row, runs }: SessionDetail, { out, now }: { out: Output; now: number }): string[] {
  const { colours } = out;
  const isPaused = runs.some(({ run, exactStatus }) => run === row.rootRun && exactStatus === "paused");
  const facts: [string, Cell][] = [
    ["session", { text: row.session }],
    ["status", statusCell(row, out, isPaused ? "paused" : row.status)],
    ["agent", { text: cleanLine(describeAgent(row)) }],
    ...(row.team === null ? [] : [["team", { text: cleanLine(row.team) }] as [string, Cell]]),
    ["task", { text: cleanLine(row.task) }],
    ...forkFact(row),
    ...turnsOf(row, runs),
    ["workspace", { text: cleanLine(row.workspace) }],
    ["started", { text: row.startedAt }],
    ["took", { text: formatDuration(tookMs(row, now)) }],
    ["runs", { text: row.runsActive > 0 ? `${row.runs}, ${row.runsActive} active` : String(row.runs) }],
    ["tokens", { text: row.totalTokens.toLocaleString("en-US") }],
    [
      "cost",
      { text: row.costUsd === null ? "unknown" : formatCost(row.costUsd, { isEstimate: row.estimatedTokens > 0 }) },
    ],
    ...demoFact(row),
    ...(row.error ? [["error", { text: cleanLine(row.error), paint: colours.red }] as [string, Cell]] : []),
  ];
  const lines = facts.map(([name, cell]): Cell[] => [{ text: name, paint: colours.dim }, cell]);
  return layout([{}, {}], lines, out.width);
}

/** The origin of a fork. A daemon of an earlier version does not name it. */
function forkFact({ forkedFrom }: SessionRow): [string, Cell][] {
  if (!forkedFrom) return [];
  const { session, run, step } = forkedFrom;
  return [["forked from", { text: `session ${session}, run ${run}, step ${step}` }]];
}

/** Labels a session that no model answered. */
function demoFact({ demo, replay }: SessionRow): [string, Cell][] {
  if (replay) return [["replay", { text: "recorded, offline; no model was called, $0" }]];
  return demo ? [["demo", { text: "scripted, offline; no model was called, $0" }]] : [];
}

/** Number of turns and the task of the newest one, for a continued session. */
function turnsOf(row: SessionRow, runs: readonly RunRow[]): [string, Cell][] {
  if (row.turns === 1) return [];
  const last = runs.find(({ run }) => run === row.rootRun);
  return [["turns", { text: `${row.turns}; the last: ${cleanLine(last?.task ?? "")}` }]];
}
