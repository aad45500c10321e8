import type { ReactNode } from "react";

/** A cell of the treegrid. Its class names the column, for both layouts. */
export function Cell({ name, head = false, children }: { name: string; head?: boolean; children: ReactNode }) {
  return (
    <div role={head ? "columnheader" : "gridcell"} className={`cell cell-${name}`}>
      {children}
    </div>
  );
}
