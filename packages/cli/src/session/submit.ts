import { setTimeout as delay } from "node:timers/promises";
import { type PartialBudget, type SubmitSession, TroupeError } from "@troupe/core";
import type { SessionGrant, Submitted } from "@troupe/core/internal";
import { type NatsFlags, namesServer, waitForOwnerExit } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { explainRefusal, modelFor } from "../models/requested-model.ts";
import { isOutOfReach } from "./client.ts";
import { type HomeConnection, joinOrStart } from "./join-or-start.ts";

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
  connection: HomeConnection;
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
  input: RunRequestInput,
  options: { notice: (text: string) => void; nats: NatsFlags },
): Promise<SubmittedRun> {
  const id = cli.composition.newId();
  const name = input.continues === null ? { session: id } : { continues: input.continues, run: id };
  for (let unanswered = 0; ; ) {
    const connection = await joinOrStart(cli, options.nats);
    noteOwner(connection, options);
    try {
      cli.interrupts.signal.throwIfAborted();
      const { position } = await connection.client.sessions({ limit: 1 });
      return { connection, position, submitted: await submitTo(cli, input, connection, name) };
    } catch (error) {
      await connection.close();
      if (connection.local) throw error;
      if (isClosing(error)) {
        options.notice(`waiting for the ${connection.owner.kind} with pid ${connection.owner.pid}, which is closing`);
        await waitForOwnerExit(cli.home, connection.owner, cli.interrupts.signal);
      } else {
        unanswered += 1;
        if (!isOutOfReach(error) || unanswered >= unansweredMax) throw error;
        await delay(retryMs, undefined, { signal: cli.interrupts.signal });
      }
    }
  }
}

async function submitTo(
  cli: Cli,
  input: RunRequestInput,
  connection: HomeConnection,
  name: object,
): Promise<Submitted> {
  const request = { ...name, ...(await requestOf(cli, input, connection)) };
  try {
    return await connection.client.submit(request);
  } catch (error) {
    throw connection.local || !isAboutModels(error) ? error : await explainRefusal(cli, input, connection.owner, error);
  }
}

/** Whoever runs the home has its way to the others: flags come too late. */
function noteOwner(
  { local: own, owner }: HomeConnection,
  { nats, notice }: { notice: (text: string) => void; nats: NatsFlags },
) {
  if (own || !namesServer(nats)) return;
  notice(
    `the ${owner.kind} with pid ${owner.pid} runs this home, and says where the others are: the flag is passed over`,
  );
}

function isClosing(error: unknown): boolean {
  return TroupeError.is(error) && error.code === "CLOSING";
}

async function requestOf(cli: Cli, input: RunRequestInput, connection: HomeConnection): Promise<SubmitSession> {
  const { model, workspace } = await modelAndWorkspace(cli, input, connection);
  return {
    task: input.task,
    origin: "cli",
    ...(input.agent === null ? {} : { agent: input.agent }),
    ...(model === null ? {} : { model }),
    ...(workspace === null ? {} : { workspace }),
    ...(input.context === null ? {} : { context: input.context }),
    ...(input.scenario === null ? {} : { scenario: input.scenario }),
    ...(input.timeoutMs === null ? {} : { timeoutMs: input.timeoutMs }),
    ...(isEmpty(input.budget) ? {} : { budget: input.budget }),
    ...(isEmpty(input.grant) ? {} : { grant: input.grant }),
  };
}

/**
 * The caller's folder is the workspace of real work; a demo writes into a folder under the home unless another one is
 * named, so that trying it out leaves nothing behind. A session that is continued has folder and model already.
 */
async function modelAndWorkspace(cli: Cli, input: RunRequestInput, connection: HomeConnection) {
  const { continues, workspace } = input;
  if (continues !== null) return { model: input.model, workspace };
  const { model, demo } = await modelFor(cli, input, connection);
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
