import type { RunRow } from "@troupe/core";
import { useMemo } from "react";
import { budgetLines } from "../../lib/budget.ts";
import { buildTree, walk } from "../../lib/tree.ts";

/** What a run and all below it have used of what they may use together. */
export function BudgetFigures({ run, runs }: { run: RunRow; runs: ReadonlyMap<string, RunRow> }) {
  const lines = useMemo(() => {
    const node = run.budget && walk(buildTree(runs.values())).find((found) => found.run.run === run.run);
    return node ? budgetLines(run.budget, node.used) : [];
  }, [run, runs]);
  if (lines.length === 0) return null;
  return (
    <section className="part" data-testid="run-budget">
      <h3>Budget, with all below it</h3>
      <dl className="figures budget">
        {lines.map(({ name, words, share }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {words}
              {share !== null && <meter aria-label={`${name} used`} min={0} max={1} high={0.8} value={share} />}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
