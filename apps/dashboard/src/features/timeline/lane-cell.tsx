import type { ReactNode } from "react";

interface Props {
  name: "run" | "axis" | "figure" | "status";
  head?: boolean;
  title?: string;
  testId?: string;
  children: ReactNode;
}

/** A cell of the timeline. The layouts use its class. */
export function LaneCell({ name, head = false, title, testId, children }: Props) {
  return (
    <div role={head ? "columnheader" : "gridcell"} className={`lane-${name}`} title={title} data-testid={testId}>
      {children}
    </div>
  );
}
