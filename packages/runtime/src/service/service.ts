import {
  type AgentRegistry,
  type DaemonStatus,
  defaultPolicy,
  type HostDirectory,
  LiveEvent,
  type Policy,
  type RecordReader,
  type Subscription,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import type { AgentList } from "@troupe/core/internal";
import { decodeMessage } from "../host/decode-message.ts";
import { redactedService } from "../secrets/redacted-service.ts";
import { redactDeps } from "../secrets/redacted-world.ts";
import { type AcceptOptions, createAccept } from "./accept.ts";
import { createContinue } from "./continue-session.ts";
import { type ControlOptions, createControl } from "./control.ts";
import { createHostControl } from "./hosts.ts";

export interface ServiceOptions extends AcceptOptions, Pick<ControlOptions, "rules"> {
  record: RecordReader;
  /** Hosts that people are shown. @default those of the world */
  hosts?: HostDirectory;
  status(): Omit<DaemonStatus, "agents">;
}

/** The service behind every front end, and the switch that closes its door. */
export interface RunningService extends TroupeService {
  /** Refuses new sessions from now on. */
  beginClosing(): void;
  close(): void;
}

/** All that a user can ask for, over the ports alone. */
export function createService(given: ServiceOptions): RunningService {
  const options = { ...given, deps: redactDeps(given.deps) };
  const { deps, record, policy = defaultPolicy } = options;
  const { bus, subjects } = deps;
  const liveListeners = new Set<(event: LiveEvent) => void>();
  let live: Promise<Subscription> | null = null;
  let closing = false;

  /** Listens only while somebody watches: with nobody there, live events cost nothing to decode. */
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

  const accept = createAccept(options);
  const goOn = createContinue(options);

  const service = {
    ...createControl(options),
    ...createHostControl(given.hosts ? { ...deps, hosts: given.hosts } : deps),
    record,
    async status() {
      const { agents } = await deps.agentSource.load(null);
      return { ...options.status(), agents: agents.length };
    },
    async agents(workspace) {
      return listAgents(await deps.agentSource.load(workspace), policy);
    },
    async submit(submission) {
      if (closing) {
        throw new TroupeError("CLOSING", "this troupe is closing and takes no new session", { fix: "try again" });
      }
      const { continues } = submission;
      return await (continues === undefined ? accept(submission) : goOn(continues, submission));
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
  return redactedService(service, deps.redact);
}

function listAgents({ agents, problems }: AgentRegistry, { layer }: Policy): AgentList {
  const summaries = agents.map(({ id, name, description, tools, subagents, model, source, disabled }) => ({
    id,
    name,
    description,
    tools,
    subagents: subagents.allow.filter((target) => !subagents.deny.includes(target)),
    model,
    origin: source.origin,
    path: source.path,
    disabled: disabled || layer.denyAgents.includes(id),
  }));
  return { agents: summaries, problems: [...problems] };
}
