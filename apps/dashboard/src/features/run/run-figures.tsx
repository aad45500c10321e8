import type { RunRow, SessionRow } from "@troupe/core";
import { type ReactNode, useMemo } from "react";
import { CopyButton } from "../../components/buttons.tsx";
import { budgetLines } from "../../lib/budget.ts";
import { useNow } from "../../lib/clock.ts";
import { costText, formatAge, formatDuration, formatElapsed, shortId } from "../../lib/format.ts";
import { latestEventAt } from "../../lib/live-note.ts";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";
import { buildTree, flatten } from "../../lib/tree.ts";

/** Usage, limits and facts of a run. */
export function RunFigures({ run, session }: { run: RunRow; session: SessionRow }) {
  const note = usePage((state) => state.notes.get(run.run));
  const active = isActive(run);
  const now = useNow(active);
  const startedAt = Date.parse(run.startedAt);
  const duration = active
    ? formatElapsed(now - startedAt)
    : run.durationMs === null
      ? "–"
      : formatDuration(run.durationMs);
  return (
    <dl className="figures">
      <Figure name="Attempt">
        {run.attempt} of {run.maxAttempts}
      </Figure>
      <Figure name="Steps">
        {run.iterations}
        {run.maxIterations === null ? ", no limit" : ` of at most ${run.maxIterations}`}
      </Figure>
      <Figure name="Tool calls">
        {run.toolCalls}
        {run.maxToolCalls !== null && ` of at most ${run.maxToolCalls}`}
      </Figure>
      <Figure name="Tokens">{run.totalTokens.toLocaleString("en-US")}</Figure>
      <Figure name="Cost">{costText(run)}</Figure>
      <Figure name="Context">{run.contextMode.replaceAll("_", " ")}</Figure>
      <Figure name="Model">
        {session.demo ? `none (${session.replay ? "replayed" : "scripted"})` : (run.model ?? "–")}
      </Figure>
      {run.host !== null && (
        <Figure name={active ? "Host" : "Last host"}>
          <bdi>{run.host}</bdi>
        </Figure>
      )}
      {run.confidence !== null && <Figure name="Confidence">{Math.round(run.confidence * 100)} %</Figure>}
      <Figure name="Depth">{run.depth}</Figure>
      <Figure name="Duration">
        {duration}
        {run.maxDurationMs !== null && ` of at most ${formatDuration(run.maxDurationMs)}`}
      </Figure>
      <Figure name="Started">
        <time dateTime={run.startedAt}>{new Date(startedAt).toLocaleString()}</time>
      </Figure>
      {active && <Figure name="Last event">{formatAge(now - latestEventAt(run, note))}</Figure>}
      <Figure name="Run">
        <code title={run.run}>…{shortId(run.run)}</code> <CopyButton label="Copy id" text={() => run.run} />
      </Figure>
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Budget usage of a run and its descendants. */
export function BudgetFigures({ run, runs }: { run: RunRow; runs: ReadonlyMap<string, RunRow> }) {
  const lines = useMemo(() => {
    const node = run.budget && flatten(buildTree(runs.values())).find((candidate) => candidate.run.run === run.run);
    return node ? budgetLines(run.budget, node.used) : [];
  }, [run, runs]);
  if (lines.length === 0) return null;
  return (
    <section className="part" data-testid="run-budget">
      <h3>Budget, with child runs</h3>
      <dl className="figures budget">
        {lines.map(({ name, text, share }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {text}
              {share !== null && <meter aria-label={`${name} used`} min={0} max={1} high={0.8} value={share} />}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
