import { setTimeout as delay } from "node:timers/promises";
import { type PartialBudget, type SubmitSession, TroupeError } from "@troupe/core";
import type { SessionGrant, Submitted } from "@troupe/core/internal";
import { isSaid, type NatsFlags, ownerGone } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { modelFor, withOwner } from "../models/requested-model.ts";
import { isOutOfReach } from "./client.ts";
import { joinOrStart, type Membership } from "./join-or-start.ts";

/** What the user asked for, before it is known who will do it. */
export interface RunRequestInput {
  task: string;
  /** The settled session that it is another turn of. */
  continues: string | null;
  agent: string | null;
  /** The folder that was named. */
  workspace: string | null;
  timeoutMs: number | null;
  scenario: string | null;
  /** The model that was named, by whatever name. */
  model: string | null;
  context: string | null;
  /** What the whole tree may use; empty for no limit. */
  budget: PartialBudget;
  /** What the whole tree may not use; empty for no restriction. */
  grant: SessionGrant;
}

export interface SubmittedRun {
  member: Membership;
  submitted: Submitted;
  /** The record's position before it, to follow it from. */
  position: number;
}

/** How often an owner that is there may fail to answer, and how long after that it is asked again. */
const unansweredMax = 10;
const retryMs = 100;

/**
 * Submits to the troupe of the home, starting one where there is none. An owner that is closing refuses with
 * `CLOSING`: then this waits until it is gone, and starts over. One that has just gone does not answer at all: whether it
 * had accepted by then makes no difference, because the session is named here, or the run of a turn that continues one.
 */
export async function submitRun(
  cli: Cli,
  wish: RunRequestInput,
  options: { notice: (text: string) => void; nats: NatsFlags },
): Promise<SubmittedRun> {
  const id = cli.composition.newId();
  const name = wish.continues === null ? { session: id } : { continues: wish.continues, run: id };
  for (let unanswered = 0; ; ) {
    const member = await joinOrStart(cli, options.nats);
    noteOwner(member, options);
    try {
      cli.interrupts.signal.throwIfAborted();
      const { position } = await member.client.sessions({ limit: 1 });
      return { member, position, submitted: await submitTo(cli, wish, member, name) };
    } catch (error) {
      await member.leave();
      if (member.own) throw error;
      if (isRefusal(error)) {
        options.notice(`waiting for the ${member.owner.kind} with pid ${member.owner.pid}, which is closing`);
        await ownerGone(cli.home, member.owner, cli.interrupts.signal);
      } else {
        unanswered += 1;
        if (!isOutOfReach(error) || unanswered >= unansweredMax) throw error;
        await delay(retryMs, undefined, { signal: cli.interrupts.signal });
      }
    }
  }
}

async function submitTo(cli: Cli, wish: RunRequestInput, member: Membership, name: object): Promise<Submitted> {
  const request = { ...name, ...(await requestOf(cli, wish, member)) };
  try {
    return await member.client.submit(request);
  } catch (error) {
    throw member.own || !isAboutModels(error) ? error : await withOwner(cli, wish, member.owner, error);
  }
}

/** Whoever runs the home has its way to the others: flags come too late. */
function noteOwner({ own, owner }: Membership, { nats, notice }: { notice: (text: string) => void; nats: NatsFlags }) {
  if (own || !isSaid(nats)) return;
  notice(
    `the ${owner.kind} with pid ${owner.pid} runs this home, and says where the others are: the flag is passed over`,
  );
}

function isRefusal(error: unknown): boolean {
  return TroupeError.is(error) && error.code === "CLOSING";
}

async function requestOf(cli: Cli, wish: RunRequestInput, member: Membership): Promise<SubmitSession> {
  const { model, workspace } = await placeOf(cli, wish, member);
  return {
    task: wish.task,
    origin: "cli",
    ...(wish.agent === null ? {} : { agent: wish.agent }),
    ...(model === null ? {} : { model }),
    ...(workspace === null ? {} : { workspace }),
    ...(wish.context === null ? {} : { context: wish.context }),
    ...(wish.scenario === null ? {} : { scenario: wish.scenario }),
    ...(wish.timeoutMs === null ? {} : { timeoutMs: wish.timeoutMs }),
    ...(isEmpty(wish.budget) ? {} : { budget: wish.budget }),
    ...(isEmpty(wish.grant) ? {} : { grant: wish.grant }),
  };
}

/**
 * The caller's folder is the workspace of real work; a demo writes into a folder under the home unless another one is
 * named, so that trying it out leaves nothing behind. A session that is continued has folder and model already.
 */
async function placeOf(cli: Cli, wish: RunRequestInput, member: Membership) {
  const { continues, workspace } = wish;
  if (continues !== null) return { model: wish.model, workspace };
  const { model, demo } = await modelFor(cli, wish, member);
  return { model, workspace: workspace ?? (demo ? null : cli.cwd) };
}

function isAboutModels(error: unknown): error is TroupeError {
  return TroupeError.is(error) && (error.code === "UNKNOWN_MODEL" || error.code === "NO_PROVIDER");
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** The owner is gone while somebody waits for a session of it. The session itself is safe in the journal. */
export function ownerDied(session: string, error: unknown): unknown {
  if (!isOutOfReach(error)) return error;
  return new TroupeError("UNREACHABLE", `the troupe that ran session ${session} is gone; the session is kept`, {
    cause: error,
    fix: "troupe up",
  });
}
