import type { RunResponse } from "@troupe/core";
import type { Submitted } from "@troupe/core/internal";
import { findOwner, sameOwner } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { withArchive } from "./archive.ts";
import { isOutOfReach } from "./client.ts";
import { personOf } from "./control.ts";
import { followSession } from "./follow.ts";
import type { Membership } from "./join-or-start.ts";
import { createAnnouncements, createQuestions, type Questions } from "./questions.ts";
import type { LeftWaiting, RunOutput } from "./run-output.ts";
import { createSessionRows, watchUntilIdle } from "./session-rows.ts";

export interface Awaited {
  submitted: Submitted;
  /** The record's position before it was submitted. */
  position: number;
  output: RunOutput;
  /** Nobody may be asked: where only people are missing, it is left as it is. */
  noInput: boolean;
}

/** The session's response, or what it was left waiting for. */
export type Ending = { response: RunResponse } | { waiting: LeftWaiting };

/**
 * Waits until a session settles, and has whoever is there asked what it has to be asked. At the first signal the session
 * is cancelled; its response then comes the usual way.
 */
export async function awaitAnswer(cli: Cli, member: Membership, awaited: Awaited): Promise<Ending> {
  const { submitted, position, output, noInput } = awaited;
  const { session, run } = submitted;
  const rows = createSessionRows(session);
  const questions = noInput ? null : questionsFor(cli, member, output);
  const standstill = noInput ? watchUntilIdle(rows) : null;
  const stopCancelling = cancelOnInterrupt(cli, member, { session, output, questions });
  try {
    const response = await followSession({
      client: member.client,
      session,
      run,
      position,
      ...(standstill ? { until: standstill.signal } : {}),
      onEvent(event) {
        output.event(event);
        if (event.type !== "change") return;
        rows.apply(event.change);
        questions?.update(rows.waiting());
        standstill?.look();
      },
      ownerLives: () => ownerLives(cli, member),
    });
    if (response) return { response };
    return {
      waiting: { session, approvals: rows.waiting(), paused: rows.paused(), stays: member.owner.kind === "daemon" },
    };
  } catch (error) {
    const response = member.own || !isOutOfReach(error) ? null : await recordedResponse(cli, session);
    if (response?.runId === run) return { response };
    throw error;
  } finally {
    stopCancelling();
    standstill?.stop();
    await questions?.stop();
  }
}

function questionsFor(cli: Cli, { client }: Membership, output: RunOutput): Questions {
  const { err } = cli.terminal;
  if (!cli.keyboard.isTerminal || !err.isTerminal) return createAnnouncements(output.notice);
  return createQuestions({
    keyboard: cli.keyboard,
    err,
    by: personOf(cli.env),
    answer: (approval, answer) => client.answer(approval, answer),
    hold: output.hold,
  });
}

function cancelOnInterrupt(
  cli: Cli,
  { client }: Membership,
  { session, output, questions }: { session: string; output: RunOutput; questions: Questions | null },
): () => void {
  const { signal } = cli.interrupts;
  const cancel = (): void => {
    // The terminal has written ^C.
    if (cli.terminal.err.isTerminal) cli.terminal.err.line("");
    void questions?.stop();
    output.notice(`cancelling session ${session}; once more leaves at once`);
    // A client that cannot be reached any more is noticed by whoever follows the session.
    client.cancel(session, "interrupted by the user").catch((error: unknown) => {
      if (!isOutOfReach(error)) output.notice(`the cancel was refused: ${String(error)}`);
    });
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** An owner that leaves may have settled the session just before: its record then has what it could not send any more. */
async function recordedResponse(cli: Cli, session: string): Promise<RunResponse | null> {
  return withArchive(cli, (archive) => archive.response(session)).catch(() => null);
}

async function ownerLives(cli: Cli, member: Membership): Promise<boolean> {
  if (member.own) return true;
  const owner = await findOwner(cli.home, { patienceMs: 500 }).catch(() => null);
  return owner !== null && sameOwner(owner, member.owner);
}
