import { setTimeout as delay } from "node:timers/promises";
import { type PartialBudget, type SubmitSession, TroupeError } from "@troupe/core";
import type { SessionGrant, Submitted } from "@troupe/core/internal";
import { type NatsFlags, namesServer, waitForOwnerExit } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { explainRefusal, modelFor } from "../models/requested-model.ts";
import { isOutOfReach, type TroupeClient } from "./client.ts";
import { type HomeConnection, joinOrStart } from "./join-or-start.ts";

/** A task as the user typed it, before a troupe is chosen to run it. */
export interface RunRequestInput {
  task: string;
  /** The settled session to continue. */
  continues: string | null;
  agent: string | null;
  /** The team of `--team` or `TROUPE_TEAM`. */
  team?: string | null;
  /** The folder from `--workspace`. */
  workspace: string | null;
  /** Whether a home may be the workspace. */
  allowHome?: boolean;
  timeoutMs: number | null;
  scenario: string | null;
  /** The model from `--model`, which can be an alias. */
  model: string | null;
  context: string | null;
  /** Budget of the whole tree; empty for no limit. */
  budget: PartialBudget;
  /** Restrictions of the whole tree; empty for none. */
  grant: SessionGrant;
  /** Further fields of the request, which can depend on recorded sessions. */
  fields?: (client: TroupeClient) => Promise<Partial<SubmitSession>>;
}

export interface SubmittedRun {
  connection: HomeConnection;
  submitted: Submitted;
  /** The record's position before the submission, from which the session is followed. */
  position: number;
}

/** Tries to reach an owner that does not answer, and the wait between them. */
const unansweredMax = 10;
const retryMs = 100;

/**
 * Submits the task to the owner of the home, or starts a troupe here. A closing owner refuses with `CLOSING`: this waits
 * until it has exited and tries again. An owner that just exited does not answer. A retry is safe even if it accepted the
 * task, because the session id (or the run id of a continued session) is chosen here.
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
  const fields = await input.fields?.(connection.client);
  const request = { ...name, ...(await requestOf(cli, input, connection)), ...fields };
  try {
    return await connection.client.submit(request);
  } catch (error) {
    throw connection.local || !isAboutModels(error) ? error : await explainRefusal(cli, input, connection.owner, error);
  }
}

/** Says that NATS flags are ignored, because the owner of the home is already connected. */
function noteOwner(
  { local: own, owner }: HomeConnection,
  { nats, notice }: { notice: (text: string) => void; nats: NatsFlags },
) {
  if (own || !namesServer(nats)) return;
  notice(
    `the ${owner.kind} with pid ${owner.pid} already runs this home; its NATS connection is used and the flag is ignored`,
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
    ...(input.team ? { team: input.team } : {}),
    ...(model === null ? {} : { model }),
    ...(workspace === null ? {} : { workspace }),
    ...(input.allowHome ? { allowHome: true } : {}),
    ...(input.context === null ? {} : { context: input.context }),
    ...(input.scenario === null ? {} : { scenario: input.scenario }),
    ...(input.timeoutMs === null ? {} : { timeoutMs: input.timeoutMs }),
    ...(isEmpty(input.budget) ? {} : { budget: input.budget }),
    ...(isEmpty(input.grant) ? {} : { grant: input.grant }),
  };
}

/**
 * The workspace is the current folder. A demo gets a folder in the home unless `--workspace` names one, so that it leaves no
 * files behind, or a team, which can be one of the current folder. A continued session keeps its workspace and model.
 */
async function modelAndWorkspace(cli: Cli, input: RunRequestInput, connection: HomeConnection) {
  const { continues, workspace, team } = input;
  if (continues !== null) return { model: input.model, workspace };
  const { model, demo } = await modelFor(cli, input, connection);
  return { model, workspace: workspace ?? (demo && !team ? null : cli.cwd) };
}

function isAboutModels(error: unknown): error is TroupeError {
  return TroupeError.is(error) && (error.code === "UNKNOWN_MODEL" || error.code === "NO_PROVIDER");
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** The error for an owner that exits while this process follows its session. The journal still has the session. */
export function ownerDied(session: string, error: unknown): unknown {
  if (!isOutOfReach(error)) return error;
  return new TroupeError(
    "UNREACHABLE",
    `the process that ran session ${session} is gone; the session is stored and can continue`,
    {
      cause: error,
      fix: "troupe up",
    },
  );
}
