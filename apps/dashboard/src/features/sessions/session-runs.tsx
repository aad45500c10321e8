import type { RunRow, SessionRow } from "@troupe/core";
import { navigate, useRoute } from "../../lib/navigation.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { TreeGrid } from "../tree/tree-grid.tsx";
import { useTree } from "../tree/use-tree.ts";

const ways = [
  [null, "Tree"],
  ["timeline", "Timeline"],
] as const;

/** The runs of a session as a tree or over time. Both have the same rows, folds and selection. */
export function SessionRuns({ session, runs }: { session: SessionRow; runs: ReadonlyMap<string, RunRow> }) {
  const { show, run } = useRoute();
  const tree = useTree(runs);
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form */}
      <div className="ways" role="group" aria-label="Show the runs as">
        {ways.map(([way, label]) => (
          <button
            key={label}
            type="button"
            aria-pressed={show === way}
            data-testid={`show-${label.toLowerCase()}`}
            onClick={() => navigate({ session: session.session, run, show: way }, "replace")}
          >
            {label}
          </button>
        ))}
      </div>
      {show === "timeline" ? <Timeline session={session} tree={tree} /> : <TreeGrid session={session} tree={tree} />}
    </>
  );
}
