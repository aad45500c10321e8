import { demoLabel } from "../lib/status.ts";

/** The label that every demo carries, in full. */
export function DemoTag() {
  return <span className="demo-tag">{demoLabel}</span>;
}
