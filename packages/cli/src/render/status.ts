import type { Colours } from "../terminal/terminal.ts";

/** Glyph and colour of a status, beside its word, so that a status is readable without colours. */
export interface StatusStyle {
  glyph: string;
  paint: (colours: Colours) => (text: string) => string;
}

const styles: Record<string, StatusStyle> = {
  pending: { glyph: "○", paint: (colours) => colours.dim },
  queued: { glyph: "○", paint: (colours) => colours.dim },
  waiting: { glyph: "?", paint: (colours) => colours.yellow },
  paused: { glyph: "‖", paint: (colours) => colours.yellow },
  parked: { glyph: "○", paint: (colours) => colours.dim },
  running: { glyph: "●", paint: (colours) => colours.cyan },
  completed: { glyph: "✓", paint: (colours) => colours.green },
  failed: { glyph: "✗", paint: (colours) => colours.red },
  rejected: { glyph: "✗", paint: (colours) => colours.red },
  cancelled: { glyph: "⊘", paint: (colours) => colours.yellow },
  timeout: { glyph: "◷", paint: (colours) => colours.yellow },
  bailed_out: { glyph: "◷", paint: (colours) => colours.yellow },
};

/** The style of a status. A status of a newer version looks like `running`. */
export function statusStyle(status: string): StatusStyle {
  return styles[status] ?? { glyph: "●", paint: (colours) => colours.cyan };
}
