import type { ApprovalRow, ChangeRow, RunResponse, SessionDetail, SessionRow } from "@troupe/core";
import type { AgentStatsList, RecordQueries } from "@troupe/core/internal";
import { checkIsFolder } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { responseOrNull, sessionOrNull } from "./client.ts";
import { emptyQueries } from "./empty-queries.ts";
import { type HomeConnection, joinOwner } from "./join-or-start.ts";

/** Reads sessions through the owner of the home, or from the record if no process owns the home. */
export interface Archive {
  /** Null if no process owns the home: unfinished sessions wait for the next start. */
  connection: HomeConnection | null;
  sessions(limit: number): Promise<SessionRow[]>;
  session(session: string): Promise<SessionDetail | null>;
  response(session: string): Promise<RunResponse | null>;
  /** The file changes of a session, oldest first. */
  changes(session: string): Promise<ChangeRow[]>;
  /** False if the run certainly does not exist. */
  mayHaveRun(run: string): Promise<boolean>;
  /** Success, time and cost of the agents' runs over the last `windowMs`. */
  agentStats(windowMs: number): Promise<AgentStatsList>;
  /** Questions about the whole record. */
  queries: RecordQueries;
  /** Oldest first. `waiting` returns the oldest waiting requests, otherwise the newest requests of any state. */
  approvals(options: { waiting: boolean; limit: number }): Promise<ApprovalRow[]>;
}

const pageRows = 100;

async function allPages(
  pageAfter: (after: number) => Promise<{ changes: ChangeRow[]; next: number | null }>,
): Promise<ChangeRow[]> {
  const all: ChangeRow[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { changes, next } = await pageAfter(after);
    all.push(...changes);
    after = next;
  }
  return all;
}

/** Opens the archive, calls `use`, and closes it. */
export async function withArchive<T>(cli: Cli, use: (archive: Archive) => Promise<T>): Promise<T> {
  await checkIsFolder(cli.home);
  const connection = await joinOwner(cli);
  if (connection) {
    const { client } = connection;
    return use({
      connection,
      sessions: async (limit) => (await client.sessions({ limit })).sessions,
      session: (session) => sessionOrNull(client, session),
      response: (session) => responseOrNull(client, session),
      changes: (session) => allPages((after) => client.changes({ session }, { after })),
      // The service of the owner reports an unknown run.
      mayHaveRun: async () => true,
      agentStats: (windowMs) => client.agentStats(windowMs),
      queries: client.queries,
      approvals: async (options) => (await client.approvals(options)).approvals,
    });
  }
  const reader = await cli.composition.openReader(cli.home);
  try {
    return await use({
      connection: null,
      sessions: async (limit) => (await reader?.sessions({ limit })) ?? [],
      session: async (session) => (await reader?.session(session)) ?? null,
      response: async (session) => (await reader?.response(session)) ?? null,
      changes: (session) =>
        allPages(async (after) => {
          const changes = (await reader?.changes({ session }, { after, limit: pageRows })) ?? [];
          return { changes, next: changes.length === pageRows ? (changes.at(-1)?.id ?? null) : null };
        }),
      mayHaveRun: async (run) => Boolean(await reader?.run(run)),
      agentStats: async (windowMs) => {
        const sinceMs = cli.now() - windowMs;
        const none = { since: new Date(sinceMs).toISOString(), agents: [], pairs: [] };
        return (await reader?.agentStats({ sinceMs })) ?? none;
      },
      queries: reader?.queries ?? emptyQueries,
      approvals: async (options) => (await reader?.approvals(options)) ?? [],
    });
  } finally {
    await reader?.close();
  }
}
