import type { RunRow } from "@troupe/core";
import { describeAgent, describeBailout } from "@troupe/core/texts";
import { memo } from "react";
import { StatusBadge } from "../../components/badges.tsx";
import { RoleIcon } from "../../components/icons.tsx";
import { nearestLimit } from "../../lib/budget.ts";
import { costText, firstLine, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { activityOf, type LiveNote, latestEventAt } from "../../lib/live-note.ts";
import { selectRun } from "../../lib/navigation.ts";
import { isActive, isFailure } from "../../lib/status.ts";
import type { TreeNode, TreeRow } from "../../lib/tree.ts";
import { Age, Cell, Fold, FoldedBelow, TimeBar } from "./row-parts.tsx";

/** The row hides a smaller share of a budget. */
const visibleShareMin = 0.01;

/** The row marks a share of a budget from here on. */
const warningShareMin = 0.8;

/** `columns`: one number per column. `stacked`: two numbers per column. `lines`: numbers below the text. */
export type TreeLayout = "columns" | "stacked" | "lines";

interface Props {
  row: TreeRow;
  index: number;
  /** Distance from the top of the body, in pixels. */
  top: number;
  layout: TreeLayout;
  note: LiveNote | undefined;
  selected: boolean;
  tabbable: boolean;
  /** Start and end of the session. The end of an active session is now. */
  from: number;
  to: number;
  now: number;
  onToggle(run: string): void;
}

/** The row of one run: agent, task, status and usage. */
export const TreeRowView = memo(function TreeRowView(props: Props) {
  const { row, note, now, selected } = props;
  const { node, level } = row;
  const { run } = node;
  const active = isActive(run);
  const nearest = nearestLimit(run, node.used);
  return (
    // biome-ignore lint/a11y/useSemanticElements: see TreeGrid
    // biome-ignore lint/a11y/useKeyWithClickEvents: useTreeKeys handles the keys
    <div
      role="row"
      className="tree-row"
      aria-rowindex={props.index + 2}
      aria-level={level}
      aria-posinset={row.posInSet}
      aria-setsize={row.setSize}
      aria-expanded={row.expanded ?? undefined}
      aria-selected={selected}
      tabIndex={props.tabbable ? 0 : -1}
      data-testid="run-row"
      data-run={run.run}
      data-status={run.status}
      data-exact={run.exactStatus}
      data-agent={run.agent}
      data-depth={run.depth}
      data-attempt={run.attempt}
      style={{ transform: `translateY(${props.top}px)` }}
      onClick={() => selectRun(run.run)}
    >
      <Cell name="run">
        <span className="rails" style={{ width: indentPx(level, props.layout) }} />
        <Fold row={row} onToggle={props.onToggle} />
        <RoleIcon agent={run.agent} />
        <span className="run-text">
          <span className="run-line">
            <b className="agent">{describeAgent(run)}</b>
            {(run.attempt > 1 || (isFailure(run) && run.maxAttempts > 1)) && (
              <span className="try">
                try {run.attempt} of {run.maxAttempts}
              </span>
            )}
            {run.contextMode !== "task_only" && (
              <span className="tag" title="How much of its parent's conversation it received">
                <span className="tag-key">context: </span>
                {run.contextMode.replaceAll("_", " ")}
              </span>
            )}
            {node.isOnOtherHost && (
              <span className="tag run-host" title={`It runs on ${run.host}, not on the host of its parent`}>
                <span className="tag-key">on </span>
                <bdi>{run.host}</bdi>
              </span>
            )}
            {nearest !== null && nearest.share >= warningShareMin && (
              <span className="tag budget-near">{nearest.text}</span>
            )}
            {row.expanded === false && <FoldedBelow node={node} />}
            <span className="task">{firstLine(run.task)}</span>
          </span>
          <span className="run-activity" data-status={run.status}>
            {activityText(node, note)}
          </span>
        </span>
      </Cell>
      <Cell name="status">
        <StatusBadge row={run} />
      </Cell>
      <Cell name="time">
        <span className="figure">{durationText(run, now)}</span>
        <TimeBar run={run} from={props.from} to={props.to} />
      </Cell>
      <Cell name="age">{active && <Age at={latestEventAt(run, note)} now={now} />}</Cell>
      <Cell name="depth">
        <span className="unit">depth </span>
        {run.depth}
      </Cell>
      <Cell name="steps">
        {run.iterations}
        {run.maxIterations !== null && <span className="of">/{run.maxIterations}</span>}
        <span className="unit"> steps</span>
      </Cell>
      <Cell name="tools">
        {formatCount(run.toolCalls)}
        <span className="unit"> {run.toolCalls === 1 ? "tool" : "tools"}</span>
      </Cell>
      <Cell name="tokens">
        {formatCount(run.totalTokens)}
        <span className="unit"> tok</span>
      </Cell>
      <Cell name="cost">
        {costText(run)}
        {nearest !== null && nearest.share >= visibleShareMin && (
          <span className="of budget-used" title={nearest.text}>
            {nearest.shortText}
          </span>
        )}
      </Cell>
    </div>
  );
});

function activityText({ run, orphan }: TreeNode, note: LiveNote | undefined): string {
  const prefix = orphan ? "parent not loaded yet · " : "";
  if (isActive(run)) return prefix + firstLine(activityOf(run, note) ?? "");
  const reason = run.bailoutReason ?? run.answerOnly;
  const limit = reason === null ? "" : `${describeBailout(reason)} · `;
  return prefix + limit + firstLine(run.error ?? run.summary ?? run.activity ?? "");
}

function durationText(run: RunRow, now: number): string {
  if (isActive(run)) return formatElapsed(now - Date.parse(run.startedAt));
  return run.durationMs === null ? "" : formatDuration(run.durationMs);
}

/** Full steps for the first levels, then small ones, so that depth 30 leaves space for text. */
function indentPx(level: number, layout: TreeLayout): number {
  const [step, fullLevels, smallStep, maxPx] = layout === "lines" ? [10, 4, 2, 72] : [20, 6, 4, 200];
  const depth = level - 1;
  return Math.min(Math.min(depth, fullLevels) * step + Math.max(depth - fullLevels, 0) * smallStep, maxPx);
}
