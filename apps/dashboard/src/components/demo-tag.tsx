import { demoLabel } from "../lib/status.ts";

/** The label that every demo carries: in full, or short where rows of them stand close together. */
export function DemoTag({ short = false }: { short?: boolean }) {
  return (
    <span className="demo-tag" title={demoLabel}>
      {short ? "Demo" : demoLabel}
    </span>
  );
}
