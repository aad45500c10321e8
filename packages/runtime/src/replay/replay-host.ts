import { type AgentSource, type Entry, type InboxItem, type Journal, silentLogger, type TaskQueue } from "@troupe/core";
import { type CollectedFiles, encode, type ForkedFrom, protocolVersion } from "@troupe/core/internal";
import { type ActorHost, createActorHost } from "../host/actor-host.ts";
import { noFailpoints } from "../host/failpoints.ts";
import type { HostDeps } from "../host/host-deps.ts";
import { createReplayClock, type ReplayClock } from "./replay-clock.ts";
import { createReplayFolder } from "./replay-folder.ts";
import { createReplayProvider } from "./replay-provider.ts";
import { createReplayTools, createReplayVerifiers } from "./replay-tools.ts";
import { type ReplaySources, recordedHints } from "./sources.ts";
import { append, type ReplayState, type Unanswered, withRecordedFiles } from "./state.ts";

/** The host never polls for tasks by itself. */
const neverMs = 2 ** 31 - 1;
const capacity = 1_000_000;

/**
 * Runs one run for as long as one host held it in the recording. It is a real actor host whose ports read the recording.
 * Each run has its own, so each can receive a command or be killed at its own recorded moment.
 */
export interface ReplayHost {
  clock: ReplayClock;
  /** Starts the run from its request, with the commands that it found in the inbox at that time. */
  begin(request: Uint8Array, seqs: readonly number[]): Promise<void>;
  /** Makes these commands visible when the run next reads its inbox. */
  allow(seqs: readonly number[]): void;
  /** Makes a command visible and announces it to the run. */
  announce(seq: number): void;
  /** Stops the host as a drain does. */
  drain(): void;
  /** Stops the host as if its process had been killed. */
  kill(): void;
}

export function createReplayHost(state: ReplayState, run: string, sources: ReplaySources): ReplayHost {
  const clock = createReplayClock();
  const lost = new AbortController();
  const visible = new Set<number>();
  const listeners = new Set<() => void>();
  const [opened] = state.recording.entriesOf(run);
  let task: Uint8Array | null = null;
  let host: ActorHost | null = null;

  const journal: Journal = {
    ...state.journal,
    append: (given) => (lost.signal.aborted ? never() : append(state, given)),
    appendInbox: (item) => Promise.resolve({ seq: recordedSeq(state, item) }),
    async readInbox(session, afterSeq) {
      state.beat();
      return (await state.journal.readInbox(session, afterSeq)).filter(({ seq }) => visible.has(seq));
    },
  };
  const queue: TaskQueue = {
    async offer({ run: of, bytes }) {
      state.beat();
      if (state.offered.has(of)) return "duplicate";
      state.offered.set(of, withRecordedFiles(state, bytes));
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
    state.unanswered.set(run, [...(state.unanswered.get(run) ?? []), call]);
    state.beat();
  };
  const deps: HostDeps = {
    journal,
    queue,
    bus: {
      ...state.bus,
      publish(subject, bytes) {
        state.beat();
        // The recording decides which run hears of a command, and when.
        if (subject !== state.subjects.control("all")) state.bus.publish(subject, bytes);
      },
      async subscribe(pattern, listener) {
        if (!isControl(state, pattern)) return await state.bus.subscribe(pattern, listener);
        const announcement = { v: protocolVersion, kind: "inbox.announced", session: state.recording.session };
        const notify = (): void => listener({ subject: pattern, bytes: encode(announcement), respond: () => {} });
        listeners.add(notify);
        return { unsubscribe: () => listeners.delete(notify) };
      },
    },
    subjects: state.subjects,
    models: createReplayProvider({
      recording: state.recording,
      onUnanswered: ({ step, purpose = "turn" }) => unanswered({ what: "model", step, purpose }),
    }),
    resolveModel: sources.resolveModel(run),
    agentHints: recordedHints(state.recording, run),
    tools: createReplayTools({
      recording: state.recording,
      run,
      specs: sources.tools,
      onUnanswered: (call) => unanswered({ what: "tool", ...call }),
    }),
    agentSource: sources.agentSource(run) satisfies AgentSource,
    verifiers: createReplayVerifiers(state.recording, { run }),
    clock,
    logger: silentLogger,
    failpoint: noFailpoints,
    hostId: opened?.host ?? "replay",
    replay: {
      specOf: (request) => sources.specOf(request.run),
      forkedFrom: (of, index) => forkIn(state.recording.entriesOf(of)[index]),
      folderOf: (request) => createReplayFolder(state.recording, request),
      collectedBy: (of) => collectedBy(state, of),
      admit: (of, body) => (lost.signal.aborted ? never() : state.gate.admit(of, body)),
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
    announce(seq) {
      visible.add(seq);
      for (const notify of listeners) notify();
    },
    drain() {
      void host?.stop({ graceMs: 0 });
    },
    kill() {
      lost.abort();
      state.gate.clear(run);
      state.unanswered.delete(run);
    },
  };
}

function forkIn(entry: Entry | undefined): ForkedFrom | null {
  return entry?.kind === "run.claimed" ? (entry.forkedFrom ?? null) : null;
}

/** A replay has no run folders. The files that a run collected are in its recorded response. */
function collectedBy({ recording }: ReplayState, run: string): CollectedFiles {
  const entries = recording.entriesOf(run);
  const [opened] = entries;
  const settled = entries.at(-1);
  const isOwn = opened?.kind === "run.opened" && (opened.request.workspace.mode ?? "shared") !== "shared";
  if (!isOwn || settled?.kind !== "run.settled") return { artifacts: [], warnings: [] };
  return settled.response;
}

/** A write of a killed host never completes. */
function never(): Promise<never> {
  return new Promise(() => {});
}

function isControl({ subjects }: ReplayState, pattern: string): boolean {
  return pattern === subjects.control("all") || pattern === subjects.control("replay");
}

/** A command from one run to another was recorded where it was stored. */
function recordedSeq({ recording }: ReplayState, command: InboxItem): number {
  const recorded = recording.items.find(
    (item) => item.kind === "inbox" && item.item.kind === command.kind && targetOf(item.item) === targetOf(command),
  );
  return recorded?.kind === "inbox" ? recorded.seq : 0;
}

function targetOf(item: InboxItem): string | null {
  return "run" in item ? item.run : null;
}
