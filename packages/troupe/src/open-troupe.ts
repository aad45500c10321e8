import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ApprovalAnswer, type ApprovalRow, type SubmitSession, silentLogger, TroupeError } from "@troupe/core";
import { systemIds } from "@troupe/core/system";
import { createTeam, type Team } from "@troupe/runtime";
import { type Cleanup, openWithCleanup } from "./cleanup.ts";
import type { Troupe, TroupeStream } from "./create-troupe.ts";
import { type Home, locateHome } from "./home/home.ts";
import { acquireHome, type OwnedHome } from "./home/owned-home.ts";
import { demoModel, noProvider } from "./models/choose-model.ts";
import type { ApprovalDecision, CheckedOptions, CheckedRunOptions, TroupeEvent, TroupeOptions } from "./options.ts";
import { executePlan, type PlanScope, planForGoal } from "./plans/troupe-plans.ts";
import type { ProgramParts, RunningTroupe } from "./process/running-troupe.ts";
import { startTroupe } from "./process/start-troupe.ts";
import { readAgents, readTeamFolders } from "./program-agents.ts";
import { readOptions, readRunOptions } from "./read-options.ts";
import { createEventQueue, followSession, responseOf, type StartedSession } from "./session-events.ts";
import { ownVersion } from "./version.ts";

const capacityDefault = 64;

/** The implementation of `createTroupe`. */
export async function openTroupe(given: TroupeOptions): Promise<Troupe> {
  const options = readOptions(given);
  const { env = process.env, store = "home", logger = silentLogger, http, nats } = options;
  const cwd = process.cwd();
  const settings = options.home === undefined ? locateHome({ env, cwd }) : { path: resolve(cwd, options.home) };
  const workspace = resolve(cwd, options.workspace ?? ".");
  const agents = await readAgents(options.agents ?? [], cwd);
  const teamFolders = await readTeamFolders(options.teams ?? [], cwd);
  const program: ProgramParts = { ...partsOf(options), ...agents, teamFolders, store, settings };
  return await openWithCleanup(async (cleanup) => {
    const home = await openHome(settings, store, cleanup);
    const running = await openWithCleanup((inner) =>
      startTroupe(
        {
          ...{ home, kind: "program", env, logger, program },
          http: http ? { host: "127.0.0.1", port: http === true ? 0 : (http.port ?? 0), assets: "" } : null,
          nats: natsFlags(nats),
          work: { serve: "all", capacity: options.capacity ?? capacityDefault },
        },
        inner,
      ),
    );
    cleanup.add(() => running.close());
    // A model that is named here must exist: the first task would be too late to find out.
    if (options.model !== undefined) await running.models.choose({ model: options.model, workspace: null });
    await home.announce({
      ...{ kind: "program", pid: process.pid, url: running.url, token: home.token, version: ownVersion() },
      startedAt: new Date().toISOString(),
    });
    return troupeOver(running, { options, workspace, close: cleanup.run });
  });
}

function partsOf({ model, team, providers, tools, connectors, handlers }: TroupeOptions): ProgramParts {
  return { model, team, connectors, handlers, ...(providers ? { providers } : {}), ...(tools ? { tools } : {}) };
}

/** A troupe in memory has a temporary home: its record is a SQLite file too. */
async function openHome(settings: Home, store: "home" | "memory", cleanup: Cleanup): Promise<OwnedHome> {
  let home = settings;
  if (store === "memory") {
    const path = await mkdtemp(join(tmpdir(), "troupe-memory-"));
    cleanup.add(() => rm(path, { recursive: true, force: true }));
    home = { path };
  }
  const owned = await acquireHome(home);
  cleanup.add(() => owned.release());
  return owned;
}

function natsFlags({ url, context, namespace, locality, leaseMs }: NonNullable<CheckedOptions["nats"]> = {}) {
  return { nats: url, context, namespace, place: locality, leaseMs };
}

interface TroupeFacts {
  options: TroupeOptions;
  workspace: string;
  close: () => Promise<void>;
}

function troupeOver(running: RunningTroupe, { options, workspace, close }: TroupeFacts): Troupe {
  const { service, models } = running;
  const { record } = service;
  const ids = systemIds();
  const closed = new AbortController();
  let closing: Promise<void> | null = null;
  let team: Team | null = null;

  const checkOpen = (): void => {
    if (!closing) return;
    throw new TroupeError("CLOSED", "this troupe is closed", { fix: "create another one: await createTroupe()" });
  };
  const teamOf = (): Team => {
    checkOpen();
    team ??= createTeam({
      ...{ deps: running.deps, ids, workspace, layers: [running.policy.layer] },
      model: realModel(models.status.model, options),
      ...(options.budget ? { budget: options.budget } : {}),
      ...(options.allowHome ? { allowHome: true } : {}),
    });
    return team;
  };

  /** Accepts a task. The ids are chosen here, so that no early event is missed. */
  const start = async (task: string, { signal, onEvent: _, ...rest }: CheckedRunOptions, started: StartedSession) => {
    const request: SubmitSession = {
      ...{ task, origin: "api", workspace, session: started.session },
      ...(options.allowHome ? { allowHome: true } : {}),
      ...rest,
      // A limit that the request does not name stays as the options set it.
      ...(options.budget || rest.budget ? { budget: { ...options.budget, ...rest.budget } } : {}),
    };
    if (rest.continues !== undefined) {
      delete request.session;
      delete request.workspace;
      request.run = started.run;
    }
    signal?.throwIfAborted();
    return await service.submit(request);
  };
  const runTask = async (
    task: string,
    given: CheckedRunOptions,
    started: StartedSession,
    listener: Listener | null,
  ) => {
    const { signal } = given;
    const stop = listener ? followSession(service, started.session, listener) : () => {};
    const cancel = (): void => void service.cancel(started.session, reasonOf(signal)).catch(() => {});
    try {
      const submitted = await start(task, given, started);
      const turn = { session: submitted.session, run: submitted.run };
      listener?.({ type: "session.started", ...turn, workspace: submitted.workspace });
      signal?.addEventListener("abort", cancel, { once: true });
      if (signal?.aborted) cancel();
      const response = await responseOf(service, turn, closed.signal);
      listener?.({ type: "session.settled", ...turn, response });
      return response;
    } finally {
      signal?.removeEventListener("abort", cancel);
      stop();
    }
  };
  const newSession = ({ session, continues }: CheckedRunOptions): StartedSession => ({
    session: continues ?? session ?? ids.next(),
    run: ids.next(),
  });
  const plans: PlanScope = {
    service,
    newId: () => ids.next(),
    ask: async (task, { makesPlan, plan, team, ...given }) => {
      const runOptions = readRunOptions(given);
      const ofPlan = { ...(makesPlan ? { makesPlan } : {}), ...(plan ? { plan } : {}), ...(team ? { team } : {}) };
      return await runTask(task, { ...runOptions, ...ofPlan }, newSession(runOptions), runOptions.onEvent ?? null);
    },
  };
  const answer = async (approval: string, decision: ApprovalDecision): Promise<void> => {
    checkOpen();
    await service.answer(approval, toAnswer(decision));
  };

  const stopAnswering = options.onApproval ? answerApprovals(running, options.onApproval, answer) : () => {};
  return {
    service,
    url: running.url,
    sessions: {
      list: ({ limit = 50 } = {}) => record.sessions({ limit }),
      get: (session) => record.session(session),
      response: (session) => record.response(session),
      changes: (session, { after = 0, limit = 500 } = {}) => record.changes({ session }, { after, limit }),
    },
    async run(task, given = {}) {
      checkOpen();
      const runOptions = readRunOptions(given);
      return await runTask(task, runOptions, newSession(runOptions), runOptions.onEvent ?? null);
    },
    stream(task, given = {}): TroupeStream {
      checkOpen();
      const runOptions = readRunOptions(given);
      const started = newSession(runOptions);
      const queue = createEventQueue(() => {});
      const response = runTask(task, runOptions, started, queue.push);
      response.then(queue.end, queue.fail);
      return { session: started.session, response, [Symbol.asyncIterator]: () => queue.read() };
    },
    async planForGoal(goal, planOptions = {}) {
      checkOpen();
      return await planForGoal(goal, planOptions, plans);
    },
    async executePlan(plan, planOptions = {}) {
      checkOpen();
      return await executePlan(plan, planOptions, plans);
    },
    spawn: (agent, task, spawnOptions) => teamOf().spawn(agent, task, spawnOptions),
    fanOut: async (tasks, fanOutOptions) => await teamOf().fanOut(tasks, fanOutOptions),
    async cancel(session, reason = "cancelled by the program") {
      checkOpen();
      await service.cancel(session, reason);
    },
    async approvals() {
      checkOpen();
      return await record.approvals({ waiting: true, limit: 500 });
    },
    approve: (approval, more) => answer(approval, { ...more, approved: true }),
    deny: (approval, reason) => answer(approval, { approved: false, ...(reason === undefined ? {} : { reason }) }),
    close() {
      closing ??= (async () => {
        stopAnswering();
        await team?.close({ graceMs: 0 });
        await close();
        closed.abort(new TroupeError("CLOSED", "the troupe closed before the session settled", { fix: resumeFix }));
      })();
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

type Listener = (event: TroupeEvent) => void;

const resumeFix = "start a troupe on the same home: the session goes on";

function reasonOf(signal: AbortSignal | undefined): string {
  return typeof signal?.reason === "string" ? signal.reason : "cancelled by the program";
}

/** The model of agents that a program starts without a session. */
function realModel(model: string | null, options: TroupeOptions): string {
  if (model !== null && (options.model !== undefined || model !== demoModel)) return model;
  throw noProvider();
}

function toAnswer(decision: ApprovalDecision): ApprovalAnswer {
  const given = typeof decision === "string" ? { approved: decision === "approve" } : decision;
  return ApprovalAnswer.parse({ by: "the program", ...given });
}

/** Asks the program about each request for approval once, also about requests from before the start. */
function answerApprovals(
  { service }: RunningTroupe,
  decide: NonNullable<TroupeOptions["onApproval"]>,
  answer: (approval: string, decision: ApprovalDecision) => Promise<void>,
): () => void {
  const asked = new Set<string>();
  const ask = async (approval: ApprovalRow): Promise<void> => {
    if (asked.has(approval.id)) return;
    asked.add(approval.id);
    const decision = await decide(approval);
    if (decision !== undefined) await answer(approval.id, decision);
  };
  const stop = followSession(service, null, (event) => {
    if (event.type === "approval.requested") void ask(event.approval).catch(() => {});
  });
  void service.record
    .approvals({ waiting: true, limit: 500 })
    .then((waiting) => Promise.all(waiting.map(ask)))
    .catch(() => {});
  return stop;
}
