import type { ToolCall, ToolContext, ToolHost, ToolOutcome } from "@troupe/core";
import { canonicalJson, recallToolName } from "@troupe/core/internal";

export interface CachedReadsOptions {
  host: ToolHost;
  /** Outcomes kept for one session. @default 200 */
  outcomesMax?: number;
  /** Sessions that are kept at all; the one that was used longest ago leaves. @default 64 */
  sessionsMax?: number;
}

/** What a session has read since anything in it was last done that may change what is read. */
interface SessionReads {
  outcomes: Map<string, ToolOutcome>;
  /** One more with every call that is no read: what was being read meanwhile may be out of date. */
  changes: number;
}

/**
 * A tool host that answers a read anew from memory while nothing in its session was done since that may have changed
 * what it reads. Grants and policy are asked as for any other call. What somebody else changes is not seen: it is for
 * agents that read the same files over and over, and off unless the machine's policy asks for it.
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
    const known = readsOf(context.session);
    const forget = (): void => {
      known.changes += 1;
      known.outcomes.clear();
    };
    forget();
    try {
      return await host.run(call, context);
    } finally {
      forget();
    }
  };

  const read = async (call: ToolCall, context: ToolContext): Promise<ToolOutcome> => {
    const known = readsOf(context.session);
    const key = `${context.workspace} ${call.name} ${canonicalJson(call.args)}`;
    const kept = known.outcomes.get(key);
    if (kept) return { ...kept, durationMs: 0 };
    const { changes } = known;
    const outcome = await host.run(call, context);
    // One that was cut says how its own run reads the rest.
    const isForAll = outcome.error === null && outcome.outputRef === null;
    if (isForAll && known.changes === changes && known.outcomes.size < outcomesMax) known.outcomes.set(key, outcome);
    return outcome;
  };

  return {
    prepare: async (workspace) => host.prepare?.(workspace),
    specs: (workspace) => host.specs(workspace),
    assess: (call, context) => host.assess(call, context),
    plan: (call, context) => host.plan(call, context),
    verify: (call, context) => host.verify(call, context),
    run(call, context) {
      // It reads what is its own run's alone.
      if (call.name === recallToolName) return host.run(call, context);
      if (!reads.has(call.name)) return change(call, context);
      const isAllowed =
        context.grant.tools.includes(call.name) && host.assess(call, context).decision === "allow" && !call.problem;
      return isAllowed ? read(call, context) : host.run(call, context);
    },
  };
}
