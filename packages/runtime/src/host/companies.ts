import type { AgentRegistry, AgentSource } from "@troupe/core";

/** Sessions whose definitions are kept in memory at once. */
const sessionsMax = 256;

/**
 * The company of each session: read when the session's first run starts here, then kept, so that a tree of runs does
 * not read the same files a thousand times. Edited files count from the next session on.
 */
export function createSessionRegistries(
  source: AgentSource,
): (session: string, workspace: string) => Promise<AgentRegistry> {
  const kept = new Map<string, Promise<AgentRegistry>>();
  return (session, workspace) => {
    const known = kept.get(session);
    if (known) return known;
    const loading = source.load(workspace);
    loading.catch(() => kept.delete(session));
    kept.set(session, loading);
    const oldest = kept.keys().next().value;
    if (kept.size > sessionsMax && oldest !== undefined) kept.delete(oldest);
    return loading;
  };
}
