import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import {
  type AgentDefinition,
  type AgentList,
  type Company,
  type DaemonStatus,
  encode,
  hashText,
  type Ids,
  type InboxItem,
  LiveEvent,
  openEntry,
  protocolVersion,
  type RecordReader,
  type RunRequest,
  type SubmitSession,
  type Subscription,
  TroupeError,
  type TroupeService,
  toRecordStatus,
} from "@troupe/core";
import { heard } from "../host/heard.ts";
import type { World } from "../host/world.ts";

export interface ServiceOptions {
  world: World;
  record: RecordReader;
  ids: Ids;
  /** Folder in which sessions without a workspace get one of their own. */
  workspaces: string;
  /** Default model of a session; null while nothing is configured that could answer. */
  model: { id: string; demo: boolean } | null;
  /** Why there is no model, and what to do about it. */
  noModel?: { message: string; fix: string };
  /** Turns the name of a scenario into a model id, or throws. */
  resolveScenario(name: string): Promise<string>;
  status(): Omit<DaemonStatus, "agents">;
}

/** The service behind every front end, and the switch that closes its door. */
export interface RunningService extends TroupeService {
  /** Refuses new sessions from now on. */
  beginClosing(): void;
  close(): void;
}

/** All that a user can ask for, over the ports alone. */
export async function createService(options: ServiceOptions): Promise<RunningService> {
  const { world, record, ids } = options;
  const { journal, queue, bus, subjects } = world;
  const liveListeners = new Set<(event: LiveEvent) => void>();
  let live: Promise<Subscription> | null = null;
  let closing = false;

  /** Listens only while somebody watches: with nobody there, live events cost nothing to decode. */
  const listen = (): void => {
    live ??= bus.subscribe(subjects.all.live, (message) => {
      const event = heard(LiveEvent, message, world);
      if (event) for (const listener of liveListeners) listener(event);
    });
  };
  const stopListening = (): void => {
    void live?.then((subscription) => subscription.unsubscribe());
    live = null;
  };

  const append = async (item: InboxItem): Promise<void> => {
    await journal.appendInbox(item);
    const message = { v: protocolVersion, kind: "inbox.announced", session: item.session };
    bus.publish(subjects.control("all"), encode(message));
  };

  return {
    record,
    async status() {
      const { agents } = await world.companies.load(null);
      return { ...options.status(), agents: agents.length };
    },
    async agents(workspace) {
      return listAgents(await world.companies.load(workspace));
    },
    async submit(submission) {
      if (closing) {
        throw new TroupeError("CONFLICT", "this troupe is closing and takes no new session", { fix: "try again" });
      }
      const session = ids.next();
      const workspace = submission.workspace ?? path.join(options.workspaces, session);
      if (submission.workspace !== undefined) await checkWorkspace(submission.workspace);
      const model = await modelOf(options, submission);
      const company = await world.companies.load(workspace);
      const agent = agentOf(company, submission.agent ?? "main");
      if (submission.workspace === undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
      const request = rootRequest({
        submission,
        session,
        run: ids.next(),
        agent,
        company,
        model: model.id,
        workspace,
        world,
      });
      const at = world.clock.now();
      const origin = submission.origin;
      await append({ v: protocolVersion, kind: "session.requested", at, session, request, origin, demo: model.demo });
      const { run } = request;
      world.logger.info({ session, run, agent: agent.id, origin, demo: model.demo }, "session accepted");
      await queue.offer({ run, agent: agent.id, place: "any", bytes: encode(request) });
      return { session, run, workspace, demo: model.demo };
    },
    async cancel(session, reason) {
      const requested = (await journal.readInbox(session)).find(({ item }) => item.kind === "session.requested")?.item;
      if (requested?.kind !== "session.requested") {
        throw new TroupeError("UNKNOWN_SESSION", `no session has the id ${session}`, { fix: "troupe sessions ls" });
      }
      const last = await journal.lastOf(session, requested.request.run);
      const entry = last === null ? null : openEntry(last);
      if (entry?.kind === "run.settled") {
        return { session, outcome: "settled", status: toRecordStatus(entry.response.status) };
      }
      world.logger.info({ session, run: requested.request.run, reason }, "session is to be cancelled");
      await append({ v: protocolVersion, kind: "session.cancelled", at: world.clock.now(), session, reason });
      return { session, outcome: "requested", status: "running" };
    },
    onLive(listener) {
      liveListeners.add(listener);
      listen();
      return () => {
        liveListeners.delete(listener);
        if (liveListeners.size === 0) stopListening();
      };
    },
    beginClosing() {
      closing = true;
    },
    close() {
      closing = true;
      stopListening();
    },
  } satisfies RunningService;
}

function listAgents({ agents, problems }: Company): AgentList {
  const summaries = agents.map(({ id, name, description, tools, subagents, model, source }) => ({
    id,
    name,
    description,
    tools,
    subagents: subagents.allow.filter((target) => !subagents.deny.includes(target)),
    model,
    origin: source.origin,
    path: source.path,
  }));
  return { agents: summaries, problems: [...problems] };
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

async function modelOf(options: ServiceOptions, { scenario }: SubmitSession): Promise<{ id: string; demo: boolean }> {
  if (scenario !== undefined) return { id: await options.resolveScenario(scenario), demo: true };
  if (options.model) return options.model;
  const { message, fix } = options.noModel ?? { message: "no model provider is configured", fix: "troupe doctor" };
  throw new TroupeError("NO_PROVIDER", message, { fix });
}

function agentOf(company: Company, id: string): AgentDefinition {
  const agent = company.find(id);
  if (agent) return agent;
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

function rootRequest(root: {
  submission: SubmitSession;
  session: string;
  run: string;
  agent: AgentDefinition;
  company: Company;
  model: string;
  workspace: string;
  world: World;
}): RunRequest {
  const { submission, workspace, company, world } = root;
  return {
    v: protocolVersion,
    session: root.session,
    run: root.run,
    parent: null,
    agent: root.agent.id,
    depth: 0,
    attempt: 1,
    task: submission.task,
    context: submission.context ?? null,
    contextMode: "task_only",
    successCriteria: null,
    userId: submission.userId ?? null,
    chain: [],
    grant: { tools: world.tools.specs().map(({ name }) => name), agents: company.agents.map(({ id }) => id) },
    limits: submission.timeoutMs === undefined ? {} : { maxDurationMs: submission.timeoutMs },
    model: root.model,
    // The same folder is the same place, on whatever session it is used.
    workspace: { id: `w${hashText(workspace).slice(0, 24)}`, path: workspace },
    remainingMs: null,
  };
}
