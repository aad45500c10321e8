import {
  type AgentRegistry,
  defaultPolicy,
  type GrantLayer,
  type InboxItem,
  type RunRequest,
  type SubmitSession,
  TroupeError,
} from "@troupe/core";
import {
  beginsTurn,
  canonicalJson,
  noModel,
  type Submitted,
  type TurnRequested,
  teamAgentId,
} from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { offerRun } from "../host/offer-run.ts";
import { readSettled } from "../host/run/settled.ts";
import {
  type AcceptOptions,
  checkEnabled,
  checkHost,
  checkTools,
  chooseModelFor,
  homeRule,
  turnFields,
} from "./accept-session.ts";
import { beginSession, checkWorkspace, rootRequest, rootWorkspace } from "./begin-session.ts";
import { checkBudget } from "./check-budget.ts";
import { chooseAgent } from "./choose-agent.ts";
import { notFound } from "./lookup.ts";
import { sessionLayer } from "./session-layer.ts";
import { createSessionLock } from "./session-lock.ts";
import { spawnFields } from "./spawn-fields.ts";

/**
 * Creates the function that adds a turn to a settled session: another root run that knows the conversation so far.
 * Agent, folder and model stay as they were unless the submission changes them. Earlier restrictions still apply. A turn
 * with a run id from its caller is accepted once, even if it is submitted several times.
 */
export function createContinue(
  options: AcceptOptions,
): (session: string, submission: SubmitSession) => Promise<Submitted> {
  const { deps } = options;
  /** Of two concurrent turns of a session, the second fails because the first is running. */
  const withLock = createSessionLock();

  const addTurn = async (session: string, submission: SubmitSession): Promise<Submitted> => {
    const turns = (await readItems(deps, session)).filter(beginsTurn);
    const last = turns.at(-1);
    if (!last) throw (await options.record?.session(session)) ? purged(session) : notFound("session", session);
    const known = turns.find(({ request }) => request.run === submission.run);
    if (known) return await offerAgain(deps, known);
    await checkRun(deps, session, submission);
    await checkSettled(deps, last.request);
    const { request, demo, registry, team } = await nextRequest(options, last, submission);
    await checkHost(deps, request);
    await checkBudget(deps, request, registry);
    const submitted = await beginSession(deps, request, { origin: submission.origin, demo, team });
    deps.logger.info({ session, run: request.run, agent: request.agent, turn: turns.length + 1 }, "session continued");
    return submitted;
  };

  return (session, submission) => withLock(session, () => addTurn(session, submission));
}

/** The record still shows the session, but a next turn needs the conversation in the journal. */
function purged(session: string): TroupeError {
  const message = `session ${session} cannot be continued: it settled long ago and was purged from the journal`;
  return new TroupeError("CONFLICT", message, {
    fix: `start another session and repeat the needed context: troupe sessions show ${session}`,
  });
}

/** Reads all items of a session's inbox. */
export async function readItems({ journal }: Pick<HostDeps, "journal">, session: string): Promise<InboxItem[]> {
  return (await journal.readInbox(session)).map(({ item }) => item);
}

/** The request of the session's newest turn. */
export function newestTurn(items: readonly InboxItem[]): TurnRequested | undefined {
  return items.findLast(beginsTurn);
}

/** Repeats the reply for a caller that missed it. Offering a run that is queued, held or settled changes nothing. */
async function offerAgain(deps: HostDeps, { session, request, demo }: TurnRequested): Promise<Submitted> {
  await offerRun(deps, request);
  return { session, run: request.run, workspace: request.workspace.path, demo };
}

async function checkRun({ journal }: HostDeps, session: string, submission: SubmitSession): Promise<void> {
  const { run } = submission;
  if (submission.session !== undefined && submission.session !== session) {
    const message = `the submission continues session ${session} but names session ${submission.session}`;
    throw new TroupeError("USAGE", message, { fix: "name only one session" });
  }
  if (run === undefined || (await journal.lastOf(session, run)) === null) return;
  throw new TroupeError("CONFLICT", `the run ${run} exists already`, { fix: "omit the run id, or use a new one" });
}

async function checkSettled(deps: HostDeps, { session, run }: RunRequest): Promise<void> {
  if (await readSettled(deps, { session, run })) return;
  throw new TroupeError("CONFLICT", `session ${session} is still running its previous turn`, {
    fix: `troupe steer ${run} "…", or wait: troupe sessions show ${session} (if no daemon runs: troupe up)`,
  });
}

async function nextRequest(options: AcceptOptions, last: TurnRequested, submission: SubmitSession) {
  const { deps, ids, policy = defaultPolicy } = options;
  const { request: before } = last;
  const { id, path: workspace } = before.workspace;
  if (submission.workspace !== undefined && submission.workspace !== workspace) {
    const message = `session ${before.session} works in ${workspace}, and not in ${submission.workspace}`;
    throw new TroupeError("USAGE", message, { fix: "omit --workspace, or start a session there" });
  }
  await checkWorkspace(workspace, homeRule(options, submission));
  const registry = await deps.agentSource.load(workspace);
  const agent = checkEnabled(chooseAgent(registry, inTeamOf(before.agent, submission, registry), before.agent), policy);
  await deps.tools.prepare?.(workspace);
  const specs = deps.tools.specs(workspace);
  checkTools(agent, specs);
  const added = submission.grant ? [sessionLayer(submission.grant, specs, registry)] : [];
  const layers = [
    policy.layer,
    ...withoutDuplicates([...before.layers.filter(({ kind }) => kind === "session"), ...added]),
  ];
  const { id: model, demo } =
    namesModel(submission) || before.model === noModel
      ? await chooseModelFor(agent, options, { ...submission, workspace })
      : { id: before.model, demo: last.demo };
  const root = rootRequest(ids, { task: submission.task, agent: agent.id, layers, model, workspace }, before.session);
  const request: RunRequest = {
    ...root,
    ...turnFields(submission),
    run: submission.run ?? root.run,
    userId: submission.userId ?? before.userId,
    workspace: { ...rootWorkspace(workspace, agent, { locality: before.workspace.place ?? deps.locality }), id },
    temperature: agent.temperature,
    continues: before.run,
    ...spawnFields(submission, agent, { registry, layers, specs }),
  };
  return { request, demo, registry, team: agent.team };
}

/** An agent without a team's name is one of the session's team, if that team has it. */
function inTeamOf(before: string, { agent, team }: SubmitSession, registry: AgentRegistry) {
  const former = registry.find(before)?.team;
  const isMember = agent !== undefined && former !== undefined && registry.find(teamAgentId(former, agent));
  const inTeam = team ?? (isMember ? former : undefined);
  return { ...(agent === undefined ? {} : { agent }), ...(inTeam === undefined ? {} : { team: inTeam }) };
}

function namesModel({ scenario, model }: SubmitSession): boolean {
  return scenario !== undefined || model !== undefined;
}

/** Several turns can repeat the same restriction. */
function withoutDuplicates(layers: readonly GrantLayer[]): GrantLayer[] {
  return [...new Map(layers.map((layer) => [canonicalJson(layer), layer])).values()];
}
