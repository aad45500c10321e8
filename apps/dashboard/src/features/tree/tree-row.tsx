import type { RunRow } from "@troupe/core";
import { memo } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { RoleIcon } from "../../components/role-icon.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { budgetShare } from "../../lib/budget.ts";
import { costWords, firstLine, formatAge, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { activityOf, type LiveNote, lastHeardAt } from "../../lib/live-note.ts";
import { selectRun } from "../../lib/selection.ts";
import { bailoutWords, isActive, isFailure } from "../../lib/status.ts";
import type { TreeNode, TreeRow } from "../../lib/tree.ts";
import { Cell } from "./cell.tsx";
import { Lane } from "./lane.tsx";
import type { TreeLayout } from "./use-tree-layout.ts";

/** Below this part of a budget its share reads as nothing, and says nothing. */
const leastShare = 0.01;

/** From this part of a budget on it is worth a look. */
const nearShare = 0.8;

/** After this silence the age of the last event is marked. */
const quietMs = 30_000;

interface Props {
  row: TreeRow;
  index: number;
  /** Distance from the top of the body, in pixels. */
  top: number;
  layout: TreeLayout;
  note: LiveNote | undefined;
  selected: boolean;
  tabbable: boolean;
  /** Begin and end of the session, as far as it is known. */
  from: number;
  to: number;
  now: number;
  onToggle(run: string): void;
}

/** One run: who, what, how it stands and what it has used. */
export const TreeRowView = memo(function TreeRowView(props: Props) {
  const { row, note, now, selected } = props;
  const { node, level } = row;
  const { run } = node;
  const active = isActive(run);
  const share = budgetShare(run.budget, node.used);
  return (
    // biome-ignore lint/a11y/useSemanticElements: see TreeGrid
    // biome-ignore lint/a11y/useKeyWithClickEvents: TreeGrid hears the keys
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
        <span className="run-words">
          <span className="run-line">
            <b className="agent">{run.agent}</b>
            {(run.attempt > 1 || (isFailure(run) && run.maxAttempts > 1)) && (
              <span className="try">
                try {run.attempt} of {run.maxAttempts}
              </span>
            )}
            {run.contextMode !== "task_only" && (
              <span className="tag" title="How much of its parent's conversation it was given">
                <span className="tag-key">context: </span>
                {run.contextMode.replaceAll("_", " ")}
              </span>
            )}
            {node.elsewhere && (
              <span className="tag run-host" title={`It lives on ${run.host}, another host than its parent's`}>
                <span className="tag-key">on </span>
                <bdi>{run.host}</bdi>
              </span>
            )}
            {share !== null && share >= nearShare && (
              <span className="tag budget-near">{percent(share)} of budget</span>
            )}
            {row.expanded === false && <FoldedBelow node={node} />}
            <span className="task">{firstLine(run.task)}</span>
          </span>
          <span className="doing" data-status={run.status}>
            {doing(node, note)}
          </span>
        </span>
      </Cell>
      <Cell name="status">
        <StatusBadge row={run} />
      </Cell>
      <Cell name="time">
        <span className="figure">{took(run, now)}</span>
        <Lane run={run} from={props.from} to={props.to} />
      </Cell>
      <Cell name="age">{active && <Age at={lastHeardAt(run, note)} now={now} />}</Cell>
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
        {costWords(run)}
        {share !== null && share >= leastShare && <span className="of budget-used">{percent(share)} of budget</span>}
      </Cell>
    </div>
  );
});

/** Not a tab stop: the arrow keys do the same from the row. */
function Fold({ row, onToggle }: { row: TreeRow; onToggle: Props["onToggle"] }) {
  if (row.expanded === null) return <span className="fold" />;
  const { expanded } = row;
  return (
    <button
      type="button"
      className="fold"
      tabIndex={-1}
      aria-label={expanded ? "Fold" : "Unfold"}
      data-expanded={expanded}
      onClick={(event) => {
        event.stopPropagation();
        onToggle(row.node.run.run);
      }}
    >
      <Glyph name="chevron" />
    </button>
  );
}

/** What a folded row hides must not be missed. */
function FoldedBelow({ node: { below } }: { node: TreeNode }) {
  return (
    <span className="folded">
      +{below.runs}
      {below.active > 0 && ` · ${below.active} active`}
      {below.failed > 0 && <span className="failed"> · {below.failed} failed</span>}
    </span>
  );
}

function Age({ at, now }: { at: number; now: number }) {
  const ageMs = now - at;
  return (
    <span className="figure" data-quiet={ageMs > quietMs}>
      {formatAge(ageMs)}
    </span>
  );
}

function doing({ run, orphan }: TreeNode, note: LiveNote | undefined): string {
  const prefix = orphan ? "parent not in the record yet · " : "";
  if (isActive(run)) return prefix + firstLine(activityOf(run, note) ?? "");
  const limit = run.bailoutReason === null ? "" : `${bailoutWords(run.bailoutReason)} · `;
  return prefix + limit + firstLine(run.error ?? run.summary ?? run.activity ?? "");
}

/** Cut, so that only what is used up reads as 100 %. */
function percent(share: number): string {
  return `${Math.floor(share * 100)}%`;
}

function took(run: RunRow, now: number): string {
  if (isActive(run)) return formatElapsed(now - Date.parse(run.startedAt));
  return run.durationMs === null ? "" : formatDuration(run.durationMs);
}

/** Full steps for the first levels, small ones below: depth 30 must leave room for words. */
function indentPx(level: number, layout: TreeLayout): number {
  const [step, full, small, most] = layout === "lines" ? [10, 4, 2, 72] : [20, 6, 4, 200];
  const depth = level - 1;
  return Math.min(Math.min(depth, full) * step + Math.max(depth - full, 0) * small, most);
}
