import { setTimeout as delay } from "node:timers/promises";
import { type ApprovalRow, TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { jsonLine } from "../render/clean.ts";
import { isOutOfReach, type TroupeClient } from "../session/client.ts";
import { userName } from "../session/control.ts";
import { joinOwner } from "../session/join-or-start.ts";
import { createAnnouncements, createQuestions, type Questions } from "../session/questions.ts";

const pollMs = 500;
const listedMax = 500;

/**
 * `troupe approvals watch`: puts every request for approval to the user, of all sessions, until Ctrl-C. Without a terminal,
 * or with `json`, it prints each request once.
 */
export async function watchApprovals(cli: Cli, { json }: { json: boolean }): Promise<number> {
  const { err } = cli.terminal;
  const { signal } = cli.interrupts;
  const connection = await joinOwner(cli);
  if (!connection) {
    throw new TroupeError("UNREACHABLE", "no daemon runs, so no request can arrive", { fix: "troupe up -d" });
  }
  const { client } = connection;
  const questions = json ? printer(cli) : openQuestions(cli, client);
  if (!json) err.line(err.colours.dim("waiting for requests for approval; Ctrl-C ends the watch"));
  try {
    while (!signal.aborted) {
      const { approvals } = await client.approvals({ waiting: true, limit: listedMax });
      questions.update(approvals);
      await delay(pollMs, undefined, { signal }).catch(() => {});
    }
  } catch (error) {
    if (!isOutOfReach(error)) throw error;
    throw new TroupeError("UNREACHABLE", "the daemon has ended", { cause: error, fix: "troupe up -d" });
  } finally {
    await questions.stop();
  }
  return 0;
}

function openQuestions(cli: Cli, client: TroupeClient): Questions {
  const { err } = cli.terminal;
  if (!cli.keyboard.isTerminal || !err.isTerminal) return createAnnouncements((text) => err.line(text));
  return createQuestions({
    keyboard: cli.keyboard,
    err,
    by: userName(cli.env),
    answer: (approval, answer) => client.answer(approval, answer),
    // Nothing else is printed here.
    hold: () => () => {},
  });
}

function printer({ terminal: { out } }: Cli): Questions {
  const printed = new Set<string>();
  return {
    update(rows: readonly ApprovalRow[]) {
      for (const row of rows) {
        if (!printed.has(row.id)) out.line(jsonLine(row));
        printed.add(row.id);
      }
    },
    stop: async () => {},
  };
}
