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
import { isOfNewerVersion } from "../decode-message.ts";
import type { HostDeps } from "../host-deps.ts";
import { commandsFor, lastInboxSeq } from "../inbox.ts";
import type { InboxStart } from "../run/inbox.ts";
import { sealEntries } from "../run/seal-entries.ts";
import { incompatibility } from "./compatibility.ts";
import { isHeldElsewhere } from "./holder-query.ts";
import { openingOf } from "./open-run.ts";
import { isPoisonous, poisonClaimsMax } from "./poison-run.ts";

/**
 * What came of taking a task up: a run to bring to life, a run that has its response, a run that somebody else holds, or
 * one that is for another host.
 */
export type Claim =
  | { kind: "alive"; entries: readonly Entry[]; inbox: InboxStart }
  | { kind: "settled"; response: RunResponse }
  | { kind: "held" }
  | { kind: "left"; why: string };

type Delivered = Pick<TakenTask, "redelivered">;

/** The task of a queue that is alone with this process. */
const forTheFirstTime: Delivered = { redelivered: false };

/** So often a claim that came too late is made anew before the task is laid aside for a moment. */
const claimsMax = 5;

/** What is read right after a write that came too late may be from before it. */
const readAgainMs = 50;

/**
 * Writes this host's claim into the run's journal; for a run that has none, its opening. A task that nobody had before
 * is opened unread: where the run is known, its first place is taken, and that says so.
 *
 * @param task what the queue knows of it
 */
export async function claimRun(
  deps: HostDeps,
  request: RunRequest,
  loadCompany: () => Promise<AgentRegistry>,
  task: Delivered = forTheFirstTime,
): Promise<Claim> {
  const opened = task.redelivered ? null : await openUnread(deps, request, loadCompany);
  return opened ?? (await claimKnown(deps, request, loadCompany));
}

/** Null where the run is known already. */
async function openUnread(deps: HostDeps, request: RunRequest, loadCompany: () => Promise<AgentRegistry>) {
  try {
    return await openRun(deps, request, loadCompany);
  } catch (error) {
    // What a new run cannot be opened with is nothing that a known one needs.
    if ((await deps.journal.lastOf(request.session, request.run)) === null) throw error;
    return null;
  }
}

/** Null where somebody has opened it. */
async function openRun(
  deps: HostDeps,
  request: RunRequest,
  loadCompany: () => Promise<AgentRegistry>,
): Promise<Claim | null> {
  const bodies = await openingOf(deps, request, await loadCompany());
  const askedAt = momentOf(deps.clock);
  // Side by side, because each is a round trip. Most inboxes have nothing for a new run.
  const [entries, inbox] = await Promise.all([
    write(deps, request, [], bodies, 1),
    deps.journal.readInbox(request.session),
  ]);
  if (!entries) return null;
  const settled = settledIn(entries);
  if (settled) return settled;
  const wished = wishBodies(inbox, request, 0);
  const written = wished.length > 0 ? await write(deps, request, entries, wished, 1) : entries;
  return written && { kind: "alive", entries: written, inbox: { seq: inbox.at(-1)?.seq ?? 0, askedAt } };
}

async function claimKnown(
  deps: HostDeps,
  request: RunRequest,
  loadCompany: () => Promise<AgentRegistry>,
): Promise<Claim> {
  const { session, run } = request;
  // Where hosts come and go, a task that is new may be of a run that lives: a queue that was lost is filled again.
  let isContested = deps.leaseMs !== undefined;
  for (let claims = 0; claims < claimsMax; claims += 1) {
    if (claims > 0) await new Promise<void>((resolve) => deps.clock.after(readAgainMs * claims, resolve));
    const texts = await deps.journal.readRun(session, run);
    if (isNewer(texts)) return { kind: "left", why: "a host of a newer version has written it" };
    const known = texts.map(openEntry);
    const claim = await claimOnce(deps, request, known, loadCompany, isContested);
    if (claim) return claim;
    // Somebody wrote there: whoever it was is asked before the next try.
    isContested = true;
  }
  throw new TroupeError("CONFLICT", `run ${run} is written by others again and again`);
}

/** Null where somebody wrote between the look and the claim. */
async function claimOnce(
  deps: HostDeps,
  request: RunRequest,
  known: readonly Entry[],
  loadCompany: () => Promise<AgentRegistry>,
  isContested: boolean,
): Promise<Claim | null> {
  const [opened] = known;
  const last = known.at(-1);
  if (opened?.kind !== "run.opened" || !last) return await openRun(deps, request, loadCompany);
  const settled = settledIn(known);
  if (settled) return settled;
  if (isContested && (await isHeldElsewhere(deps, last))) return { kind: "held" };
  const why = await incompatibility(deps, opened.request, opened.pin, loadCompany);
  if (why !== null) return { kind: "left", why };
  return await resume(deps, request, known, last);
}

async function resume(
  deps: HostDeps,
  request: RunRequest,
  known: readonly Entry[],
  last: Entry,
): Promise<Claim | null> {
  const bodies = resumeBodies(deps, known, last);
  const seenSeq = lastInboxSeq(known);
  const askedAt = momentOf(deps.clock);
  const inbox = await deps.journal.readInbox(request.session, seenSeq);
  if (!bodies.some(isTerminal)) bodies.push(...wishBodies(inbox, request, seenSeq));
  const entries = await write(deps, request, known, bodies, last.epoch + 1);
  if (!entries) return null;
  return settledIn(entries) ?? { kind: "alive", entries, inbox: { seq: inbox.at(-1)?.seq ?? seenSeq, askedAt } };
}

/** A known run's next fact: the claim; and its end where claims lead to nothing. */
function resumeBodies(deps: HostDeps, known: readonly Entry[], last: Entry): EntryBody[] {
  const claimed: EntryBody = { kind: "run.claimed", reason: reasonOf(deps, last) };
  if (!isPoisonous(known)) return [claimed];
  const error = permanentError(
    "crashed",
    `claimed ${poisonClaimsMax} times in a row without any outcome: it may be what kills its hosts`,
  );
  // The machine itself says what was used before, so that a parent pays for all of it.
  return [claimed, { kind: "run.settled", response: composeResponse(replayAgent(known), failedOutcome(error)) }];
}

/** Taken over is what another host had and never let go of; where no other is known of, it is this one's earlier life. */
function reasonOf({ hostId, leaseMs }: HostDeps, last: Entry): "resumed" | "taken_over" {
  const isAnothers = leaseMs !== undefined && last.host !== hostId && last.kind !== "run.parked";
  return isAnothers ? "taken_over" : "resumed";
}

function wishBodies(inbox: Parameters<typeof commandsFor>[0], request: RunRequest, afterSeq: number): EntryBody[] {
  return commandsFor(inbox, request, afterSeq).map(({ seq, item }) => ({ kind: "inbox.received", seq, item }));
}

function settledIn(entries: readonly Entry[]): (Claim & { kind: "settled" }) | null {
  const last = entries.at(-1);
  return last?.kind === "run.settled" ? { kind: "settled", response: last.response } : null;
}

/** All entries that there are then; null where somebody else wrote there first. */
export async function write(
  deps: HostDeps,
  { session, run }: RunRequest,
  known: readonly Entry[],
  bodies: readonly EntryBody[],
  epoch: number,
): Promise<Entry[] | null> {
  const last = known.at(-1);
  const writer = { session, run, epoch, host: deps.hostId, at: deps.clock.now() };
  const end = { index: last?.index ?? -1, hash: last?.hash ?? null };
  const written = sealEntries(writer, end, bodies, deps.redact);
  const entries = written.map(({ sealed }) => sealed);
  const terminal = bodies.some(isTerminal);
  const result = await deps.journal.append({ session, run, after: end.index, entries, terminal });
  return result.ok ? [...known, ...written.map(({ entry }) => entry)] : null;
}

function isNewer(texts: readonly string[]): boolean {
  const newest = texts.at(-1);
  return newest !== undefined && isOfNewerVersion(new TextEncoder().encode(newest));
}
