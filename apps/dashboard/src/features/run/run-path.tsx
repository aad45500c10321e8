import type { RunRow } from "@troupe/core";
import { selectRun } from "../../lib/selection.ts";
import { ancestors } from "../../lib/tree.ts";

/** Nearest ancestors that are named; those above are only counted. */
const namedMax = 4;

/** Who asked for this run, from the root down. */
export function RunPath({ run, runs }: { run: RunRow; runs: ReadonlyMap<string, RunRow> }) {
  const above = ancestors(runs, run.run).filter((id) => runs.has(id));
  if (above.length === 0) return null;
  return (
    <p className="run-path">
      asked by {above.length > namedMax && <span className="soft">{above.length - namedMax} more › </span>}
      {above
        .slice(0, namedMax)
        .reverse()
        .map((id, i) => (
          <span key={id}>
            {i > 0 && " › "}
            <button type="button" className="link" onClick={() => selectRun(id)}>
              {runs.get(id)?.agent}
            </button>
          </span>
        ))}
    </p>
  );
}
