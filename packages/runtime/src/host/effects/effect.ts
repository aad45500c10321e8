import type { CallProgress, EntryBody, LiveEvent, ModelCallOptions, RunRequest, ToolContext } from "@troupe/core";
import {
  type AgentEvent,
  type CollectedFiles,
  corpusFirstOf,
  type EffectKind,
  type EffectOf,
  type RunFolder,
  type RunSpec,
} from "@troupe/core/internal";
import { toolFolderOf } from "../claim/run-spec.ts";
import type { RunDeps } from "../run-deps.ts";

/** Performs one effect. Resolves to its outcome, or to null if the outcome arrives another way. */
export type Perform<K extends EffectKind> = (effect: EffectOf<K>, scope: EffectScope) => Promise<EntryBody | null>;

/** The run as its effects see it. */
export interface EffectScope {
  deps: RunDeps;
  request: RunRequest;
  pin: RunSpec;
  openedAt: number;
  /** The folder of the run on this disk. */
  folder: RunFolder;
  /** Collects the files that return with the run's response. They do not change afterwards. */
  collect(): Promise<CollectedFiles>;
  /** The current time of the run: wall clock at its claim, monotonic from then on. */
  now(): number;
  /** Aborts when the outcome is no longer wanted. */
  signal: AbortSignal;
  /** Whether the effect was found without an outcome after a claim: an earlier host may have started it. */
  resumed: boolean;
  /** The journaled start of a tool call; null if it was not started. */
  startedCall(step: number, call: number): Pick<ToolContext, "plan"> | null;
  /** Whether the journal says that the child of this effect waits for a person. */
  wasWaiting(child: EffectOf<"runChild">): boolean;
  /**
   * Whether this host still holds the run. Ask right before anything that cannot be undone. It is true at once while the
   * lease is certain: go on without an await then, because the process may be suspended in between.
   */
  isHeld(): true | Promise<boolean>;
  /** Appends an entry that is not the outcome. Resolves when it is durable. */
  record(body: EntryBody): Promise<void>;
  /** Keeps the progress of a running model call; null when its provider tries again. */
  noteProgress(progress: CallProgress | null): void;
  /** Sends the machine a hint that changes no outcome. */
  hint(event: Extract<AgentEvent, { type: "child.claimed" }>): void;
  /** Publishes a live event. It may get lost. */
  publish(event: LiveDetail): void;
}

/** A live event without the fields that the run fills in. */
export type LiveDetail = {
  [K in LiveEvent["kind"]]: Omit<Extract<LiveEvent, { kind: K }>, "v" | "session" | "run" | "agent">;
}[LiveEvent["kind"]];

const work: ReadonlySet<EffectKind> = new Set([
  "assessIntent",
  "callModel",
  "summarise",
  "compact",
  "callTool",
  "checkChildren",
  "verify",
]);

/** Whether an effect needs a slot of the host. The other effects only wait or write. */
export function isWork(kind: EffectKind): boolean {
  return work.has(kind);
}

/** Whether an effect needs the run's folder in its journaled state. */
export function needsFolder(kind: EffectKind): boolean {
  return isWork(kind) || kind === "runChild";
}

/**
 * The run as a tool call sees it.
 *
 * @param key names the call within its run; the same for every try of the call
 */
export function toolContext(
  { request, pin, signal, folder }: EffectScope,
  key: string,
  { approved, plan }: Pick<ToolContext, "approved" | "plan">,
): ToolContext {
  const corpusFirst = corpusFirstOf(pin.definition.verifiers);
  return {
    ...(corpusFirst.length > 0 ? { corpusFirst } : {}),
    session: request.session,
    run: request.run,
    agent: request.agent,
    workspace: folder.path,
    project: toolFolderOf(request),
    grant: pin.grant,
    signal,
    idempotencyKey: `${request.run}/${key}`,
    approved,
    plan,
  };
}

type ModelRetry = Parameters<NonNullable<ModelCallOptions["onRetry"]>>[0];

/** A failed model call that the provider will repeat. It was not charged. */
export function noteRetry(retry: ModelRetry, scope: Pick<EffectScope, "publish" | "noteProgress">): void {
  scope.noteProgress(null);
  scope.publish(retryEvent(retry));
}

/** The live event of a failed model call that the provider will repeat. */
function retryEvent({ error, waitMs, tries, triesMax }: ModelRetry): LiveDetail {
  const { type, message } = error;
  return { kind: "model.retrying", type, message, waitMs, tries, triesMax };
}
