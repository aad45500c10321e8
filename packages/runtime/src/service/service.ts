import {
  type AgentRegistry,
  ApprovalAnswer,
  type DaemonStatus,
  defaultPolicy,
  type HostDirectory,
  LiveEvent,
  type Policy,
  type RecordReader,
  type Redactor,
  SubmitSession,
  type Subscription,
  type ToolSpec,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import {
  type AgentFiles,
  type AgentList,
  agentSummaryOf,
  type SessionArchive,
  type SessionFiles,
} from "@troupe/core/internal";
import { decodeMessage } from "../host/decode-message.ts";
import { createHostControl } from "../membership/host-control.ts";
import { redactMessage } from "../secrets/redact-message.ts";
import { redactDeps } from "../secrets/redact-ports.ts";
import { type AcceptOptions, createAccept } from "./accept-session.ts";
import { createContinue } from "./continue-session.ts";
import { type ControlOptions, createControl } from "./control.ts";
import { redactAgentFiles } from "./redact-agent-files.ts";
import { redactSessionFiles } from "./redact-session-files.ts";
import { createUndo, type UndoOptions } from "./undo/undo.ts";

export interface ServiceOptions extends AcceptOptions, Pick<ControlOptions, "rules">, Pick<UndoOptions, "restorer"> {
  record: RecordReader;
  /** The agent files that front ends may change. @default none */
  agentFiles?: AgentFiles | undefined;
  /** The workbenches that front ends may read and change. @default none */
  sessionFiles?: SessionFiles | undefined;
  /** Import, fork and removal of sessions. @default none */
  sessionArchive?: SessionArchive | undefined;
  /** The hosts that `hosts()` lists. @default those of `deps` */
  hosts?: HostDirectory;
  /** The state of this process. The service adds the number of agents. */
  status(): Omit<DaemonStatus, "agents">;
}

/** The service behind every front end: command line, HTTP API and embedding programs. */
export interface RunningService extends TroupeService {
  /** Refuses new sessions with `CLOSING`. Everything else still works. */
  beginClosing(): void;
  /** Refuses new sessions and stops listening to live events. */
  close(): void;
}

/**
 * Creates the service that people and programs use: submit, control, inspect. It works over the ports alone, so hosts
 * can run in any process.
 *
 * @example
 * const service = createService({ deps, ids: systemIds(), record, workspaces, model, resolveScenario, status });
 * const { session } = await service.submit(SubmitSession.parse({ task: "Compare the two licences" }));
 */
export function createService(given: ServiceOptions): RunningService {
  const options = { ...given, deps: redactDeps(given.deps) };
  const { deps, record, policy = defaultPolicy } = options;
  const { bus, subjects } = deps;
  const liveListeners = new Set<(event: LiveEvent) => void>();
  let live: Promise<Subscription> | null = null;
  let closing = false;

  /** Subscribes with the first listener: without listeners, decoding live events would be wasted time. */
  const listen = (): void => {
    live ??= bus.subscribe(subjects.all.live, (message) => {
      const event = decodeMessage(LiveEvent, message, deps);
      if (event) for (const listener of liveListeners) listener(event);
    });
  };
  const stopListening = (): void => {
    void live?.then((subscription) => subscription.unsubscribe());
    live = null;
  };

  const acceptSession = createAccept(options);
  const continueSession = createContinue(options);

  const service = {
    ...createControl(options),
    ...createUndo(options),
    ...createHostControl(given.hosts ? { ...deps, hosts: given.hosts } : deps),
    record,
    agentFiles: options.agentFiles,
    sessionFiles: options.sessionFiles,
    sessionArchive: options.sessionArchive,
    async status() {
      const { agents } = await deps.agentSource.load(null);
      return { ...options.status(), agents: agents.length };
    },
    async agents(workspace) {
      await deps.tools.prepare?.(workspace);
      return listAgents(await deps.agentSource.load(workspace), policy, deps.tools.specs(workspace));
    },
    agentStats: (windowMs) => record.agentStats({ sinceMs: deps.clock.now() - windowMs }),
    async submit(submission) {
      if (closing) {
        throw new TroupeError("CLOSING", "this troupe is closing and takes no new session", { fix: "try again" });
      }
      const { continues } = submission;
      return await (continues === undefined ? acceptSession(submission) : continueSession(continues, submission));
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
  return redactService(service, deps.redact);
}

function listAgents(registry: AgentRegistry, { layer }: Policy, specs: readonly ToolSpec[]): AgentList {
  const { teams = [], problems, toolProblems } = registry;
  const agents = registry.agents.map((agent) => agentSummaryOf(agent, layer, specs));
  return { agents, problems: [...problems, ...(toolProblems?.(specs) ?? [])], teams: [...teams] };
}

/**
 * Wraps a service so that no secret enters or leaves it. Text from people is redacted before use. Replies that come from
 * agent files or settings are redacted too; the record stores no secret in the first place.
 */
export function redactService<S extends TroupeService>(service: S, redact: Redactor | undefined): S {
  if (!redact) return service;
  const safeText = (text: string): string => redact.text(text);
  const safe: Omit<
    TroupeService,
    "agentFiles" | "sessionFiles" | "sessionArchive" | "record" | "onLive" | "rules" | "removeRule"
  > = {
    status: async () => redact.json(await service.status()),
    agents: async (workspace) => redact.json(await service.agents(workspace)),
    agentStats: async (windowMs) => redact.json(await service.agentStats(windowMs)),
    hosts: async () => redact.json(await service.hosts()),
    drainHost: (host, by) => service.drainHost(host, safeText(by)),
    explain: async (run) => redact.json(await service.explain(run)),
    // A redacted path would name another folder. `beginSession` refuses a path that contains a secret.
    submit: ({ workspace, ...submission }) =>
      service.submit({
        ...redactMessage(SubmitSession, submission, redact),
        ...(workspace === undefined ? {} : { workspace }),
      }),
    cancel: (session, reason) => service.cancel(session, safeText(reason)),
    cancelRun: (run, reason) => service.cancelRun(run, safeText(reason)),
    steer: (run, text, by) => service.steer(run, safeText(text), safeText(by)),
    pause: (run, by) => service.pause(run, safeText(by)),
    resume: (run, by) => service.resume(run, safeText(by)),
    // The paths stay as they are: a redacted path would name another file.
    undo: (run, request) => service.undo(run, { ...request, by: safeText(request.by) }),
    answer: (approval, answer) => service.answer(approval, redactMessage(ApprovalAnswer, answer, redact)),
  };
  const { agentFiles, sessionFiles } = service;
  return {
    ...{ ...service, ...safe },
    ...(agentFiles ? { agentFiles: redactAgentFiles(agentFiles, redact) } : {}),
    ...(sessionFiles ? { sessionFiles: redactSessionFiles(sessionFiles, redact) } : {}),
  };
}
