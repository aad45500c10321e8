import {
  type AgentRegistry,
  type Entry,
  type EntryBody,
  type RunRequest,
  type RunResponse,
  replayAgent,
  type TakenTask,
  TroupeError,
} from "@troupe/core";
import { composeResponse, failedOutcome, isTerminal, momentOf, openEntry, permanentError } from "@troupe/core/internal";
import { isNewerVersion } from "../decode-message.ts";
import type { HostDeps } from "../host-deps.ts";
import { commandsFor, type InboxStart, lastInboxSeq } from "../run/inbox.ts";
import { stopsModelCall } from "../run/lost-usage.ts";
import { appendEntries } from "../run/seal-entries.ts";
import { incompatibility } from "./compatibility.ts";
import { isHeldElsewhere } from "./holder-query.ts";
import { openingEntries } from "./open-run.ts";
import { isPoisonRun, poisonClaimsMax } from "./poison-run.ts";

/** The result of a claim. */
export type Claim =
  /** This host has the run and starts it. */
  | { kind: "claimed"; entries: readonly Entry[]; inbox: InboxStart }
  | { kind: "settled"; response: RunResponse }
  /** Another host holds the run. */
  | { kind: "held" }
  /** This host cannot resume the run and leaves it to another host. */
  | { kind: "declined"; reason: string };

type LoadRegistry = () => Promise<AgentRegistry>;

/** A claim that loses its compare-and-set is repeated this often. */
const claimsMax = 5;

/** A read right after a lost compare-and-set may be stale, so the next claim waits. */
const readAgainMs = 50;

/**
 * Claims a run: appends `run.opened` to a new journal, or `run.claimed` to an existing one. The journal of a task that is
 * delivered for the first time is not read first: if the run exists, the append at index 0 fails and shows it.
 *
 * @param task the delivery of the run's task. @default a first delivery
 */
export async function claimRun(
  deps: HostDeps,
  request: RunRequest,
  loadRegistry: LoadRegistry,
  task: Pick<TakenTask, "redelivered"> = { redelivered: false },
): Promise<Claim> {
  const opened = task.redelivered ? null : await openUnread(deps, request, loadRegistry);
  return opened ?? (await claimKnown(deps, request, loadRegistry));
}

/** Null if the run exists already. */
async function openUnread(deps: HostDeps, request: RunRequest, loadRegistry: LoadRegistry) {
  try {
    return await openRun(deps, request, loadRegistry);
  } catch (error) {
    // Only an opening needs the agent definition. An existing run is claimed without it.
    if ((await deps.journal.lastOf(request.session, request.run)) === null) throw error;
    return null;
  }
}

/** Null if another host has opened the run. */
async function openRun(deps: HostDeps, request: RunRequest, loadRegistry: LoadRegistry): Promise<Claim | null> {
  const bodies = await openingEntries(deps, request, await loadRegistry());
  const readAt = momentOf(deps.clock);
  // Both are round trips, so they run concurrently. Most inboxes have no command for a new run.
  const [entries, inbox] = await Promise.all([
    appendEntries(deps, request, [], bodies, 1),
    deps.journal.readInbox(request.session),
  ]);
  if (!entries) return null;
  const settled = settledIn(entries);
  if (settled) return settled;
  const commands = commandEntries(inbox, bodies[0] ?? null, request, 0);
  const written = commands.length > 0 ? await appendEntries(deps, request, entries, commands, 1) : entries;
  return written && { kind: "claimed", entries: written, inbox: { seq: inbox.at(-1)?.seq ?? 0, readAt } };
}

async function claimKnown(deps: HostDeps, request: RunRequest, loadRegistry: LoadRegistry): Promise<Claim> {
  const { session, run } = request;
  // With leases, even a first delivery can belong to a live run: a lost queue is filled again.
  let mayBeHeld = deps.leaseMs !== undefined;
  for (let claims = 0; claims < claimsMax; claims += 1) {
    if (claims > 0) await new Promise<void>((resolve) => deps.clock.after(readAgainMs * claims, resolve));
    const texts = await deps.journal.readRun(session, run);
    if (isWrittenByNewer(texts)) return { kind: "declined", reason: "a host of a newer version has written it" };
    const known = texts.map(openEntry);
    const claim = await claimOnce(deps, request, known, loadRegistry, mayBeHeld);
    if (claim) return claim;
    // Another host has written to the journal. The next try asks it first.
    mayBeHeld = true;
  }
  throw new TroupeError(
    "CONFLICT",
    `run ${run} could not be claimed: other hosts wrote to its journal during ${claimsMax} tries`,
  );
}

/** Null if another host has written between the read and the claim. */
async function claimOnce(
  deps: HostDeps,
  request: RunRequest,
  known: readonly Entry[],
  loadRegistry: LoadRegistry,
  mayBeHeld: boolean,
): Promise<Claim | null> {
  const [opened] = known;
  const last = known.at(-1);
  if (opened?.kind !== "run.opened" || !last) return await openRun(deps, request, loadRegistry);
  const settled = settledIn(known);
  if (settled) return settled;
  if (mayBeHeld && (await isHeldElsewhere(deps, last))) return { kind: "held" };
  const reason = await incompatibility(deps, opened.request, opened.pin, loadRegistry);
  if (reason !== null) return { kind: "declined", reason };
  return await resume(deps, request, known, last);
}

async function resume(
  deps: HostDeps,
  request: RunRequest,
  known: readonly Entry[],
  last: Entry,
): Promise<Claim | null> {
  const bodies = claimEntries(deps, known, last);
  const afterSeq = lastInboxSeq(known);
  const readAt = momentOf(deps.clock);
  const inbox = await deps.journal.readInbox(request.session, afterSeq);
  if (!bodies.some(isTerminal)) bodies.push(...commandEntries(inbox, known[0] ?? null, request, afterSeq));
  const entries = await appendEntries(deps, request, known, bodies, last.epoch + 1);
  if (!entries) return null;
  return settledIn(entries) ?? { kind: "claimed", entries, inbox: { seq: inbox.at(-1)?.seq ?? afterSeq, readAt } };
}

/** The claim of a known run, and the end of a poison run. */
function claimEntries(deps: HostDeps, known: readonly Entry[], last: Entry): EntryBody[] {
  const forkedFrom = deps.replay?.forkedFrom(last.run, last.index + 1) ?? null;
  const claimed: EntryBody = {
    kind: "run.claimed",
    reason: claimReason(deps, last),
    ...(forkedFrom === null ? {} : { forkedFrom }),
  };
  if (!isPoisonRun(known)) return [claimed];
  const error = permanentError(
    "crashed",
    `claimed ${poisonClaimsMax} times in a row without any outcome: it may be what kills its hosts`,
  );
  // The replayed machine composes the response, so that the parent is charged for everything that was used.
  return [claimed, { kind: "run.settled", response: composeResponse(replayAgent(known), failedOutcome(error)) }];
}

/** `taken_over` if another host held the run and has not parked it. Without leases there is no other host. */
function claimReason({ hostId, leaseMs }: HostDeps, last: Entry): "resumed" | "taken_over" {
  const isTakenOver = leaseMs !== undefined && last.host !== hostId && last.kind !== "run.parked";
  return isTakenOver ? "taken_over" : "resumed";
}

/** @param opened the run's first entry */
function commandEntries(
  inbox: Parameters<typeof commandsFor>[0],
  opened: EntryBody | null,
  request: RunRequest,
  afterSeq: number,
): EntryBody[] {
  const isBooked = opened?.kind === "run.opened" && opened.pin.booksLostCalls;
  return commandsFor(inbox, request, afterSeq).map(({ seq, item }) => {
    const body = { kind: "inbox.received" as const, seq, item };
    // No model call has started, so a cancel stops none.
    return isBooked && stopsModelCall(body) ? { ...body, lostUsage: null } : body;
  });
}

function settledIn(entries: readonly Entry[]): (Claim & { kind: "settled" }) | null {
  const last = entries.at(-1);
  return last?.kind === "run.settled" ? { kind: "settled", response: last.response } : null;
}

function isWrittenByNewer(texts: readonly string[]): boolean {
  const newest = texts.at(-1);
  return newest !== undefined && isNewerVersion(new TextEncoder().encode(newest));
}
