import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { RunResponse } from "@troupe/core";
import { systemIds } from "@troupe/core/system";
import { treeAgents } from "./agent-tree.ts";
import { type Cluster, clientOf, type TroupeMember } from "./cluster.ts";

/** One request of a user, as he sees it. */
export interface TestSession {
  session: string;
  run: string;
  agent: string;
  workspace: string;
  askedAt: number;
  acceptedAt: number;
  /** Null until a daemon returns the response. */
  response: RunResponse | null;
  settledAt: number | null;
}

export interface SubmitOptions {
  agent?: string;
  task?: string;
  /** @default all of them, one after the other, whichever lives */
  daemons?: readonly TroupeMember[];
  signal?: AbortSignal;
}

/** Longer than any planned outage, so a refusal after this time is final. */
const submitForMs = 150_000;
const submitAgainMs = 200;
const pollMs = 250;

/** Asks until a daemon has accepted it: under an id of one's own, asking twice is asking once. */
export async function submitSession(cluster: Cluster, options: SubmitOptions = {}): Promise<TestSession> {
  const { agent = treeAgents().boss, task = "survive", daemons = cluster.daemons, signal } = options;
  const session = systemIds().next();
  const workspace = path.join(cluster.folder, "work", session);
  await mkdir(workspace, { recursive: true });
  const askedAt = Date.now();
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    const daemon = daemons[(Number.parseInt(session.slice(-4), 16) + tries) % daemons.length];
    try {
      const client = daemon && clientOf(daemon);
      const accepted = await client?.submit({
        session,
        task,
        agent,
        scenario: cluster.scenario,
        workspace,
        origin: "api",
      });
      if (accepted) {
        const { run } = accepted;
        return { session, run, agent, workspace, askedAt, acceptedAt: Date.now(), response: null, settledAt: null };
      }
    } catch (error) {
      // It died, or its server did: another one, or the same again.
      if (Date.now() > askedAt + submitForMs) throw error;
    }
    await delay(submitAgainMs);
  }
}

/** Looks at whichever daemon lives until one says how the session ended. Resolves at `signal` too, with nothing. */
export async function awaitEnd(cluster: Cluster, played: TestSession, signal: AbortSignal): Promise<TestSession> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    const daemon = cluster.daemons[tries % cluster.daemons.length];
    const response = await (daemon && clientOf(daemon))?.response(played.session).catch(() => null);
    if (response) return Object.assign(played, { response, settledAt: Date.now() });
    await delay(pollMs);
  }
  return played;
}

export interface RunSessionsOptions extends SubmitOptions {
  count: number;
  /** The sessions begin spread over so much time. @default 0 */
  spreadMs?: number;
  /** Gives up waiting after this time. */
  limitMs: number;
}

/** So many sessions, asked for one after the other, each to its end. */
export async function runSessions(cluster: Cluster, options: RunSessionsOptions): Promise<TestSession[]> {
  const { count, spreadMs = 0, limitMs } = options;
  const signal = AbortSignal.timeout(limitMs);
  const runOne = async (_: unknown, i: number): Promise<TestSession | null> => {
    await delay((spreadMs * i) / count);
    const played = await submitSession(cluster, { ...options, signal }).catch(() => null);
    return played && (await awaitEnd(cluster, played, signal));
  };
  const played = await Promise.all(Array.from({ length: count }, runOne));
  return played.filter((session) => session !== null);
}
