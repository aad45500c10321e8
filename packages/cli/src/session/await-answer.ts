import type { RunResponse } from "@troupe/core";
import type { Submitted } from "@troupe/core/internal";
import { findOwner, isSameOwner } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { withArchive } from "./archive.ts";
import { isOutOfReach } from "./client.ts";
import { userName } from "./control.ts";
import { followSession } from "./follow.ts";
import type { HomeConnection } from "./join-or-start.ts";
import { createAnnouncements, createQuestions, type Questions } from "./questions.ts";
import type { RunOutput, WaitingSession } from "./run-output.ts";
import { createSessionRows, watchUntilIdle } from "./session-rows.ts";

export interface AwaitOptions {
  submitted: Submitted;
  /** The record's position before the submission. */
  position: number;
  output: RunOutput;
  /** Never ask the user: the wait ends when the session waits only for a person. */
  noInput: boolean;
}

/** The session's response, or the session as it waits for a person. */
export type RunEnding = { response: RunResponse } | { waiting: WaitingSession };

/**
 * Waits until a session settles and puts its requests for approval to the user. The first signal cancels the session; its
 * response then arrives as usual.
 */
export async function awaitAnswer(cli: Cli, connection: HomeConnection, options: AwaitOptions): Promise<RunEnding> {
  const { submitted, position, output, noInput } = options;
  const { session, run } = submitted;
  const rows = createSessionRows(session);
  const questions = noInput ? null : openQuestions(cli, connection, output);
  const idleWatch = noInput ? watchUntilIdle(rows) : null;
  const stopCancelling = cancelOnInterrupt(cli, connection, { session, output, questions });
  try {
    const response = await followSession({
      client: connection.client,
      session,
      run,
      position,
      ...(idleWatch ? { until: idleWatch.signal } : {}),
      onEvent(event) {
        output.event(event);
        if (event.type !== "change") return;
        rows.apply(event.change);
        questions?.update(rows.waiting());
        idleWatch?.check();
      },
      isOwnerAlive: () => isOwnerAlive(cli, connection),
    });
    if (response) return { response };
    return {
      waiting: { session, approvals: rows.waiting(), paused: rows.paused(), stays: connection.owner.kind === "daemon" },
    };
  } catch (error) {
    const response = connection.local || !isOutOfReach(error) ? null : await recordedResponse(cli, session);
    if (response?.runId === run) return { response };
    throw error;
  } finally {
    stopCancelling();
    idleWatch?.stop();
    await questions?.stop();
  }
}

function openQuestions(cli: Cli, { client }: HomeConnection, output: RunOutput): Questions {
  const { err } = cli.terminal;
  if (!cli.keyboard.isTerminal || !err.isTerminal) return createAnnouncements(output.notice);
  return createQuestions({
    keyboard: cli.keyboard,
    err,
    by: userName(cli.env),
    answer: (approval, answer) => client.answer(approval, answer),
    hold: output.hold,
  });
}

function cancelOnInterrupt(
  cli: Cli,
  { client }: HomeConnection,
  { session, output, questions }: { session: string; output: RunOutput; questions: Questions | null },
): () => void {
  const { signal } = cli.interrupts;
  const cancel = (): void => {
    // The terminal has printed ^C.
    if (cli.terminal.err.isTerminal) cli.terminal.err.line("");
    void questions?.stop();
    output.notice(`cancelling session ${session}; press Ctrl-C again to exit at once`);
    // `followSession` reports an owner that is no longer reachable.
    client.cancel(session, "interrupted by the user").catch((error: unknown) => {
      if (!isOutOfReach(error)) output.notice(`the session could not be cancelled: ${String(error)}`);
    });
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** The recorded response. An owner can settle the session just before it exits, without sending the event. */
async function recordedResponse(cli: Cli, session: string): Promise<RunResponse | null> {
  return withArchive(cli, (archive) => archive.response(session)).catch(() => null);
}

async function isOwnerAlive(cli: Cli, connection: HomeConnection): Promise<boolean> {
  if (connection.local) return true;
  const owner = await findOwner(cli.home, { patienceMs: 500 }).catch(() => null);
  return owner !== null && isSameOwner(owner, connection.owner);
}
