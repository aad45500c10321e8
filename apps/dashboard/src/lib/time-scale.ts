/** A span of time in which at least one run was at work. */
export interface Span {
  startMs: number;
  endMs: number;
}

/** A mark of the axis. */
export interface Tick {
  /** From 0 to 1. */
  share: number;
  /** Since the start of the scale. */
  elapsedMs: number;
}

/** An idle time that the scale shortens. */
export interface Break {
  /** The middle of the break, from 0 to 1. */
  share: number;
  durationMs: number;
}

export interface TimeScale {
  startMs: number;
  endMs: number;
  /** The position of a time, from 0 to 1. */
  shareOf(ms: number): number;
  /** The time of one pixel at a width. */
  msPerPixel(widthPx: number): number;
  ticks(widthPx: number): Tick[];
  breaks: readonly Break[];
}

/** Times without any run are shortened from this share of the working time on, to `breakShare` of it. */
const idleShareMin = 0.15;
const breakShare = 0.04;
/** Shorter idle times stay as they are. */
const idleMsMin = 5_000;

interface Piece extends Span {
  offsetMs: number;
  lengthMs: number;
  isIdle: boolean;
}

/**
 * A scale from the first start to the last end. It shortens long idle times, such as the night between two turns of a
 * session, so that the work stays visible.
 *
 * @example
 * timeScale([{ startMs: 0, endMs: 10_000 }]).shareOf(2_500); // 0.25
 */
export function timeScale(spans: readonly Span[]): TimeScale {
  const busy = joined(spans);
  const workedMs = Math.max(
    busy.reduce((sum, span) => sum + span.endMs - span.startMs, 0),
    1,
  );
  const pieces: Piece[] = [];
  let offsetMs = 0;
  const add = (startMs: number, endMs: number, isIdle: boolean): void => {
    const durationMs = endMs - startMs;
    const isShortened = isIdle && durationMs > Math.max(idleMsMin, workedMs * idleShareMin);
    const lengthMs = isShortened ? workedMs * breakShare : durationMs;
    pieces.push({ startMs, endMs, offsetMs, lengthMs, isIdle: isShortened });
    offsetMs += lengthMs;
  };
  for (const [i, span] of busy.entries()) {
    const before = busy[i - 1];
    if (before) add(before.endMs, span.startMs, true);
    add(span.startMs, span.endMs, false);
  }
  const totalMs = Math.max(offsetMs, 1);
  const startMs = busy[0]?.startMs ?? 0;
  const shareOf = (ms: number): number => clamp(offsetOf(pieces, ms) / totalMs);
  return {
    startMs,
    endMs: busy.at(-1)?.endMs ?? startMs,
    shareOf,
    msPerPixel: (widthPx) => totalMs / Math.max(widthPx, 1),
    ticks: (widthPx) => ticksOf(pieces, { startMs, totalMs, widthPx, shareOf }),
    breaks: pieces
      .filter(({ isIdle }) => isIdle)
      .map((piece) => ({
        share: (piece.offsetMs + piece.lengthMs / 2) / totalMs,
        durationMs: piece.endMs - piece.startMs,
      })),
  };
}

function joined(spans: readonly Span[]): Span[] {
  const sorted = spans.filter(({ startMs, endMs }) => endMs >= startMs).sort((a, b) => a.startMs - b.startMs);
  const result: Span[] = [];
  for (const { startMs, endMs } of sorted) {
    const last = result.at(-1);
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else result.push({ startMs, endMs });
  }
  return result;
}

function offsetOf(pieces: readonly Piece[], ms: number): number {
  const piece = pieces.findLast(({ startMs }) => startMs <= ms) ?? pieces[0];
  if (!piece) return 0;
  const inside = Math.min(Math.max(ms - piece.startMs, 0), piece.endMs - piece.startMs);
  const stretch = piece.lengthMs / Math.max(piece.endMs - piece.startMs, 1);
  return piece.offsetMs + inside * stretch;
}

/** Pixels between two ticks, at least. */
const tickPx = 84;
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const steps = [
  ...[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12, 24].map((count) => count * hour),
];

interface TickOptions {
  startMs: number;
  totalMs: number;
  widthPx: number;
  shareOf(ms: number): number;
}

function ticksOf(pieces: readonly Piece[], { startMs, totalMs, widthPx, shareOf }: TickOptions): Tick[] {
  const wantedMs = (totalMs * tickPx) / Math.max(widthPx, tickPx);
  const stepMs = steps.find((step) => step >= wantedMs) ?? Math.ceil(wantedMs / (24 * hour)) * 24 * hour;
  const ticks: Tick[] = [];
  for (const piece of pieces.filter(({ isIdle }) => !isIdle)) {
    const first = Math.ceil((piece.startMs - startMs) / stepMs) * stepMs;
    for (let elapsedMs = first; startMs + elapsedMs <= piece.endMs; elapsedMs += stepMs) {
      const share = shareOf(startMs + elapsedMs);
      const before = ticks.at(-1);
      if (!before || (share - before.share) * widthPx >= tickPx * 0.7) ticks.push({ share, elapsedMs });
    }
  }
  return ticks;
}

function clamp(share: number): number {
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0;
}
