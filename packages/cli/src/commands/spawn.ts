import { type PartialBudget, TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { configWarnings } from "../models/requested-model.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { joinOwner } from "../session/join-or-start.ts";
import { submitRun } from "../session/submit.ts";
import { inputOf } from "./run.ts";

export interface SpawnFlags {
  workspace?: string | undefined;
  allowHome: boolean;
  timeout?: number | undefined;
  model?: string | undefined;
  scenario?: string | undefined;
  budget: PartialBudget;
  json: boolean;
}

/** `troupe spawn`: gives a task to one agent of the running daemon, and returns at once. Returns the exit code. */
export async function spawn(cli: Cli, agent: string, task: string, flags: SpawnFlags): Promise<number> {
  const { out, err } = cli.terminal;
  const notice = (text: string): void => err.line(cleanLine(text));
  if (!(await joinOwner(cli))) {
    throw new TroupeError("UNREACHABLE", "no daemon runs, and a session needs a process that works on it", {
      fix: `troupe up -d, or wait for the answer: troupe run --agent ${cleanLine(agent)} ${JSON.stringify(task)}`,
    });
  }
  const nothing = { continues: null, grant: {}, noInput: true, nats: {}, mode: "text" as const };
  const input = await inputOf(cli, task, { ...nothing, ...flags, agent }, notice);
  for (const warning of await configWarnings(cli, input)) notice(`configuration: ${warning}`);
  const { submitted, connection } = await submitRun(cli, input, { notice, nats: {} });
  await connection.close();
  if (flags.json) out.line(jsonLine(submitted));
  else {
    out.line(submitted.session);
    err.line(err.colours.dim(`follow it with: troupe sessions show ${submitted.session} --tree`));
  }
  return 0;
}
