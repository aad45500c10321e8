export interface Column {
  align?: "left" | "right";
  /** Shrinks when the line is too long. At most one column of a layout. */
  flexible?: boolean;
}

/** Plain text of a cell, and a function that colours it after it is truncated and padded. */
export interface Cell {
  text: string;
  paint?: (text: string) => string;
}

const gap = "  ";
const flexibleWidthMin = 12;

/**
 * Aligns columns, two spaces apart. The flexible column shrinks so that a line fits `width`. Colours are added last, so
 * that they do not count as width. An empty column takes no space.
 */
export function layout(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): string[] {
  const widths = columns.map((_, i) => Math.max(0, ...rows.map((row) => textWidth(row[i]?.text ?? ""))));
  const flexible = columns.findIndex((column) => column.flexible);
  if (flexible >= 0) {
    const wanted = widths[flexible] ?? 0;
    const others =
      widths.reduce((sum, each) => sum + each, 0) -
      wanted +
      gap.length * (widths.filter((each) => each > 0).length - 1);
    widths[flexible] = Math.min(wanted, Math.max(flexibleWidthMin, width - others));
  }
  return rows.map((row) => joinCells(columns, row, widths));
}

function joinCells(columns: readonly Column[], row: readonly Cell[], widths: readonly number[]): string {
  const last = row.findLastIndex((cell) => cell.text !== "");
  const cells = row.slice(0, last + 1).flatMap((cell, i) => {
    if (widths[i] === 0) return [];
    const cut = truncate(cell.text, widths[i] ?? 0);
    const padding = pad("", (widths[i] ?? 0) - textWidth(cut));
    const painted = cell.paint ? cell.paint(cut) : cut;
    if (columns[i]?.align === "right") return padding + painted;
    return i === last ? painted : painted + padding;
  });
  return cells.join(gap).trimEnd();
}

/** Terminal columns of a text: wide scripts and emoji take two, combining marks none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Truncates to `width` columns with an ellipsis at the end. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return "";
  let shown = "";
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width - 1) break;
    shown += character;
  }
  return `${shown.trimEnd()}…`;
}

/** Breaks text into lines of at most `width` columns, at any character. No text is lost. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => breakLine(line, Math.max(2, width)));
}

function breakLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const character of text) {
    const columns = characterWidth(character);
    if (used + columns > width) {
      lines.push(line);
      line = "";
      used = 0;
    }
    line += character;
    used += columns;
  }
  return [...lines, line];
}

export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - textWidth(text)));
  return align === "left" ? text + space : space + text;
}

const zero = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

function characterWidth(character: string): number {
  if (character < "\u0300") return 1;
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
