import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { exitCodes, type PartialBudget, TroupeError } from "@troupe/core";
import { AgentName, agentNameOf, type SessionGrant, TeamName, unknownAgent, unknownTeam } from "@troupe/core/internal";
import type { NatsFlags } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { configWarnings } from "../models/requested-model.ts";
import type { OutputMode } from "../render/failure.ts";
import { sandboxNote } from "../render/format.ts";
import { awaitAnswer, type RunEnding } from "../session/await-answer.ts";
import type { HomeConnection } from "../session/join-or-start.ts";
import { findResumeTarget, type ResumeTarget } from "../session/resolve-ids.ts";
import { createRunOutput, type RunOutput } from "../session/run-output.ts";
import { ownerDied, type RunRequestInput, submitRun } from "../session/submit.ts";
import { offerTrust } from "../session/trust-prompt.ts";
import { aborted } from "../terminal/interrupts.ts";
import { readContext, readTask } from "../terminal/piped-input.ts";

export interface RunFlags {
  /** The session to continue with another turn, or the newest. */
  continues: ResumeTarget | null;
  agent?: string | undefined;
  team?: string | undefined;
  workspace?: string | undefined;
  /** Whether a home may be the workspace. */
  allowHome?: boolean;
  timeout?: number | undefined;
  scenario?: string | undefined;
  model?: string | undefined;
  budget: PartialBudget;
  grant: SessionGrant;
  /** Never ask the user. */
  noInput: boolean;
  /** Used if this process becomes the owner of the home. */
  nats: NatsFlags;
  mode: OutputMode;
  /** Print the answer and errors only. */
  quiet?: boolean;
}

/** `troupe run`: runs one task and prints its answer. The task `-` is read from standard input. Returns the exit code. */
export async function run(cli: Cli, task: string, flags: RunFlags): Promise<number> {
  const output = createRunOutput(flags.mode, cli, { quiet: flags.quiet ?? false });
  const input = await inputOf(cli, task, flags, output.notice);
  await offerTrust(cli, input, { mayAsk: !flags.noInput && flags.mode === "text", notice: output.notice });
  for (const warning of await configWarnings(cli, input)) output.notice(`configuration: ${warning}`);
  const { connection, submitted, position } = await submitRun(cli, input, { notice: output.notice, nats: flags.nats });
  let ending: RunEnding;
  try {
    output.submitted(submitted);
    await noteSandbox(connection, output);
    ending = await awaitAnswer(cli, connection, { submitted, position, output, noInput: flags.noInput });
    if ("response" in ending) output.settled(ending.response, submitted);
    else output.waiting(ending.waiting);
    await cli.terminal.out.flushed();
    await letOthersFinish(cli, connection, { output, own: submitted.session });
  } catch (error) {
    throw ownerDied(submitted.session, error);
  } finally {
    await connection.close();
  }
  return cli.interrupts.exitCode() ?? exitCodeOf(ending);
}

/** Says that commands run without a sandbox, which is why they need approval. */
export async function noteSandbox({ client }: HomeConnection, output: RunOutput): Promise<void> {
  const { sandbox } = await client.status();
  if (sandbox?.contains === false) output.notice(sandboxNote(sandbox));
}

/** The request of a command's arguments, after their check. Piped input is its context. */
export async function inputOf(
  cli: Cli,
  task: string,
  flags: RunFlags,
  notice: RunOutput["notice"],
): Promise<RunRequestInput> {
  if (task.trim() === "") {
    throw new TroupeError("USAGE", `the task ${JSON.stringify(task)} is empty`, { fix: 'troupe run "what to do"' });
  }
  const workspace = flags.workspace === undefined ? null : workspaceFolder(cli, flags.workspace);
  const input = {
    continues: flags.continues && (await findResumeTarget(cli, flags.continues, { workspace, notice })),
    agent: flags.agent === undefined ? null : await agentId(cli, flags.agent, workspace),
    team: await teamOf(cli, flags, workspace),
    workspace,
    allowHome: flags.allowHome ?? false,
    timeoutMs: flags.timeout ?? null,
    scenario: flags.scenario === undefined ? null : scenarioName(cli, flags.scenario),
    model: flags.model ?? null,
    budget: flags.budget,
    grant: flags.grant,
  };
  // Last: a wrong flag must not cost the user a typed task.
  const reading = { signal: cli.interrupts.signal, notice };
  if (task === "-") return { ...input, task: await readTask(cli.stdin, reading), context: null };
  return { ...input, task, context: await readContext(cli.stdin, reading) };
}

/** The flag, or the variable of this process for a new session that names no agent. The owner of the home applies the files. */
async function teamOf(
  cli: Cli,
  { team, agent, continues }: RunFlags,
  workspace: string | null,
): Promise<string | null> {
  const isNew = agent === undefined && continues === null;
  const given = team ?? (isNew ? cli.env.TROUPE_TEAM?.trim() || undefined : undefined);
  return given === undefined ? null : await checkTeamName(cli, given, workspace);
}

/** Refuses a text that no team can have as its name. The process that runs the task knows whether the team exists. */
export async function checkTeamName(cli: Cli, given: string, workspace: string | null): Promise<string> {
  if (TeamName.safeParse(given).success) return given;
  const { composition, home, cwd, env } = cli;
  const { teams = [] } = await composition.loadAgents({ home, workspace: workspace ?? cwd, env });
  throw unknownTeam(
    given,
    teams.map(({ name }) => name),
  );
}

async function agentId(cli: Cli, given: string, workspace: string | null): Promise<string> {
  const name = AgentName.safeParse(given);
  if (name.success) return name.data;
  const { composition, home, cwd, env } = cli;
  const { agents } = await composition.loadAgents({ home, workspace: workspace ?? cwd, env });
  const known = agents.map(agentNameOf);
  throw unknownAgent(given, known, `${JSON.stringify(given)} is not a valid agent id`);
}

/** The folder with links resolved, so that every process uses the same path. */
export function workspaceFolder(cli: Cli, given: string): string {
  const path = resolve(cli.cwd, given);
  try {
    if (statSync(path).isDirectory()) {
      accessSync(path, constants.R_OK | constants.X_OK);
      return realpathSync(path);
    }
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const fix = isMissing ? `mkdir -p ${given}` : `chmod u+rwx ${given}, or use another folder`;
    throw new TroupeError("USAGE", `--workspace ${given} cannot be read`, { cause, fix });
  }
  throw new TroupeError("USAGE", `--workspace ${given} is not a folder`, { fix: "troupe run … --workspace <folder>" });
}

/** Makes a path absolute, because the daemon has another working folder. */
export function scenarioName(cli: Cli, given: string): string {
  return /[/\\.]/.test(given) ? resolve(cli.cwd, given) : given;
}

const idleGraceMs = 250;

/** Waits for sessions that other commands submitted to this process, unless the user interrupts. */
export async function letOthersFinish(
  cli: Cli,
  connection: HomeConnection,
  { output, own }: { output: RunOutput; own: string },
): Promise<void> {
  const { signal } = cli.interrupts;
  if (!connection.local || signal.aborted) return;
  connection.local.beginClosing();
  const notice = setTimeout(() => {
    output.notice("waiting for other sessions in this process; Ctrl-C stops them until the next `troupe up`");
  }, idleGraceMs);
  try {
    await Promise.race([connection.local.idle({ besides: own }), aborted(signal)]);
  } finally {
    clearTimeout(notice);
  }
}

export function exitCodeOf(ending: RunEnding): number {
  if ("waiting" in ending) return exitCodes.APPROVAL_NEEDED;
  const { success, status, error } = ending.response;
  if (success) return 0;
  if (error?.type === "auth") return exitCodes.UNAUTHORIZED;
  const limited = status === "bailed_out" || status === "timeout" || error?.type === "budget";
  return limited ? exitCodes.LIMIT_REACHED : exitCodes.RUN_FAILED;
}
