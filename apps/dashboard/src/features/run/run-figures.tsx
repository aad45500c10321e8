import type { RunRow, SessionRow } from "@troupe/core";
import type { ReactNode } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { useNow } from "../../lib/clock.ts";
import { costWords, formatAge, formatDuration, formatElapsed, shortId } from "../../lib/format.ts";
import { lastHeardAt } from "../../lib/live-note.ts";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";

/** What a run has used of what it may use. */
export function RunFigures({ run, session }: { run: RunRow; session: SessionRow }) {
  const note = usePage((state) => state.notes.get(run.run));
  const active = isActive(run);
  const now = useNow(active);
  const startedAt = Date.parse(run.startedAt);
  const took = active ? formatElapsed(now - startedAt) : run.durationMs === null ? "–" : formatDuration(run.durationMs);
  return (
    <dl className="figures">
      <Figure name="Attempt">
        {run.attempt} of {run.maxAttempts}
      </Figure>
      <Figure name="Steps">
        {run.iterations}
        {run.maxIterations === null ? ", no cap" : ` of at most ${run.maxIterations}`}
      </Figure>
      <Figure name="Tool calls">
        {run.toolCalls}
        {run.maxToolCalls !== null && ` of at most ${run.maxToolCalls}`}
      </Figure>
      <Figure name="Tokens">{run.totalTokens.toLocaleString("en-US")}</Figure>
      <Figure name="Cost">{costWords(run)}</Figure>
      <Figure name="Context">{run.contextMode.replaceAll("_", " ")}</Figure>
      <Figure name="Model">{session.demo ? "none (scripted)" : (run.model ?? "–")}</Figure>
      {run.host !== null && (
        <Figure name={active ? "Host" : "Last host"}>
          <bdi>{run.host}</bdi>
        </Figure>
      )}
      <Figure name="Depth">{run.depth}</Figure>
      <Figure name="Took">
        {took}
        {run.maxDurationMs !== null && ` of at most ${formatDuration(run.maxDurationMs)}`}
      </Figure>
      <Figure name="Started">
        <time dateTime={run.startedAt}>{new Date(startedAt).toLocaleString()}</time>
      </Figure>
      {active && <Figure name="Last event">{formatAge(now - lastHeardAt(run, note))}</Figure>}
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
