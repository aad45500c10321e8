import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { exitCodes, type RunResponse, type Submitted, Token, TroupeError } from "@troupe/core";
import { withArchive } from "../archive.ts";
import type { Cli } from "../cli.ts";
import type { OutputMode } from "../failure.ts";
import { followSession } from "../follow.ts";
import { aborted } from "../interrupts.ts";
import { isOutOfReach, type Membership } from "../join.ts";
import { findOwner, sameOwner } from "../owner.ts";
import { readPipedText } from "../piped-input.ts";
import { createRunOutput, type RunOutput } from "../run-output.ts";
import { ownerDied, type RunWish, submitRun } from "../submit.ts";

export interface RunFlags {
  agent?: string | undefined;
  workspace?: string | undefined;
  timeout?: number | undefined;
  scenario?: string | undefined;
  mode: OutputMode;
}

/** `troupe run`: one task, one answer. Returns the exit code. */
export async function run(cli: Cli, task: string, flags: RunFlags): Promise<number> {
  const output = createRunOutput(flags.mode, cli);
  const wish = await readWish(cli, task, flags, output);
  const { member, submitted, position } = await submitRun(cli, wish, output);
  let response: RunResponse;
  try {
    output.submitted(submitted);
    response = await waitForAnswer(cli, member, { submitted, position, output });
    output.settled(response, submitted);
    await cli.terminal.out.flushed();
    await letOthersFinish(cli, member, output);
  } catch (error) {
    throw ownerDied(submitted.session, error);
  } finally {
    await member.leave();
  }
  return cli.interrupts.exitCode() ?? exitCodeOfRun(response);
}

async function readWish(cli: Cli, task: string, flags: RunFlags, output: RunOutput): Promise<RunWish> {
  if (task.trim() === "") {
    throw new TroupeError("USAGE", `the task ${JSON.stringify(task)} is empty`, { fix: 'troupe run "what to do"' });
  }
  const workspace = flags.workspace === undefined ? null : workspaceFolder(cli, flags.workspace);
  const { signal } = cli.interrupts;
  return {
    task,
    agent: flags.agent === undefined ? null : agentId(flags.agent),
    workspace,
    timeoutMs: flags.timeout ?? null,
    scenario: flags.scenario === undefined ? null : scenarioName(cli, flags.scenario),
    context: await readPipedText(cli.stdin, { signal, notice: output.notice }),
  };
}

function agentId(given: string): string {
  if (Token.safeParse(given).success) return given;
  throw new TroupeError("UNKNOWN_AGENT", `no agent can be called ${JSON.stringify(given)}`, {
    fix: "troupe agents ls",
  });
}

/** With links resolved, so that everybody calls the folder by one name. */
function workspaceFolder(cli: Cli, given: string): string {
  const path = resolve(cli.cwd, given);
  try {
    if (statSync(path).isDirectory()) return realpathSync(path);
  } catch (cause) {
    throw new TroupeError("USAGE", `--workspace ${given} cannot be read`, { cause, fix: `mkdir -p ${given}` });
  }
  throw new TroupeError("USAGE", `--workspace ${given} is not a folder`, { fix: "troupe run … --workspace <folder>" });
}

/** A daemon has another working folder: what is meant as a path goes to it as an absolute one. */
function scenarioName(cli: Cli, given: string): string {
  return /[/\\.]/.test(given) ? resolve(cli.cwd, given) : given;
}

/** At the first signal the session is cancelled; its response then comes the usual way. */
async function waitForAnswer(
  cli: Cli,
  member: Membership,
  { submitted, position, output }: { submitted: Submitted; position: number; output: RunOutput },
): Promise<RunResponse> {
  const { session } = submitted;
  const { signal } = cli.interrupts;
  const cancel = () => {
    // The terminal has written ^C.
    if (cli.terminal.err.isTerminal) cli.terminal.err.line("");
    output.notice(`cancelling session ${session}; once more leaves at once`);
    // A client that cannot be reached any more is noticed by whoever follows the session.
    member.client.cancel(session, "interrupted by the user").catch((error: unknown) => {
      if (!isOutOfReach(error)) output.notice(`the cancel was refused: ${String(error)}`);
    });
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  try {
    return await followSession({
      client: member.client,
      session,
      position,
      onEvent: (event) => output.event(event),
      ownerLives: () => ownerLives(cli, member),
    });
  } catch (error) {
    const response = member.own || !isOutOfReach(error) ? null : await recordedResponse(cli, session);
    if (response) return response;
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
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

const idleGraceMs = 250;

/** Sessions that others brought here would be cut off by leaving: they are waited for, unless the user interrupts. */
async function letOthersFinish(cli: Cli, member: Membership, output: RunOutput): Promise<void> {
  const { signal } = cli.interrupts;
  if (!member.own || signal.aborted) return;
  member.own.beginClosing();
  const notice = setTimeout(() => {
    output.notice("waiting for other sessions in this process; Ctrl-C leaves them to the next `troupe up`");
  }, idleGraceMs);
  try {
    await Promise.race([member.own.idle(), aborted(signal)]);
  } finally {
    clearTimeout(notice);
  }
}

function exitCodeOfRun(response: RunResponse): number {
  if (response.success) return 0;
  const limited = response.status === "bailed_out" || response.status === "timeout";
  return limited || response.error?.type === "budget" ? exitCodes.LIMIT_REACHED : exitCodes.RUN_FAILED;
}
