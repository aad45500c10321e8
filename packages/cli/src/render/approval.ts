import type { ApprovalRow } from "@troupe/core";
import { describeAgent } from "@troupe/core/texts";
import type { Output } from "../terminal/terminal.ts";
import { cleanLine, visibleJson } from "./clean.ts";
import { formatDuration, shortIds } from "./format.ts";
import { type Cell, layout, textWidth, wrap } from "./layout.ts";
import { previewLines } from "./preview.ts";

/** Longer arguments are printed one per line. */
const oneLineMax = 76;
const indent = "  ";
const detailWidthMax = 100;

/** The agents from the root run to the one that asks. */
export function requesterPath({ path, team }: Pick<ApprovalRow, "path" | "team">): string {
  return path.map((agent) => cleanLine(describeAgent({ agent, team }))).join(" › ");
}

/** The tool for display. */
export function toolName({ tool }: Pick<ApprovalRow, "tool">): string {
  return tool === null ? "the whole run" : cleanLine(tool);
}

/** The reason and the full call: its message or event, else its arguments. The tool runs with exactly these arguments. */
export function detailLines(row: ApprovalRow, { width, colours }: Pick<Output, "width" | "colours">): string[] {
  const reason = wrap(cleanLine(row.reason), Math.min(width, detailWidthMax) - indent.length);
  return [
    ...reason.map((line) => indent + colours.dim(line)),
    ...callLines(row, { width, colours }),
    ...lossLines(row).map((line) => indent + colours.red(line)),
  ];
}

/** The message or event of the call as a person would see it, else its arguments. */
function callLines({ preview, args }: ApprovalRow, { width, colours }: Pick<Output, "width" | "colours">): string[] {
  if (preview !== undefined) {
    const columns = Math.min(width, detailWidthMax) - indent.length;
    return previewLines(preview, { width: columns, colours }).map((line) => (line === "" ? "" : indent + line));
  }
  return args === null ? [] : argumentLines(args, width);
}

/** The files that the call deletes or overwrites, one per line. */
function lossLines({ losses }: Pick<ApprovalRow, "losses">): string[] {
  if (losses === undefined) return [];
  const { files, count, more } = losses;
  const rest = count - files.length;
  return [
    `lost, and not in git: ${count}${more ? " or more" : ""} ${count === 1 ? "file" : "files"}`,
    ...files.map(({ path, bytes }) => `  ${cleanLine(path)} (${bytes} bytes)`),
    ...(rest > 0 ? [`  and ${rest}${more ? " or more" : ""} others`] : []),
  ];
}

/** The full arguments, wrapped. */
export function argumentLines(args: ApprovalRow["args"], width: number): string[] {
  const columns = Math.min(width, detailWidthMax) - indent.length;
  const short = visibleJson(args);
  const text = textWidth(short) <= Math.min(columns, oneLineMax) ? short : visibleJson(args, 2);
  return wrap(text, columns).map((line) => indent + line);
}

/** The question for a user at the terminal. */
export function questionLines(row: ApprovalRow, { width, colours }: Output): string[] {
  const head = `? ${requesterPath(row)} asks to run ${toolName(row)} (${row.risk} risk)`;
  return [
    ...wrap(head, width).map((line) => colours.bold(colours.yellow(line))),
    ...detailLines(row, { width, colours }),
  ];
}

/** The commands that answer a request. */
export function answerCommands({ id }: Pick<ApprovalRow, "id">): { approve: string; deny: string } {
  return { approve: `troupe approvals approve ${id}`, deny: `troupe approvals deny ${id}` };
}

/** One line for logs. */
export function approvalLine(row: ApprovalRow): string {
  const { approve, deny } = answerCommands(row);
  const what = `${requesterPath(row)} asks to run ${toolName(row)} (${row.risk} risk)`;
  return `waiting for approval: ${what}: ${approve} # or: ${deny}`;
}

/** A table with the arguments of each request below its line. */
export function approvalTable(rows: readonly ApprovalRow[], options: { out: Output; now: number }): string[] {
  const { out, now } = options;
  const { colours } = out;
  const [id, session] = [shortIds(rows.map((row) => row.id)), shortIds(rows.map((row) => row.session))];
  const heads = ["APPROVAL", "SESSION", "ASKED BY", "TOOL", "RISK", "STATE", "AGE"];
  const head: Cell[] = heads.map((text) => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => [
    { text: id(row.id), paint: colours.bold },
    { text: session(row.session) },
    { text: requesterPath(row) },
    { text: toolName(row) },
    { text: row.risk, paint: riskPaint(row, out) },
    stateCell(row, out),
    { text: formatDuration(now - Date.parse(row.requestedAt)), paint: colours.dim },
  ]);
  const [first = "", ...lines] = layout(
    [{}, {}, { flexible: true }, {}, {}, {}, { align: "right" }],
    [head, ...body],
    out.width,
  );
  return [first, ...rows.flatMap((row, i) => [lines[i] ?? "", ...detailLines(row, out), ...answerOf(row, out)])];
}

function stateCell({ state }: ApprovalRow, { colours }: Output): Cell {
  const styles = {
    waiting: { glyph: "?", paint: colours.yellow },
    approved: { glyph: "✓", paint: colours.green },
    denied: { glyph: "✗", paint: colours.red },
    withdrawn: { glyph: "⊘", paint: colours.dim },
  };
  const { glyph, paint } = styles[state];
  return { text: `${glyph} ${state}`, paint };
}

function riskPaint({ risk }: ApprovalRow, { colours }: Output): (text: string) => string {
  if (risk === "high") return colours.red;
  return risk === "medium" ? colours.yellow : colours.dim;
}

/** The answer, with its author and reason. */
function answerOf(row: ApprovalRow, { colours }: Output): string[] {
  if (row.answeredAt === null || row.by === null) return [];
  const reach = { once: "", run: ", for the rest of the run", rule: ", and by a rule from now on" }[
    row.scope ?? "once"
  ];
  const reason = row.answerReason === null ? "" : `: ${cleanLine(row.answerReason)}`;
  return [indent + colours.dim(`${row.state} by ${cleanLine(row.by)}${reach}${reason}`)];
}
