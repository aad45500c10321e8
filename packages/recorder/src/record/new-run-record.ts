import type { Entry, RunRequest } from "@troupe/core";
import type { PlannedChild } from "@troupe/core/internal";
import { queuedRecord, type RequestedFields, type RunRecord } from "./run-columns.ts";
import { earlier, toIso } from "./time.ts";

/** A requested run that no host has opened. */
export function recordOfRequest(request: RunRequest, atMs: number, team: string | null = null): RunRecord {
  const { session, run, agent, depth, attempt, task, contextMode } = request;
  const parentRun = request.parent?.run ?? null;
  const byUser = request.continues === null ? "prompt" : "continuation";
  const requestType = parentRun === null ? byUser : "delegation";
  const shared = { session, run, parentRun, agent, depth, task, contextMode };
  return { ...queued({ ...shared, requestType, attempt, maxAttempts: attempt }, atMs), team };
}

/** A child that its parent has planned and not yet requested. */
export function recordOfPlannedChild(parent: RunRecord, child: PlannedChild, atMs: number): RunRecord {
  const { run, agent, task, contextMode, maxAttempts } = child;
  const position = { session: parent.session, run, parentRun: parent.run, depth: parent.depth + 1 };
  const requested = { ...position, requestType: "delegation" as const, agent, task, contextMode };
  // Its own entry confirms the team. Until then only an id of the parent's team shows it.
  const team = parent.team !== null && agent.startsWith(`${parent.team}_`) ? parent.team : null;
  return { ...queued({ ...requested, attempt: 1, maxAttempts }, atMs), team };
}

/** The request of an opened run, combined with its earlier record. A root starts at its request, a child at its opening. */
export function recordOfOpening(known: RunRecord | null, { request, at }: Entry & { kind: "run.opened" }): RunRecord {
  const requested = recordOfRequest(request, at);
  if (!known) return requested;
  return {
    ...requested,
    // The clock of the host can be behind the clock of the requester.
    startedAt: requested.parentRun === null ? earlier(known.startedAt, requested.startedAt) : requested.startedAt,
    maxAttempts: Math.max(known.maxAttempts, requested.maxAttempts),
  };
}

function queued(requested: Omit<RequestedFields, "startedAt" | "lastEventAt" | "metadata">, atMs: number): RunRecord {
  const at = toIso(atMs);
  const metadata = { run_id: requested.run, status: "queued", attempt: requested.attempt };
  return queuedRecord({ ...requested, startedAt: at, lastEventAt: at, metadata });
}
