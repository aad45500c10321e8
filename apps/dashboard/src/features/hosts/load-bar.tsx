import type { HostRow } from "@troupe/core";

/** How many of its places are taken; the words say all that the bar does. */
export function LoadBar({ busy, capacity, runs }: Pick<HostRow, "busy" | "capacity" | "runs">) {
  const share = Math.min(1, busy / Math.max(1, capacity));
  // A run that waits for its children, or for a person, lives without a place.
  const waiting = runs - busy;
  return (
    <div className="load" data-full={busy >= capacity}>
      <div className="load-track" aria-hidden="true">
        <i style={{ width: `${Math.round(share * 100)}%` }} />
      </div>
      <p>
        <span className="figure">
          {busy}/{capacity}
        </span>{" "}
        busy{waiting > 0 && `, ${waiting} waiting`}
      </p>
    </div>
  );
}
