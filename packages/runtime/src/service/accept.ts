import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import {
  type AgentDefinition,
  Budget,
  type Company,
  encode,
  hashText,
  type Ids,
  type Journal,
  type PartialLimits,
  protocolVersion,
  type RunRequest,
  type SubmitSession,
  type Submitted,
  TroupeError,
} from "@troupe/core";
import type { World } from "../host/world.ts";
import { defaultPolicy, type Policy } from "../policy/policy.ts";
import { sessionLayer } from "./session-layer.ts";

/** Runs that a session may start below its root, where its caller has said nothing of it. */
export const spawnsDefault = 200;

export interface AcceptOptions {
  world: World;
  ids: Ids;
  /** Folder in which sessions without a workspace get one of their own. */
  workspaces: string;
  /** This machine's own: the first layer of every session. @default defaultPolicy */
  policy?: Policy;
  /** Default model of a session; null while nothing is configured that could answer. */
  model: { id: string; demo: boolean } | null;
  /** Why there is no model, and what to do about it. */
  noModel?: { message: string; fix: string };
  /** Turns the name of a scenario into a model id, or throws. */
  resolveScenario(name: string): Promise<string>;
}

/**
 * What makes a session of a wish: checks it, keeps it in the session's inbox, and offers its first run. Durable when it
 * resolves. A session that its caller has named is accepted once, however often it is asked for.
 */
export function createAccept(options: AcceptOptions): (submission: SubmitSession) => Promise<Submitted> {
  const { world, ids } = options;
  /** Being accepted now: two who ask for the same session at once get the same one. */
  const accepting = new Map<string, Promise<Submitted>>();

  const accept = async (session: string, submission: SubmitSession): Promise<Submitted> => {
    const known = submission.session === undefined ? null : await acceptAgain(world, session);
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
async function acceptAgain({ journal, queue }: World, session: string): Promise<Submitted | null> {
  const known = await requestedIn(journal, session);
  if (!known) return null;
  const { request, demo } = known;
  await queue.offer({ run: request.run, agent: request.agent, place: "any", bytes: encode(request) });
  return { session, run: request.run, workspace: request.workspace.path, demo };
}

async function acceptNew(options: AcceptOptions, session: string, submission: SubmitSession): Promise<Submitted> {
  const { world, ids, policy = defaultPolicy } = options;
  const { origin, grant } = submission;
  const workspace = submission.workspace ?? path.join(options.workspaces, session);
  if (submission.workspace !== undefined) await checkWorkspace(submission.workspace);
  const { id: model, demo } = await modelOf(options, submission);
  const company = await world.companies.load(workspace);
  const agent = agentOf(company, submission.agent ?? "main", policy);
  const layers = [policy.layer, ...(grant ? [sessionLayer(grant, world.tools.specs(), company)] : [])];
  if (submission.workspace === undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
  const run = ids.next();
  const request = rootRequest({ submission, session, run, agent, layers, model, workspace });
  const at = world.clock.now();
  // A new session is announced by its offer: nobody holds a run of it yet.
  await world.journal.appendInbox({
    v: protocolVersion,
    kind: "session.requested",
    at,
    session,
    request,
    origin,
    demo,
  });
  world.logger.info({ session, run, agent: agent.id, origin, demo }, "session accepted");
  await world.queue.offer({ run, agent: agent.id, place: "any", bytes: encode(request) });
  return { session, run, workspace, demo };
}

async function checkWorkspace(workspace: string): Promise<void> {
  const fix = "name a folder that exists: --workspace DIR";
  if (!path.isAbsolute(workspace)) {
    throw new TroupeError("USAGE", `the workspace "${workspace}" is not an absolute path`, { fix });
  }
  const found = await stat(workspace).catch(() => null);
  if (!found?.isDirectory()) {
    throw new TroupeError("USAGE", `the workspace "${workspace}" ${found ? "is not a folder" : "does not exist"}`, {
      fix,
    });
  }
}

async function modelOf(options: AcceptOptions, { scenario }: SubmitSession): Promise<{ id: string; demo: boolean }> {
  if (scenario !== undefined) return { id: await options.resolveScenario(scenario), demo: true };
  if (options.model) return options.model;
  const { message, fix } = options.noModel ?? { message: "no model provider is configured", fix: "troupe doctor" };
  throw new TroupeError("NO_PROVIDER", message, { fix });
}

function agentOf(company: Company, id: string, policy: Policy): AgentDefinition {
  const agent = company.find(id);
  if (agent) return enabled(agent, policy);
  const broken = company.problems.find(
    (problem) => problem.severity === "error" && path.basename(problem.path).toLowerCase() === `${id}.md`.toLowerCase(),
  );
  if (broken) {
    const where = `${broken.path}:${broken.line}`;
    throw new TroupeError("INVALID_AGENT", `the agent "${id}" cannot be used: ${where}: ${broken.message}`, {
      fix: `troupe agents validate ${broken.path}`,
    });
  }
  const known = company.agents.map((each) => each.id).join(", ");
  throw new TroupeError("UNKNOWN_AGENT", `no agent is called "${id}"; there are: ${known}`, {
    fix: "troupe agents ls",
  });
}

/** Whoever is switched off cannot be asked by anybody: not by other agents, and not by a person either. */
function enabled(agent: AgentDefinition, { layer }: Policy): AgentDefinition {
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

function rootRequest(root: {
  submission: SubmitSession;
  session: string;
  run: string;
  agent: AgentDefinition;
  layers: RunRequest["layers"];
  model: string;
  workspace: string;
}): RunRequest {
  const { submission, workspace, agent, layers } = root;
  return {
    v: protocolVersion,
    session: root.session,
    run: root.run,
    parent: null,
    agent: agent.id,
    depth: 0,
    attempt: 1,
    task: submission.task,
    context: submission.context ?? null,
    contextMode: "task_only",
    contextFiles: [],
    successCriteria: null,
    userId: submission.userId ?? null,
    outputSchema: null,
    chain: [],
    ancestors: [],
    layers,
    budget: Budget.parse({ spawns: spawnsDefault, ...submission.budget }),
    limits: limitsOf(submission),
    model: root.model,
    temperature: agent.temperature,
    parentPrompt: null,
    // The same folder is the same place, on whatever session it is used.
    workspace: { id: `w${hashText(workspace).slice(0, 24)}`, path: workspace },
    remainingMs: null,
  };
}

/** Two ways to say how long it may take: the shorter one holds. */
function limitsOf({ limits = {}, timeoutMs }: SubmitSession): PartialLimits {
  if (timeoutMs === undefined) return limits;
  return { ...limits, maxDurationMs: Math.min(timeoutMs, limits.maxDurationMs ?? timeoutMs) };
}
