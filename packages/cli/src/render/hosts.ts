import type { HostRow } from "@troupe/core";
import type { Colours, Output } from "../terminal.ts";
import { cleanLine } from "./clean.ts";
import { formatDuration } from "./duration.ts";
import { type Cell, layout } from "./layout.ts";

const looks = {
  alive: { glyph: "●", paint: (colours: Colours) => colours.green },
  draining: { glyph: "◌", paint: (colours: Colours) => colours.yellow },
  gone: { glyph: "✗", paint: (colours: Colours) => colours.dim },
} as const satisfies Record<HostRow["status"], unknown>;

/** A line for each host, under a head. */
export function hostTable(rows: readonly HostRow[], { out, now }: { out: Output; now: number }): string[] {
  const { colours, width } = out;
  const heads = ["HOST", "ROLE", "STATUS", "AGENTS", "BUSY", "RUNS", "PLACE", "VERSION", "HEARD"];
  const head = heads.map((text): Cell => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => {
    const { glyph, paint } = looks[row.status];
    return [
      { text: cleanLine(row.host), paint: colours.bold },
      { text: row.role },
      { text: `${glyph} ${row.status}`, paint: paint(colours) },
      { text: cleanLine(row.agents.map(({ id }) => id).join(", ")) || "none" },
      // What somebody had to do who is not there any more is somebody else's by now.
      { text: row.status === "gone" ? "–" : `${row.busy}/${row.capacity}` },
      { text: row.status === "gone" ? "–" : String(row.runs) },
      { text: cleanLine(row.place) },
      { text: cleanLine(row.version) },
      { text: `${formatDuration(now - Date.parse(row.lastHeartbeatAt))} ago`, paint: colours.dim },
    ];
  });
  const right = { align: "right" } as const;
  return layout([{}, {}, {}, { flexible: true }, right, right, {}, {}, right], [head, ...body], width);
}
