import { type CostSum, RunNode, type TreePage } from "@troupe/core/internal";
import type { Database, SqlValue } from "../../database/sqlite.ts";
import { emptySum } from "./cost-sum.ts";
import { subtreeSums } from "./totals.ts";

const taskCharactersMax = 300;

/** The columns for sums over a whole session. */
interface NodeFacts {
  run: string;
  parentRun: string | null;
  place: number;
  tokens: number;
  costUsd: number | null;
  estimatedTokens: number;
}

type StoredNode = Record<string, SqlValue> & { run: string };

export interface TreeQueries {
  tree(session: string, options: { after: number; limit: number }): TreePage | null;
  children(run: string, options: { after: number; limit: number }): TreePage | null;
  ancestors(run: string): RunNode[] | null;
}

/** The tree of a session, and parts of it. Each run has its own cost, and the cost with all runs below it. */
export function createTreeQueries(database: Database): TreeQueries {
  const factsOf = database.prepare<[string], NodeFacts>(
    `SELECT run_id AS run, parent_run AS parentRun, seen AS place, total_tokens AS tokens, cost_usd AS costUsd,
       estimated_tokens AS estimatedTokens FROM runs WHERE session_id = ? ORDER BY seen`,
  );
  const select = `
    SELECT r.session_id AS session, r.run_id AS run, r.parent_run AS parentRun, r.seen AS "order", m.agent_role AS agent,
      r.team, m.agent_depth AS depth, r.attempt, r.exact_status AS status,
      substr(m.request_content, 1, ${taskCharactersMax}) AS task, m.started_at AS startedAt,
      m.completed_at AS completedAt, m.duration_ms AS durationMs
    FROM runs r JOIN messages m ON m.id = r.message_id`;
  const nodeOf = database.prepare<[string], StoredNode>(`${select} WHERE r.run_id = ?`);
  const nodesAfter = database.prepare<[string, number, number], StoredNode>(
    `${select} WHERE r.session_id = ? AND r.seen > ? ORDER BY r.seen LIMIT CAST(? AS INTEGER)`,
  );
  const sessionOf = database.prepareValue<[string], string>("SELECT session_id FROM runs WHERE run_id = ?");

  const readSession = (session: string) => {
    const facts = factsOf.all(session);
    const byRun = new Map(facts.map((fact) => [fact.run, fact]));
    const above = function* (fact: NodeFacts): Generator<NodeFacts> {
      const seen = new Set([fact.run]);
      for (let at = byRun.get(fact.parentRun ?? ""); at && !seen.has(at.run); at = byRun.get(at.parentRun ?? "")) {
        seen.add(at.run);
        yield at;
      }
    };
    const sums = subtreeSums(facts, above);
    const children = Map.groupBy(facts, ({ parentRun }) => parentRun);
    const toNode = (fact: NodeFacts, row = nodeOf.get(fact.run)): RunNode =>
      RunNode.parse({
        ...row,
        children: children.get(fact.run)?.length ?? 0,
        own: sumOf(fact),
        subtree: sums.get(fact.run) ?? emptySum(),
      });
    return { facts, byRun, above, children, toNode };
  };

  return {
    tree(session, { after, limit }) {
      const { facts, byRun, toNode } = readSession(session);
      const last = facts.at(-1);
      if (!last) return null;
      // One query for all rows of the page: a session can have thousands.
      const nodes = nodesAfter.all(session, after, limit).flatMap((row) => {
        const fact = byRun.get(row.run);
        return fact ? [toNode(fact, row)] : [];
      });
      const end = nodes.at(-1)?.order ?? last.place;
      return { nodes, next: end < last.place ? end : null };
    },
    children(run, options) {
      const session = sessionOf.get(run);
      if (session === undefined) return null;
      const { children, toNode } = readSession(session);
      return pageOf(children.get(run) ?? [], toNode, options);
    },
    ancestors(run) {
      const session = sessionOf.get(run);
      if (session === undefined) return null;
      const { byRun, above, toNode } = readSession(session);
      const fact = byRun.get(run);
      return fact ? [...above(fact)].reverse().map((each) => toNode(each)) : null;
    },
  };
}

function pageOf(
  facts: readonly NodeFacts[],
  toNode: (fact: NodeFacts) => RunNode,
  { after, limit }: { after: number; limit: number },
): TreePage {
  const rest = facts.filter(({ place }) => place > after);
  const nodes = rest.slice(0, limit).map((fact) => toNode(fact));
  return { nodes, next: rest.length > limit ? (nodes.at(-1)?.order ?? null) : null };
}

function sumOf({ tokens, costUsd, estimatedTokens }: NodeFacts): CostSum {
  const unknownRuns = costUsd === null ? 1 : 0;
  return { runs: 1, tokens, costUsd, knownCostUsd: costUsd ?? 0, unknownRuns, estimatedTokens };
}
