import { mkdir } from "node:fs/promises";
import path from "node:path";
import {
  type AgentDefinition,
  Budget,
  defaultPolicy,
  type Ids,
  type Journal,
  type Policy,
  type RecordReader,
  type RunRequest,
  type SessionRow,
  type SubmitSession,
  TroupeError,
} from "@troupe/core";
import { derivedId, isOfflineModel, type PartialLimits, type Submitted } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { offerRun } from "../host/offer-run.ts";
import { missingHost } from "../membership/no-host.ts";
import { beginSession, checkWorkspace, rootRequest, rootWorkspace, spawnsDefault } from "./begin-session.ts";
import { findAgent } from "./find-agent.ts";
import { sessionLayer } from "./session-layer.ts";

/** What `inherit` stands for in a session, as `provider/model`, and whether only a script answers to it. */
export interface SessionModel {
  id: string;
  demo: boolean;
}

/**
 * What a name of a model means in a folder; null for whatever is the default there. Throws `UNKNOWN_MODEL` or
 * `NO_PROVIDER`, before anything is kept of the session.
 */
export type ChooseModel = (command: { model: string | null; workspace: string | null }) => Promise<SessionModel>;

export interface AcceptOptions {
  deps: HostDeps;
  ids: Ids;
  /** Folder in which sessions without a workspace get one of their own. */
  workspaces: string;
  /** This machine's own: the first layer of every session. @default defaultPolicy */
  policy?: Policy;
  /** The model of sessions that name none, or what says which one it is: by name, and by the folder's configuration. */
  model: SessionModel | ChooseModel;
  /** Turns the name of a scenario into a model id, or throws. */
  resolveScenario(name: string): Promise<string>;
  /** Knows sessions for longer than the journal does. @default none but the journal's */
  record?: Pick<RecordReader, "session">;
}

/**
 * What makes a session of a wish: checks it, keeps it in the session's inbox, and offers its first run. Durable when it
 * resolves. A session that its caller has named is accepted once, however often it is asked for.
 */
export function createAccept(options: AcceptOptions): (submission: SubmitSession) => Promise<Submitted> {
  const { ids } = options;
  /** Being accepted now: two who ask for the same session at once get the same one. */
  const accepting = new Map<string, Promise<Submitted>>();

  const accept = async (session: string, submission: SubmitSession): Promise<Submitted> => {
    const known = submission.session === undefined ? null : await acceptAgain(options, session);
    return known ?? (await acceptNew(options, session, submission));
  };

  return async (submission) => {
    const session = submission.session ?? ids.next();
    const accepted = accepting.get(session) ?? accept(session, submission);
    accepting.set(session, accepted);
    return await accepted.finally(() => accepting.delete(session));
  };
}

/** What a session was begun with; null for one that was not. */
export async function requestedIn(journal: Journal, session: string) {
  const items = (await journal.readInbox(session)).map(({ item }) => item);
  return items.find((item) => item.kind === "session.requested") ?? null;
}

/** Asked again by somebody who never heard the answer: offering what is queued or held already changes nothing. */
async function acceptAgain({ deps, record }: AcceptOptions, session: string): Promise<Submitted | null> {
  const known = await requestedIn(deps.journal, session);
  if (!known) return acceptedOnce((await record?.session(session))?.session);
  const { request, demo } = known;
  await offerRun(deps, request);
  return { session, run: request.run, workspace: request.workspace.path, demo };
}

/** The journal has let go of it: it has settled long ago. */
function acceptedOnce(row: SessionRow | undefined): Submitted | null {
  return row ? { session: row.session, run: row.rootRun, workspace: row.workspace, demo: row.demo } : null;
}

async function acceptNew(options: AcceptOptions, session: string, submission: SubmitSession): Promise<Submitted> {
  const { deps, ids, policy = defaultPolicy } = options;
  const { origin, grant } = submission;
  const workspace = submission.workspace ?? path.join(options.workspaces, session);
  if (submission.workspace !== undefined) await checkWorkspace(submission.workspace);
  const { id: model, demo } = await modelOf(options, submission);
  const registry = await deps.agentSource.load(workspace);
  const agent = enabled(findAgent(registry, submission.agent ?? "main"), policy);
  await deps.tools.prepare?.(workspace);
  const layers = [policy.layer, ...(grant ? [sessionLayer(grant, deps.tools.specs(workspace), registry)] : [])];
  if (submission.workspace === undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
  const essentials = { task: submission.task, agent: agent.id, layers, model };
  const request = {
    ...rootRequest(ids, { ...essentials, workspace: rootWorkspace(workspace, agent, deps) }, session),
    ...(submission.session === undefined ? {} : { run: firstRunOf(session) }),
    ...saidOf(submission),
    temperature: agent.temperature,
  };
  await checkHost(deps, request);
  const submitted = await beginSession(deps, request, { origin, demo });
  deps.logger.info({ session, run: request.run, agent: agent.id, origin, demo }, "session accepted");
  return submitted;
}

/**
 * Of a session that its caller has named: of several daemons, each of which accepts it because none can know yet of the
 * others, all ask for the same run.
 */
function firstRunOf(session: string): string {
  return derivedId(`${session}/first`);
}

export async function modelOf(options: AcceptOptions, submission: SubmitSession): Promise<SessionModel> {
  const { scenario, model = null, workspace = null } = submission;
  if (scenario !== undefined) return { id: await options.resolveScenario(scenario), demo: true };
  if (typeof options.model === "function") return await options.model({ model, workspace });
  return model === null ? options.model : { id: model, demo: isOfflineModel(model) };
}

/** Whoever is switched off cannot be asked by anybody: not by other agents, and not by a person either. */
export function enabled(agent: AgentDefinition, { layer }: Policy): AgentDefinition {
  const { id, source, disabled } = agent;
  const other = "or ask another agent: troupe agents ls";
  if (disabled) {
    throw new TroupeError("USAGE", `the agent "${id}" is switched off by its own definition, ${source.path}`, {
      fix: `take disabled out of ${source.path}, ${other}`,
    });
  }
  if (layer.denyAgents.includes(id)) {
    throw new TroupeError("USAGE", `the agent "${id}" is switched off by this machine's policy`, {
      fix: `take ${id} out of agents.disabled in policy.yaml, ${other}`,
    });
  }
  return agent;
}

/** Refuses what nobody who lives could run, but where such sessions are to wait. */
export async function checkHost(deps: HostDeps, request: RunRequest): Promise<void> {
  const missing = await missingHost(deps, request);
  if (missing) throw new TroupeError("NO_HOST", missing.message, { fix: missing.fix });
}

/** What holds for one turn alone. */
export function saidOf(submission: SubmitSession): Pick<RunRequest, "context" | "userId" | "budget" | "limits"> {
  return {
    context: submission.context ?? null,
    userId: submission.userId ?? null,
    budget: Budget.parse({ spawns: spawnsDefault, ...submission.budget }),
    limits: limitsOf(submission),
  };
}

/** Two ways to say how long it may take: the shorter one holds. */
function limitsOf({ limits = {}, timeoutMs }: SubmitSession): PartialLimits {
  if (timeoutMs === undefined) return limits;
  return { ...limits, maxDurationMs: Math.min(timeoutMs, limits.maxDurationMs ?? timeoutMs) };
}
