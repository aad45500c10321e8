import {
  type Company,
  composeResponse,
  type Entry,
  type EntryBody,
  failed,
  isTerminal,
  type Message,
  openContext,
  openEntry,
  type RunError,
  type RunRequest,
  type RunResponse,
  refusal,
  rejected,
  replayAgent,
} from "@troupe/core";
import { sealChain, type WrittenEntry } from "./chain.ts";
import { historyOf } from "./history.ts";
import { lastInboxSeq, wishesFor } from "./inbox.ts";
import { pinRun } from "./pin.ts";
import type { World } from "./world.ts";

/** A run claimed this often in a row without anything coming of it kills its hosts: it is settled instead. */
const fruitlessClaimsMax = 3;

/**
 * What came of taking a task up: a run to bring to life, a run that has its response, or nothing, because somebody
 * else claimed it first.
 */
export type Claim =
  | { kind: "alive"; entries: readonly Entry[]; inboxSeq: number }
  | { kind: "settled"; response: RunResponse }
  | { kind: "taken" };

/** Writes this host's claim into the run's journal; for a run that has none, its opening. */
export async function claimRun(world: World, request: RunRequest, loadCompany: () => Promise<Company>): Promise<Claim> {
  const { session, run } = request;
  const known = (await world.journal.readRun(session, run)).map(openEntry);
  const last = known.at(-1);
  if (last?.kind === "run.settled") return { kind: "settled", response: last.response };

  const bodies = known.length > 0 ? resumeBodies(known) : await openBodies(world, request, await loadCompany());
  const seenSeq = lastInboxSeq(known);
  const inbox = await world.journal.readInbox(session, seenSeq);
  if (!bodies.some(isTerminal)) {
    for (const { seq, item } of wishesFor(inbox, request, seenSeq)) bodies.push({ kind: "inbox.received", seq, item });
  }
  const written = sealClaim(world, request, last ?? null, bodies);
  const entries = written.map(({ entry }) => entry);
  const terminal = entries.some(isTerminal);
  const sealed = written.map((each) => each.sealed);
  const result = await world.journal.append({ session, run, after: known.length - 1, entries: sealed, terminal });
  if (!result.ok) {
    world.logger.warn({ session, run, lastIndex: result.lastIndex }, "claimed by somebody else first");
    return { kind: "taken" };
  }
  const settled = entries.at(-1);
  if (settled?.kind === "run.settled") return { kind: "settled", response: settled.response };
  return { kind: "alive", entries: [...known, ...entries], inboxSeq: inbox.at(-1)?.seq ?? seenSeq };
}

/** A new run's first facts: its opening, and at once its end where nobody of that name is there. */
async function openBodies(world: World, request: RunRequest, company: Company): Promise<EntryBody[]> {
  const history = await historyOf(world.journal, request);
  const pin = { ...(world.replay?.pinOf(request) ?? (await pinRun(world, request, company))), history: history ?? [] };
  const opened: EntryBody = { kind: "run.opened", request, pin };
  const error = refusalOf(request, company, history);
  if (!error) return [opened];
  const context = openContext({ request, pin, openedAt: world.clock.now() });
  return [opened, { kind: "run.settled", response: composeResponse(context, rejected(error)) }];
}

/** Why a new run cannot begin; null where it can. */
function refusalOf({ agent, continues }: RunRequest, company: Company, history: Message[] | null): RunError | null {
  const ids = company.agents.map(({ id }) => id).join(", ");
  if (!company.find(agent)) return refusal("unknown_agent", `no agent is called "${agent}"; there are: ${ids}`);
  return history ? null : refusal("params", `run ${continues}, which it was to go on from, has not ended here`);
}

/** A known run's next fact: the claim; and its end where claims lead to nothing. */
function resumeBodies(known: readonly Entry[]): EntryBody[] {
  const claimed: EntryBody = { kind: "run.claimed", reason: "resumed" };
  if (fruitlessClaims(known) < fruitlessClaimsMax) return [claimed];
  const error = refusal(
    "crashed",
    `claimed ${fruitlessClaimsMax} times in a row without any outcome: it may be what kills its hosts`,
  );
  // The machine itself says what was used before, so that a parent pays for all of it.
  return [claimed, { kind: "run.settled", response: composeResponse(replayAgent(known), failed(error)) }];
}

function sealClaim(
  world: World,
  request: RunRequest,
  last: Entry | null,
  bodies: readonly EntryBody[],
): WrittenEntry[] {
  const { session, run } = request;
  const writer = { session, run, epoch: (last?.epoch ?? 0) + 1, host: world.hostId, at: world.clock.now() };
  return sealChain(writer, { index: last?.index ?? -1, hash: last?.hash ?? null }, bodies, world.redact);
}

/** What may stand between two claims without anything having come of the first. */
const fruitless: ReadonlySet<string> = new Set(["run.claimed", "inbox.received", "child.waiting"]);

/** Claims at the end of a journal that no outcome followed. Parking in between shows that nothing crashed. */
function fruitlessClaims(known: readonly Entry[]): number {
  const lastFruit = known.findLastIndex(({ kind }) => !fruitless.has(kind));
  return known.slice(lastFruit + 1).filter(({ kind }) => kind === "run.claimed").length;
}
