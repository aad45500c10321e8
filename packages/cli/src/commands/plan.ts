import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes, type PartialBudget, type SubmitSession, TroupeError } from "@troupe/core";
import { type ExecutionPlan, type PlanAgents, planResultOf } from "@troupe/core/internal";
import { planAgents } from "@troupe/runtime/internal";
import { type NatsFlags, nextPlanSession, planIn } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { planYaml, readPlanFile } from "../plans/plan-file.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { planLines, planResultLines } from "../render/plan.ts";
import { awaitAnswer } from "../session/await-answer.ts";
import { responseOrNull, sessionOrNull, type TroupeClient } from "../session/client.ts";
import { createRunOutput, type RunOutput } from "../session/run-output.ts";
import { ownerDied, type RunRequestInput, type SubmittedRun, submitRun } from "../session/submit.ts";
import { offerTrust } from "../session/trust-prompt.ts";
import { checkTeamName, exitCodeOf, letOthersFinish, noteSandbox, scenarioName, workspaceFolder } from "./run.ts";

/** The flags that making and executing a plan share. */
export interface PlanFlags {
  workspace?: string | undefined;
  scenario?: string | undefined;
  model?: string | undefined;
  budget: PartialBudget;
  noInput: boolean;
  nats: NatsFlags;
  json: boolean;
}

/** `troupe plan`: asks the planner for a plan, prints it, and writes it as a file to edit. */
export async function makePlan(
  cli: Cli,
  goal: string,
  flags: PlanFlags & { out: string; team?: string | undefined },
): Promise<number> {
  const { out: stdout, err } = cli.terminal;
  if (goal.trim() === "") throw new TroupeError("USAGE", "the goal is empty", { fix: 'troupe plan "what to reach"' });
  const file = resolve(cli.cwd, flags.out);
  if (existsSync(file)) {
    throw new TroupeError("CONFLICT", `${flags.out} exists, and may be edited`, {
      fix: "name another file: --out next.yaml",
    });
  }
  const workspace = flags.workspace === undefined ? null : workspaceFolder(cli, flags.workspace);
  const team = flags.team === undefined ? {} : { team: await checkTeamName(cli, flags.team, workspace) };
  const input = requestOf(cli, goal, flags, async () => ({ ...team, makesPlan: true }));
  return await ask(cli, input, flags, async (_, answer) => {
    if (!answer.success) return null;
    const plan = planIn(answer, { id: cli.composition.newId(), goal, ...team });
    await writeFile(file, planYaml(plan), { flag: "wx" });
    if (flags.json) stdout.line(jsonLine({ file, plan }));
    else for (const line of planLines(plan, stdout)) stdout.line(line);
    err.line(`wrote ${cleanLine(flags.out)}; edit it, then: troupe plan run ${cleanLine(flags.out)}`);
    return null;
  });
}

/** `troupe plan run`: checks a plan, executes it or continues its execution, and prints the result of each step. */
export async function runPlan(
  cli: Cli,
  file: string,
  flags: PlanFlags & { step?: string | undefined; yes: boolean },
): Promise<number> {
  const { out, err } = cli.terminal;
  const workspace = flags.workspace === undefined ? cli.cwd : workspaceFolder(cli, flags.workspace);
  const plan = await readPlanFile(file, cli.cwd, (team) => knownAgents(cli, workspace, team));
  if (!flags.json) for (const line of planLines(plan, err)) err.line(line);
  if (!(await mayRun(cli, flags))) {
    err.line("not executed");
    return exitCodes.USAGE;
  }
  const notice = (text: string): void => err.line(err.colours.dim(text));
  const input = requestOf(cli, plan.goal, flags, (client) =>
    fieldsOf(plan, { client, step: flags.step ?? null, notice }),
  );
  return await ask(cli, { ...input, budget: { ...plan.budget, ...flags.budget } }, flags, async (client, response) => {
    const detail = await sessionOrNull(client, response.sessionId);
    const result = planResultOf(plan, { response, runs: detail?.runs ?? [] });
    if (flags.json) out.line(jsonLine(result));
    else for (const line of planResultLines(result, out)) out.line(line);
    return null;
  });
}

/** The request's fields for the next session of a plan, chosen by its earlier sessions. */
async function fieldsOf(
  plan: ExecutionPlan,
  { client, step, notice }: { client: TroupeClient; step: string | null; notice: (text: string) => void },
): Promise<Partial<SubmitSession>> {
  const reader = {
    session: (session: string) => sessionOrNull(client, session),
    response: (session: string) => responseOrNull(client, session),
  };
  const { session, task, plan: execution, kept } = await nextPlanSession(reader, plan, step);
  if (kept.length > 0) notice(`completed before, and not repeated: ${kept.join(", ")}`);
  return { session, task, plan: execution, ...(plan.team === undefined ? {} : { team: plan.team }) };
}

/** Asks a person at a terminal. Without one, the command itself is the decision. */
async function mayRun(cli: Cli, { yes, noInput }: { yes: boolean; noInput: boolean }): Promise<boolean> {
  const { err } = cli.terminal;
  if (yes || noInput || !cli.keyboard.isTerminal || !err.isTerminal) return true;
  err.line("Execute this plan? [y/N]");
  return (await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal)) === "y";
}

function requestOf(
  cli: Cli,
  task: string,
  flags: PlanFlags,
  fields: NonNullable<RunRequestInput["fields"]>,
): RunRequestInput {
  return {
    ...{ task, fields, continues: null, agent: null, timeoutMs: null, context: null, grant: {} },
    workspace: flags.workspace === undefined ? null : workspaceFolder(cli, flags.workspace),
    scenario: flags.scenario === undefined ? null : scenarioName(cli, flags.scenario),
    model: flags.model ?? null,
    budget: flags.budget,
  };
}

/** Submits a request, shows its progress, and hands its response on. Returns the exit code. */
async function ask(
  cli: Cli,
  input: RunRequestInput,
  flags: PlanFlags,
  print: (client: TroupeClient, response: Parameters<RunOutput["settled"]>[0]) => Promise<null>,
): Promise<number> {
  const output = createRunOutput("text", cli);
  await offerTrust(cli, input, { mayAsk: !flags.noInput && !flags.json, notice: output.notice });
  const running = await submitRun(cli, input, { notice: output.notice, nats: flags.nats });
  try {
    return await follow(cli, running, { output, flags, print });
  } catch (error) {
    throw ownerDied(running.submitted.session, error);
  } finally {
    await running.connection.close();
  }
}

async function follow(
  cli: Cli,
  { connection, submitted, position }: SubmittedRun,
  { output, flags, print }: { output: RunOutput; flags: PlanFlags; print: Parameters<typeof ask>[3] },
): Promise<number> {
  output.submitted(submitted);
  await noteSandbox(connection, output);
  // A plan that is completed already has its answer, and no event follows.
  const known = await responseOrNull(connection.client, submitted.session);
  const ending = known
    ? { response: known }
    : await awaitAnswer(cli, connection, { submitted, position, output, noInput: flags.noInput });
  if ("response" in ending) {
    output.closed(ending.response, submitted);
    await print(connection.client, ending.response);
  } else output.waiting(ending.waiting);
  await cli.terminal.out.flushed();
  await letOthersFinish(cli, connection, { output, own: submitted.session });
  return cli.interrupts.exitCode() ?? exitCodeOf(ending);
}

/** The agents that a plan in this folder can name, by the files and the policy. Needs no running troupe. */
async function knownAgents(cli: Cli, workspace: string, team: string | undefined): Promise<PlanAgents> {
  const { composition, home, env, cwd } = cli;
  const [config, registry, { layer }, specs] = await Promise.all([
    composition.readConfig({ home, env, cwd, workspace }),
    composition.loadAgents({ home, workspace, env }),
    composition.readPolicy(home),
    composition.toolSpecs({ home, workspace, env }),
  ]);
  return planAgents({ team: team ?? config.team?.value }, { registry, layers: [layer], specs });
}
