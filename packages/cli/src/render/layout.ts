import { pad, textWidth, truncate } from "./width.ts";

export interface Column {
  align?: "left" | "right";
  /** Gives way when the line gets too long. At most one per layout. */
  flexible?: boolean;
}

/** One cell: its plain text, and how to paint it once it has been cut and padded. */
export interface Cell {
  text: string;
  paint?: (text: string) => string;
}

const gap = "  ";
const flexibleWidthMin = 12;

/**
 * Lines with aligned columns, two spaces apart, no wider than `width` where the flexible column can give way.
 * Colours go on last, so that they never count as width. A column in which nothing stands takes no room.
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
