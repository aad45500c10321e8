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
  type ToolSpec,
  TroupeError,
} from "@troupe/core";
import {
  derivedId,
  isOfflineModel,
  lackOfTools,
  noModel,
  type PartialLimits,
  type Submitted,
} from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { missingHost } from "../host/missing-host.ts";
import { offerRun } from "../host/offer-run.ts";
import { beginSession, checkWorkspace, rootRequest, rootWorkspace, spawnsDefault } from "./begin-session.ts";
import { checkBudget } from "./check-budget.ts";
import { chooseAgentOf, planFields } from "./plan-fields.ts";
import { sessionLayer } from "./session-layer.ts";
import { spawnFields } from "./spawn-fields.ts";

/** The model that `inherit` means in a session. */
export interface SessionModel {
  /** `provider/model` */
  id: string;
  /** Whether a script answers instead of a model. */
  demo: boolean;
  /** Whether it only stands in, because no model is configured. An agent with a handler then works without a model. */
  standsIn?: boolean;
}

/**
 * Resolves a model name in a folder; null asks for the folder's default. Throws `UNKNOWN_MODEL` or `NO_PROVIDER` before
 * the session is stored.
 */
export type ChooseModel = (options: { model: string | null; workspace: string | null }) => Promise<SessionModel>;

/** The team of a request that names neither a team nor an agent, by folder. Null: none. */
export type DefaultTeam = (workspace: string | null) => Promise<string | null>;

export interface AcceptOptions {
  deps: HostDeps;
  ids: Ids;
  /** Sessions without a workspace get a folder of their own in this one. */
  workspaces: string;
  /** Allows homes as workspaces of all sessions. @default only of sessions with `allowHome` */
  allowHome?: boolean;
  /** This machine's policy: the first grant layer of every session. @default defaultPolicy */
  policy?: Policy;
  /** The model of sessions that name none, or the function that chooses it. */
  model: SessionModel | ChooseModel;
  /** @default none */
  defaultTeam?: DefaultTeam;
  /** Resolves the name of a scenario to a model id, or throws. */
  resolveScenario(name: string): Promise<string>;
  /** Finds sessions that were purged from the journal. @default the journal alone */
  record?: Pick<RecordReader, "session">;
}

/**
 * Creates the function that accepts a new session: it checks the submission, stores it in the session's inbox and
 * offers the first run. The session is durable when the promise resolves. A session with an id from its caller is
 * accepted once, even if it is submitted several times.
 */
export function createAccept(options: AcceptOptions): (submission: SubmitSession) => Promise<Submitted> {
  const { ids } = options;
  /** Submissions in progress. Two callers with the same session id share one. */
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

/** Reads the first request of a session; null if there is no such session. */
export async function requestedIn(journal: Journal, session: string) {
  const items = (await journal.readInbox(session)).map(({ item }) => item);
  return items.find((item) => item.kind === "session.requested") ?? null;
}

/** Repeats the reply for a caller that missed it. Offering a run that is queued or held changes nothing. */
async function acceptAgain({ deps, record }: AcceptOptions, session: string): Promise<Submitted | null> {
  const known = await requestedIn(deps.journal, session);
  if (!known) return submittedOf((await record?.session(session))?.session);
  const { request, demo } = known;
  await offerRun(deps, request);
  return { session, run: request.run, workspace: request.workspace.path, demo };
}

/** The reply for a session that settled and was purged from the journal. */
function submittedOf(row: SessionRow | undefined): Submitted | null {
  return row ? { session: row.session, run: row.rootRun, workspace: row.workspace, demo: row.demo } : null;
}

async function acceptNew(options: AcceptOptions, session: string, submission: SubmitSession): Promise<Submitted> {
  const { deps, ids, policy = defaultPolicy } = options;
  const { origin, grant } = submission;
  const workspace = submission.workspace ?? path.join(options.workspaces, session);
  if (submission.workspace !== undefined) await checkWorkspace(submission.workspace, homeRule(options, submission));
  const registry = await deps.agentSource.load(workspace);
  const chosen = await withDefaultTeam(options, submission);
  const agent = checkEnabled(chooseAgentOf(registry, chosen), policy);
  const { id: model, demo } = await chooseModelFor(agent, options, submission);
  await deps.tools.prepare?.(workspace);
  const specs = deps.tools.specs(workspace);
  checkTools(agent, specs);
  const layers = [policy.layer, ...(grant ? [sessionLayer(grant, specs, registry)] : [])];
  const essentials = { task: submission.task, agent: agent.id, layers, model };
  const scope = { registry, layers, specs };
  const extra = { ...planFields(chosen, scope), ...spawnFields(chosen, agent, scope) };
  const request = {
    ...rootRequest(ids, { ...essentials, workspace: rootWorkspace(workspace, agent, deps) }, session),
    ...(submission.session === undefined ? {} : { run: firstRunOf(session) }),
    ...turnFields(submission),
    temperature: agent.temperature,
    ...extra,
  };
  await checkHost(deps, request);
  await checkBudget(deps, request, registry);
  // After all checks: a refused submission leaves no folder.
  if (submission.workspace === undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
  const submitted = await beginSession(deps, request, { origin, demo, team: agent.team });
  deps.logger.info({ session, run: request.run, agent: agent.id, origin, demo }, "session accepted");
  return submitted;
}

/**
 * The first run of a session with an id from its caller. Several daemons can accept the same session before they learn
 * of each other; they derive the same run id, so the run starts once.
 */
function firstRunOf(session: string): string {
  return derivedId(`${session}/first`);
}

async function withDefaultTeam({ defaultTeam }: AcceptOptions, submission: SubmitSession) {
  const { agent, team, workspace = null } = submission;
  const usual = agent === undefined && team === undefined ? await defaultTeam?.(workspace) : undefined;
  return usual ? { ...submission, team: usual } : submission;
}

/** Whether a session may have a home as its workspace. */
export function homeRule(options: AcceptOptions, submission: SubmitSession): { allowHome: boolean } {
  return { allowHome: options.allowHome === true || submission.allowHome === true };
}

/**
 * The model of a session of this agent. An agent with a handler can work without a model: a request that none of its
 * patterns fits then fails, and says how to configure one.
 */
export async function chooseModelFor(
  { intent, handler }: AgentDefinition,
  options: AcceptOptions,
  submission: SubmitSession,
): Promise<SessionModel> {
  const isHandled = intent === "patterns" && handler !== undefined;
  try {
    const chosen = await chooseModel(options, submission);
    return isHandled && chosen.standsIn ? withoutModel : chosen;
  } catch (error) {
    const isMissing = TroupeError.is(error) && error.code === "NO_PROVIDER";
    if (isHandled && isMissing && submission.model === undefined) return withoutModel;
    throw error;
  }
}

const withoutModel: SessionModel = { id: noModel, demo: false };

async function chooseModel(options: AcceptOptions, submission: SubmitSession): Promise<SessionModel> {
  const { scenario, model = null, workspace = null } = submission;
  if (scenario !== undefined) return { id: await options.resolveScenario(scenario), demo: true };
  if (typeof options.model === "function") return await options.model({ model, workspace });
  return model === null ? options.model : { id: model, demo: isOfflineModel(model) };
}

/** Throws `USAGE` for a disabled agent. Neither agents nor people can ask it. */
export function checkEnabled(agent: AgentDefinition, { layer }: Policy): AgentDefinition {
  const { id, source, disabled } = agent;
  const alternative = "or choose another agent: troupe agents ls";
  if (disabled) {
    throw new TroupeError("USAGE", `the agent "${id}" is disabled in its own file, ${source.path}`, {
      fix: `remove disabled from ${source.path}, ${alternative}`,
    });
  }
  if (layer.denyAgents.includes(id)) {
    throw new TroupeError("USAGE", `the agent "${id}" is disabled by this machine's policy`, {
      fix: `remove ${id} from agents.disabled in policy.yaml, ${alternative}`,
    });
  }
  return agent;
}

/** Throws `INVALID_AGENT` for an agent that can do nothing here, because none of the tools in its list exists. */
export function checkTools(agent: AgentDefinition, specs: readonly ToolSpec[]): void {
  const lack = lackOfTools(agent, specs);
  if (lack === null) return;
  throw new TroupeError("INVALID_AGENT", `the agent "${agent.id}" cannot be used: ${lack}`, {
    fix: `troupe agents validate ${agent.source.path}`,
  });
}

/** Throws `NO_HOST` if no living host can run the request, unless the policy lets such runs wait. */
export async function checkHost(deps: HostDeps, request: RunRequest): Promise<void> {
  const missing = await missingHost(deps, request);
  if (missing) throw new TroupeError("NO_HOST", missing.message, { fix: missing.fix });
}

/** The fields of a submission that apply to one turn only. */
export function turnFields(submission: SubmitSession): Pick<RunRequest, "context" | "userId" | "budget" | "limits"> {
  return {
    context: submission.context ?? null,
    userId: submission.userId ?? null,
    budget: Budget.parse({ spawns: spawnsDefault, ...submission.budget }),
    limits: submittedLimits(submission),
  };
}

/** `timeoutMs` and `limits.maxDurationMs` both limit the time: the shorter one holds. */
function submittedLimits({ limits = {}, timeoutMs }: SubmitSession): PartialLimits {
  if (timeoutMs === undefined) return limits;
  return { ...limits, maxDurationMs: Math.min(timeoutMs, limits.maxDurationMs ?? timeoutMs) };
}
