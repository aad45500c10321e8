import { describeAgent } from "@troupe/core/texts";
import { memo } from "react";
import { StatusBadge } from "../../components/badges.tsx";
import { RoleIcon } from "../../components/icons.tsx";
import { firstLine, formatDuration } from "../../lib/format.ts";
import { selectRun } from "../../lib/navigation.ts";
import { isActive } from "../../lib/status.ts";
import type { TimeScale } from "../../lib/time-scale.ts";
import { joinPhases, type Lane, type Phase, phaseLabels, phaseTotals } from "../../lib/timeline.ts";
import type { TreeRow } from "../../lib/tree.ts";
import { Fold } from "../tree/row-parts.tsx";
import { LaneCell } from "./lane-cell.tsx";

interface Props {
  row: TreeRow;
  lane: Lane;
  scale: TimeScale;
  /** The time of one pixel. */
  visibleMs: number;
  index: number;
  /** Distance from the top of the body, in pixels. */
  top: number;
  selected: boolean;
  tabbable: boolean;
  onToggle(run: string): void;
}

/** Pixels of each level, and the most for all levels. */
const indentPx = { step: 12, max: 72 };

/** The lane of one run: its name, its bars, and the same as numbers. */
export const LaneRow = memo(function LaneRow({ row, lane, scale, visibleMs, ...props }: Props) {
  const { run } = row.node;
  const startMs = lane.startMs - scale.startMs;
  const endMs = lane.endMs - scale.startMs;
  const active = isActive(run);
  return (
    // biome-ignore lint/a11y/useSemanticElements: see TreeGrid
    // biome-ignore lint/a11y/useKeyWithClickEvents: useTreeKeys handles the keys
    <div
      role="row"
      className="lane"
      aria-rowindex={props.index + 2}
      aria-level={row.level}
      aria-posinset={row.posInSet}
      aria-setsize={row.setSize}
      aria-expanded={row.expanded ?? undefined}
      aria-selected={props.selected}
      tabIndex={props.tabbable ? 0 : -1}
      data-testid="lane"
      data-run={run.run}
      data-agent={run.agent}
      data-status={run.status}
      style={{ transform: `translateY(${props.top}px)` }}
      onClick={() => selectRun(run.run)}
    >
      <LaneCell name="run" title={firstLine(run.task)}>
        <span className="lane-indent" style={{ width: Math.min((row.level - 1) * indentPx.step, indentPx.max) }} />
        <Fold row={row} onToggle={props.onToggle} />
        <RoleIcon agent={run.agent} />
        <b className="agent">{describeAgent(run)}</b>
        {run.attempt > 1 && <span className="try">try {run.attempt}</span>}
        <span className="task">{firstLine(run.task)}</span>
      </LaneCell>
      <LaneCell name="axis">
        <span className="visually-hidden">{summaryOf(lane)}</span>
        <Bars lane={lane} scale={scale} visibleMs={visibleMs} active={active} status={run.status} />
      </LaneCell>
      <LaneCell name="figure" title={new Date(lane.startMs).toLocaleString()}>
        {startMs === 0 ? "0" : formatDuration(startMs)}
      </LaneCell>
      <LaneCell name="figure" title={active ? "" : new Date(lane.endMs).toLocaleString()}>
        {active ? "–" : formatDuration(endMs)}
      </LaneCell>
      <LaneCell name="figure">{formatDuration(lane.endMs - lane.startMs)}</LaneCell>
      <LaneCell name="status">
        <StatusBadge row={run} />
      </LaneCell>
    </div>
  );
});

interface BarsProps extends Pick<Props, "lane" | "scale" | "visibleMs"> {
  active: boolean;
  status: string;
}

function Bars({ lane, scale, visibleMs, active, status }: BarsProps) {
  const place = (startMs: number, endMs: number): { left: string; width: string } => {
    const [from, to] = [scale.shareOf(startMs), scale.shareOf(endMs)];
    return { left: `${from * 100}%`, width: `${(to - from) * 100}%` };
  };
  return (
    <span className="bars" aria-hidden="true">
      <i className="span" data-active={active} style={place(lane.startMs, lane.endMs)} />
      {joinPhases(lane.phases, visibleMs).map((phase) => (
        <i
          key={`${phase.kind} ${phase.startMs}`}
          className="phase"
          data-phase={phase.kind}
          title={titleOf(phase)}
          style={place(phase.startMs, phase.endMs)}
        />
      ))}
      {!active && <i className="end" data-status={status} style={{ left: `${scale.shareOf(lane.endMs) * 100}%` }} />}
    </span>
  );
}

function titleOf({ kind, name, startMs, endMs }: Phase): string {
  return `${name ?? phaseLabels[kind]}: ${formatDuration(endMs - startMs)}`;
}

/** The bars in words: "model 5.1s, tools 400ms". */
function summaryOf(lane: Lane): string {
  return phaseTotals(lane)
    .map(({ kind, durationMs }) => `${phaseLabels[kind]} ${formatDuration(durationMs)}`)
    .join(", ");
}
