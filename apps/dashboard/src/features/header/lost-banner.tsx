import { useDaemon, usePage } from "../../lib/page-context.ts";

/** Says that what is shown may be old, and since when. */
export function LostBanner() {
  const daemon = useDaemon();
  const lostAt = usePage((state) => state.lostAt);
  const loaded = usePage((state) => state.sessions !== null);
  if (lostAt === null || !loaded) return null;
  return (
    <div className="banner" role="status">
      <p>
        The daemon does not answer. What you see is as of <time>{new Date(lostAt).toLocaleTimeString()}</time>; trying
        again by itself. Runs go on, or resume once it is started: <code>troupe up</code>
      </p>
      <button type="button" onClick={() => daemon.retry()}>
        Try now
      </button>
    </div>
  );
}
