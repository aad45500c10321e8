import { formatDuration } from "../../lib/format.ts";
import type { TimeScale } from "../../lib/time-scale.ts";
import { type PhaseKind, phaseKinds, phaseLabels } from "../../lib/timeline.ts";
import { FoldButtons } from "../tree/tree-grid.tsx";
import type { Tree } from "../tree/tree-keys.ts";
import { LaneCell } from "./lane-cell.tsx";

interface AxisProps {
  scale: TimeScale;
  trackPx: number;
}

/** The names of the columns, with the axis above the bars. */
export function TimelineHead({ scale, trackPx, tree }: AxisProps & { tree: Tree }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see TreeGrid
    // biome-ignore lint/a11y/useFocusableInteractive: the row keys do not stop at the head
    <div role="row" className="lane lane-head" aria-rowindex={1}>
      <LaneCell name="run" head>
        Run
        <FoldButtons tree={tree} />
      </LaneCell>
      <LaneCell name="axis" head testId="axis">
        <span className="visually-hidden">Time since the start</span>
        {scale.ticks(trackPx).map(({ share, elapsedMs }) => (
          <span key={elapsedMs} className="tick" style={{ left: `${share * 100}%` }} aria-hidden="true">
            {formatTick(elapsedMs)}
          </span>
        ))}
      </LaneCell>
      <LaneCell name="figure" head>
        Start
      </LaneCell>
      <LaneCell name="figure" head>
        End
      </LaneCell>
      <LaneCell name="figure" head>
        Duration
      </LaneCell>
      <LaneCell name="status" head>
        Status
      </LaneCell>
    </div>
  );
}

/** Lines below the ticks, and marks where the scale leaves out an idle time. */
export function GridLines({ scale, trackPx }: AxisProps) {
  return (
    <div className="lane grid-lines" aria-hidden="true">
      <div />
      <div className="lane-axis">
        {scale.ticks(trackPx).map(({ share, elapsedMs }) => (
          <i key={elapsedMs} style={{ left: `${share * 100}%` }} />
        ))}
        {scale.breaks.map(({ share, durationMs }) => (
          <b key={share} style={{ left: `${share * 100}%` }} title={`${formatDuration(durationMs)} without any run`} />
        ))}
      </div>
    </div>
  );
}

/** The meaning of the colours that the lanes have. */
export function Legend({ kinds }: { kinds: ReadonlySet<PhaseKind> }) {
  return (
    <ul className="legend" aria-label="Colours of the bars">
      {phaseKinds
        .filter((kind) => kinds.has(kind))
        .map((kind) => (
          <li key={kind}>
            <i className="phase" data-phase={kind} aria-hidden="true" />
            {phaseLabels[kind]}
          </li>
        ))}
    </ul>
  );
}

/** A tick in its largest unit: `0`, `500ms`, `30s`, `1m 30s`, `2h`. */
function formatTick(elapsedMs: number): string {
  return elapsedMs === 0
    ? "0"
    : formatDuration(elapsedMs)
        .replace(/\.0s$/, "s")
        .replace(/ 0+[a-z]+$/, "");
}
