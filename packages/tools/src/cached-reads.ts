import type { ToolCall, ToolContext, ToolHost, ToolOutcome } from "@troupe/core";
import { canonicalJson, recallToolName } from "@troupe/core/internal";

export interface CachedReadsOptions {
  host: ToolHost;
  /** Outcomes that are cached for one session. @default 200 */
  outcomesMax?: number;
  /** Sessions in the cache. The least recently used one is evicted. @default 64 */
  sessionsMax?: number;
}

/** The reads of a session since its last call that may have changed something. */
interface SessionReads {
  outcomes: Map<string, ToolOutcome>;
  /** Incremented by every call that is not a read. A read that overlaps with one may be outdated. */
  changes: number;
}

/**
 * Wraps a tool host with a cache of reads. A repeated read is served from memory until a call of the same session may have
 * changed something. Grants and policy are checked as for any call. The cache does not notice changes by other sessions or
 * programs, so it is only used when the machine's policy sets `cacheReads`.
 *
 * @example
 * const tools = cacheReads({ host: createToolHost({ tools: createFileTools() }) });
 */
export function cacheReads({ host, outcomesMax = 200, sessionsMax = 64 }: CachedReadsOptions): ToolHost {
  const sessions = new Map<string, SessionReads>();
  const reads = new Set(host.specs().flatMap(({ name, effect }) => (effect === "read" ? [name] : [])));

  const readsOf = (session: string): SessionReads => {
    const found = sessions.get(session) ?? { outcomes: new Map(), changes: 0 };
    sessions.delete(session);
    sessions.set(session, found);
    const oldest = sessions.keys().next().value;
    if (sessions.size > sessionsMax && oldest !== undefined) sessions.delete(oldest);
    return found;
  };

  const change = async (call: ToolCall, context: ToolContext): Promise<ToolOutcome> => {
    const cache = readsOf(context.session);
    const invalidate = (): void => {
      cache.changes += 1;
      cache.outcomes.clear();
    };
    invalidate();
    try {
      return await host.run(call, context);
    } finally {
      invalidate();
    }
  };

  const read = async (call: ToolCall, context: ToolContext): Promise<ToolOutcome> => {
    const cache = readsOf(context.session);
    const key = `${context.workspace} ${call.name} ${canonicalJson(call.args)}`;
    const cached = cache.outcomes.get(key);
    if (cached) return { ...cached, durationMs: 0 };
    const { changes } = cache;
    const outcome = await host.run(call, context);
    // A truncated output tells only its own run how to read the rest.
    const isShareable = outcome.error === null && outcome.outputRef === null;
    if (isShareable && cache.changes === changes && cache.outcomes.size < outcomesMax) cache.outcomes.set(key, outcome);
    return outcome;
  };

  return {
    prepare: async (workspace) => host.prepare?.(workspace),
    specs: (workspace) => host.specs(workspace),
    assess: (call, context) => host.assess(call, context),
    ...(host.reachOf ? { reachOf: host.reachOf } : {}),
    ...(host.examine ? { examine: host.examine } : {}),
    plan: (call, context) => host.plan(call, context),
    verify: (call, context) => host.verify(call, context),
    run(call, context) {
      // Recall reads the results of its own run only.
      if (call.name === recallToolName) return host.run(call, context);
      if (!reads.has(call.name)) return change(call, context);
      const isAllowed =
        context.grant.tools.includes(call.name) && host.assess(call, context).decision === "allow" && !call.problem;
      return isAllowed ? read(call, context) : host.run(call, context);
    },
  };
}
