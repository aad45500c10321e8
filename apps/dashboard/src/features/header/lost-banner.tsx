import { useEffect } from "react";
import { stopClock } from "../../lib/clock.ts";
import { useDaemon, usePage } from "../../lib/page-context.ts";

/** Says that what is shown may be old, and since when. */
export function LostBanner() {
  const daemon = useDaemon();
  const lostAt = usePage((state) => state.lostAt);
  useEffect(() => stopClock(lostAt), [lostAt]);
  const loaded = usePage((state) => state.sessions !== null);
  if (lostAt === null || !loaded) return null;
  return (
    <div className="banner" role="status">
      <p>
        <b>Disconnected since {new Date(lostAt).toLocaleTimeString()}.</b> This is how things stood then. The page tries
        again by itself; if the daemon was stopped, <code>troupe up</code> starts it, and unfinished runs go on.
      </p>
      <button type="button" onClick={() => daemon.retry()}>
        Try now
      </button>
    </div>
  );
}
