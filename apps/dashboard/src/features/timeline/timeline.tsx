import type { SessionRow } from "@troupe/core";
import type { TimelineEvent } from "@troupe/core/internal";
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { useNow } from "../../lib/clock.ts";
import { useRoute } from "../../lib/navigation.ts";
import { isActive } from "../../lib/status.ts";
import { timeScale } from "../../lib/time-scale.ts";
import { laneOf } from "../../lib/timeline.ts";
import type { Tree } from "../tree/tree-keys.ts";
import { useRows } from "../tree/use-rows.ts";
import { GridLines, Legend, TimelineHead } from "./axis.tsx";
import { LaneRow } from "./lane-row.tsx";
import { useTimeline } from "./use-timeline.ts";

/** Pixels. styles/timeline.css has the same numbers. */
const laneHeight = { wide: 34, narrow: 56 };
const narrowPx = 640;
const noEvents: readonly TimelineEvent[] = [];

/**
 * The runs of a session over time: one lane for each run, in the order of the tree. Each lane is also a row of a table
 * with the start, the end and the duration. The document contains only the lanes in view.
 */
export function Timeline({ session, tree }: { session: SessionRow; tree: Tree }) {
  const { run: selected } = useRoute();
  const { events, problem } = useTimeline(session);
  const scroller = useRef<HTMLDivElement>(null);
  const { isNarrow, trackPx } = useTrack(scroller);
  const active = isActive(session);
  const now = useNow(active);
  const lanes = useMemo(
    () => new Map(tree.rows.map(({ node: { run } }) => [run.run, laneOf(run, events.get(run.run) ?? noEvents, now)])),
    [tree.rows, events, now],
  );
  const scale = useMemo(() => timeScale([...lanes.values()]), [lanes]);
  const kinds = useMemo(
    () => new Set([...lanes.values()].flatMap(({ phases }) => phases.map(({ kind }) => kind))),
    [lanes],
  );
  const height = isNarrow ? laneHeight.narrow : laneHeight.wide;
  const { virtual, tabIndex } = useRows({ tree, selected, scroller, height });

  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      <div className="timeline" ref={scroller} data-testid="timeline" data-narrow={isNarrow}>
        <div role="treegrid" aria-label="Runs over time" aria-rowcount={tree.rows.length + 1}>
          <TimelineHead scale={scale} trackPx={trackPx} tree={tree} />
          <div className="lanes" role="presentation" style={{ height: virtual.getTotalSize() }}>
            <GridLines scale={scale} trackPx={trackPx} />
            {virtual.getVirtualItems().map((item) => {
              const row = tree.rows[item.index];
              const lane = row && lanes.get(row.node.run.run);
              if (!row || !lane) return null;
              const { run } = row.node.run;
              return (
                <LaneRow
                  key={run}
                  row={row}
                  lane={lane}
                  scale={scale}
                  visibleMs={scale.msPerPixel(trackPx)}
                  index={item.index}
                  top={item.start}
                  selected={run === selected}
                  tabbable={item.index === tabIndex}
                  onToggle={tree.toggle}
                />
              );
            })}
          </div>
        </div>
      </div>
      <Legend kinds={kinds} />
    </>
  );
}

/** The width of the bars, for the ticks of the axis and for the size of the smallest visible phase. */
function useTrack(element: RefObject<HTMLElement | null>): { isNarrow: boolean; trackPx: number } {
  const [track, setTrack] = useState({ isNarrow: false, trackPx: 600 });
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = (): void => {
      const cell = observed.querySelector(".lane-axis");
      setTrack({ isNarrow: observed.clientWidth < narrowPx, trackPx: Math.max(cell?.clientWidth ?? 0, 60) });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    const axis = observed.querySelector(".lane-axis");
    if (axis) observer.observe(axis);
    measure();
    return () => observer.disconnect();
  }, [element]);
  return track;
}
