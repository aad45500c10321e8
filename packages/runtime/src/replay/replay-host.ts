import { type AgentSource, type InboxItem, type Journal, silentLogger, type TaskQueue } from "@troupe/core";
import type { CollectedFiles } from "@troupe/core/internal";
import { encode, protocolVersion } from "@troupe/core/internal";
import { type ActorHost, createActorHost } from "../host/actor-host.ts";
import { noFailpoints } from "../host/failpoints.ts";
import type { HostDeps } from "../host/host-deps.ts";
import { createReplayClock, type ReplayClock } from "./replay-clock.ts";
import { createReplayProvider } from "./replay-provider.ts";
import { createReplayTools, createReplayVerifiers } from "./replay-tools.ts";
import type { ReplaySources } from "./sources.ts";
import { append, type ReplayState, type Unanswered, withRecordedFiles } from "./state.ts";

/** No timer of its own: nothing is looked for without having been told. */
const neverMs = 2 ** 31 - 1;
const capacity = 1_000_000;

/**
 * The host of one run, for as long as one host held it. A real one, in a world that has nothing but the record: with a
 * host for each run, each can be told of a wish, or be gone, at its own recorded moment.
 */
export interface ReplayHost {
  clock: ReplayClock;
  /** Takes the run up: from its request, and with the wishes that it found then. */
  begin(request: Uint8Array, seqs: readonly number[]): Promise<void>;
  /** Lets the run find these wishes when it looks for some. */
  allow(seqs: readonly number[]): void;
  /** Tells the run of a wish in its inbox. */
  tell(seq: number): void;
  /** Stops in good order. */
  drain(): void;
  /** Is gone, as if its process had been killed. */
  kill(): void;
}

export function createReplayHost(stage: ReplayState, run: string, sources: ReplaySources): ReplayHost {
  const clock = createReplayClock();
  const lost = new AbortController();
  const visible = new Set<number>();
  const listeners = new Set<() => void>();
  const [opened] = stage.recording.entriesOf(run);
  let task: Uint8Array | null = null;
  let host: ActorHost | null = null;

  const journal: Journal = {
    ...stage.journal,
    append: (given) => (lost.signal.aborted ? never() : append(stage, given)),
    appendInbox: (item) => Promise.resolve({ seq: recordedSeq(stage, item) }),
    async readInbox(session, afterSeq) {
      stage.beat();
      return (await stage.journal.readInbox(session, afterSeq)).filter(({ seq }) => visible.has(seq));
    },
  };
  const queue: TaskQueue = {
    async offer({ run: of, bytes }) {
      stage.beat();
      if (stage.offered.has(of)) return "duplicate";
      stage.offered.set(of, withRecordedFiles(stage, bytes));
      return "offered";
    },
    async take() {
      const bytes = task;
      task = null;
      const done = async (): Promise<void> => {};
      return bytes
        ? [
            {
              run,
              bytes,
              redelivered: false,
              isCertain: () => true,
              renew: async () => true,
              onUncertain: () => () => {},
              drop: () => {},
              lost: lost.signal,
              park: done,
              finish: done,
            },
          ]
        : [];
    },
    onHint: () => () => {},
    pollFaster() {},
    async close() {},
  };
  const unanswered = (call: Unanswered): void => {
    stage.unanswered.set(run, [...(stage.unanswered.get(run) ?? []), call]);
    stage.beat();
  };
  const deps: HostDeps = {
    journal,
    queue,
    bus: {
      ...stage.bus,
      publish(subject, bytes) {
        stage.beat();
        // Who hears of a wish, and when, is in the record.
        if (subject !== stage.subjects.control("all")) stage.bus.publish(subject, bytes);
      },
      async subscribe(pattern, listener) {
        if (!isControl(stage, pattern)) return await stage.bus.subscribe(pattern, listener);
        const announcement = { v: protocolVersion, kind: "inbox.announced", session: stage.recording.session };
        const hear = (): void => listener({ subject: pattern, bytes: encode(announcement), respond: () => {} });
        listeners.add(hear);
        return { unsubscribe: () => listeners.delete(hear) };
      },
    },
    subjects: stage.subjects,
    models: createReplayProvider({
      recording: stage.recording,
      onUnanswered: ({ step, purpose = "turn" }) => unanswered({ what: "model", step, purpose }),
    }),
    resolveModel: sources.resolveModel(run),
    tools: createReplayTools({
      recording: stage.recording,
      run,
      specs: sources.tools,
      onUnanswered: (call) => unanswered({ what: "tool", ...call }),
    }),
    agentSource: sources.agentSource(run) satisfies AgentSource,
    verifiers: createReplayVerifiers(stage.recording, { run }),
    clock,
    logger: silentLogger,
    failpoint: noFailpoints,
    hostId: opened?.host ?? "replay",
    replay: {
      specOf: (request) => sources.specOf(request.run),
      collectedBy: (of) => collectedBy(stage, of),
      admit: (of, body) => (lost.signal.aborted ? never() : stage.gate.admit(of, body)),
    },
  };

  return {
    clock,
    async begin(request, seqs) {
      for (const seq of seqs) visible.add(seq);
      task = request;
      host = createActorHost({ deps, capacity, pollMs: neverMs });
      await host.start();
    },
    allow(seqs) {
      for (const seq of seqs) visible.add(seq);
    },
    tell(seq) {
      visible.add(seq);
      for (const hear of listeners) hear();
    },
    drain() {
      void host?.stop({ graceMs: 0 });
    },
    kill() {
      lost.abort();
      stage.gate.clear(run);
      stage.unanswered.delete(run);
    },
  };
}

/** Folders of runs' own are nowhere: what came back of them is in the record alone. */
function collectedBy({ recording }: ReplayState, run: string): CollectedFiles {
  const entries = recording.entriesOf(run);
  const [opened] = entries;
  const settled = entries.at(-1);
  const isOwn = opened?.kind === "run.opened" && (opened.request.workspace.mode ?? "shared") !== "shared";
  if (!isOwn || settled?.kind !== "run.settled") return { artifacts: [], warnings: [] };
  return settled.response;
}

/** What comes too late for a host that is gone. */
function never(): Promise<never> {
  return new Promise(() => {});
}

function isControl({ subjects }: ReplayState, pattern: string): boolean {
  return pattern === subjects.control("all") || pattern === subjects.control("replay");
}

/** A wish of a run about another is in the record already, where it was kept. */
function recordedSeq({ recording }: ReplayState, command: InboxItem): number {
  const said = recording.items.find(
    (item) => item.kind === "inbox" && item.item.kind === command.kind && targetOf(item.item) === targetOf(command),
  );
  return said?.kind === "inbox" ? said.seq : 0;
}

function targetOf(item: InboxItem): string | null {
  return "run" in item ? item.run : null;
}
