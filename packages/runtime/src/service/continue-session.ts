import {
  defaultPolicy,
  type GrantLayer,
  type InboxItem,
  type RunRequest,
  type SubmitSession,
  TroupeError,
} from "@troupe/core";
import { beginsTurn, canonicalJson, type Submitted, type TurnRequested } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { offerRun } from "../host/offer-run.ts";
import { readSettled } from "../host/run/settled.ts";
import { type AcceptOptions, checkHost, enabled, modelOf, saidOf } from "./accept.ts";
import { beginSession, checkWorkspace, rootRequest, rootWorkspace } from "./begin-session.ts";
import { findAgent } from "./find-agent.ts";
import { sessionLayer } from "./session-layer.ts";
import { createTurns } from "./turns.ts";
import { unknown } from "./unknown.ts";

/**
 * Adds a turn to a session that has settled: another root run of it, which knows what was said before. Agent, folder and
 * model stay as they were unless the submission says otherwise, and what the session may not use it may not use now. A
 * turn whose run its caller has named is accepted once, however often it is asked for.
 */
export function createContinue(
  options: AcceptOptions,
): (session: string, submission: SubmitSession) => Promise<Submitted> {
  const { deps } = options;
  /** Of two who go on with the same session at once, the second finds it at work. */
  const inTurn = createTurns();

  const next = async (session: string, submission: SubmitSession): Promise<Submitted> => {
    const turns = (await readItems(deps, session)).filter(beginsTurn);
    const last = turns.at(-1);
    if (!last) throw (await options.record?.session(session)) ? purged(session) : unknown("session", session);
    const known = turns.find(({ request }) => request.run === submission.run);
    if (known) return await offerAgain(deps, known);
    await checkRun(deps, session, submission);
    await checkSettled(deps, last.request);
    const { request, demo } = await requestAfter(options, last, submission);
    await checkHost(deps, request);
    const submitted = await beginSession(deps, request, { origin: submission.origin, demo });
    deps.logger.info({ session, run: request.run, agent: request.agent, turn: turns.length + 1 }, "session continued");
    return submitted;
  };

  return (session, submission) => inTurn(session, () => next(session, submission));
}

/** Its turns are in the record for people to read; what a run is made of again is in the journal alone. */
function purged(session: string): TroupeError {
  const message = `session ${session} settled long ago and was purged from the journal: it cannot be continued`;
  return new TroupeError("CONFLICT", message, {
    fix: `begin another session, and give it what it needs of this one: troupe sessions show ${session}`,
  });
}

/** All that was ever said in a session's inbox. */
export async function readItems({ journal }: Pick<HostDeps, "journal">, session: string): Promise<InboxItem[]> {
  return (await journal.readInbox(session)).map(({ item }) => item);
}

/** What the session was asked last. */
export function newestTurn(items: readonly InboxItem[]): TurnRequested | undefined {
  return items.findLast(beginsTurn);
}

/** Asked again by somebody who never heard the answer: offering what is queued, held or settled changes nothing. */
async function offerAgain(deps: HostDeps, { session, request, demo }: TurnRequested): Promise<Submitted> {
  await offerRun(deps, request);
  return { session, run: request.run, workspace: request.workspace.path, demo };
}

async function checkRun({ journal }: HostDeps, session: string, { run, ...said }: SubmitSession): Promise<void> {
  if (said.session !== undefined && said.session !== session) {
    const message = `a turn of session ${session} cannot be of session ${said.session} as well`;
    throw new TroupeError("USAGE", message, { fix: "name one of them" });
  }
  if (run === undefined || (await journal.lastOf(session, run)) === null) return;
  throw new TroupeError("CONFLICT", `there is a run ${run} already`, { fix: "leave it out, or take a new id" });
}

async function checkSettled(deps: HostDeps, { session, run }: RunRequest): Promise<void> {
  if (await readSettled(deps, { session, run })) return;
  throw new TroupeError("CONFLICT", `session ${session} is still at work on what it was asked before`, {
    fix: `troupe steer ${run} "…", or wait: troupe sessions show ${session} (where nobody runs it: troupe up)`,
  });
}

async function requestAfter(options: AcceptOptions, last: TurnRequested, submission: SubmitSession) {
  const { deps, ids, policy = defaultPolicy } = options;
  const { request: before } = last;
  const { id, path: workspace } = before.workspace;
  if (submission.workspace !== undefined && submission.workspace !== workspace) {
    const message = `session ${before.session} works in ${workspace}, and not in ${submission.workspace}`;
    throw new TroupeError("USAGE", message, { fix: "leave --workspace out, or begin a session there" });
  }
  await checkWorkspace(workspace);
  const registry = await deps.agentSource.load(workspace);
  const agent = enabled(findAgent(registry, submission.agent ?? before.agent), policy);
  await deps.tools.prepare?.(workspace);
  const added = submission.grant ? [sessionLayer(submission.grant, deps.tools.specs(workspace), registry)] : [];
  const layers = [
    policy.layer,
    ...withoutDoubles([...before.layers.filter(({ kind }) => kind === "session"), ...added]),
  ];
  const { id: model, demo } = saysModel(submission)
    ? await modelOf(options, { ...submission, workspace })
    : { id: before.model, demo: last.demo };
  const root = rootRequest(ids, { task: submission.task, agent: agent.id, layers, model, workspace }, before.session);
  const request: RunRequest = {
    ...root,
    ...saidOf(submission),
    run: submission.run ?? root.run,
    userId: submission.userId ?? before.userId,
    workspace: { ...rootWorkspace(workspace, agent, { place: before.workspace.place ?? deps.place }), id },
    temperature: agent.temperature,
    continues: before.run,
  };
  return { request, demo };
}

function saysModel({ scenario, model }: SubmitSession): boolean {
  return scenario !== undefined || model !== undefined;
}

/** The same restriction, said in every turn, is one. */
function withoutDoubles(layers: readonly GrantLayer[]): GrantLayer[] {
  return [...new Map(layers.map((layer) => [canonicalJson(layer), layer])).values()];
}
