import type { EntryBody, LiveEvent, RunRequest, ToolContext } from "@troupe/core";
import type { AgentEvent, CollectedFiles, EffectKind, EffectOf, RunFolder, RunSpec } from "@troupe/core/internal";
import type { RunDeps } from "../run-deps.ts";

/** What an effect sees of its run. */
export interface EffectScope {
  deps: RunDeps;
  request: RunRequest;
  pin: RunSpec;
  openedAt: number;
  /** Where the run works on this disk. */
  folder: RunFolder;
  /** What of that comes back with the run's response, which is final then. */
  bring(): Promise<CollectedFiles>;
  /** What time it is for the run: as the wall clock said when it was taken up, and steady from then on. */
  now(): number;
  /** Aborts when nobody wants the outcome any more. */
  signal: AbortSignal;
  /** Found without an outcome after a restart: it may have been started before. */
  resumed: boolean;
  /** What the journal says of a call that was started; null where it says of none. */
  started(step: number, call: number): Pick<ToolContext, "plan"> | null;
  /** Whether the journal says that the child of this effect waits for a person. */
  wasWaiting(child: EffectOf<"runChild">): boolean;
  /** Whether the run is still this host's: asked right before anything that cannot be taken back. */
  isOurs(): Promise<boolean>;
  /** Appends a fact that is not the effect's outcome; resolves when it is durable. */
  record(body: EntryBody): Promise<void>;
  /** Tells the machine something that changes no outcome. */
  hint(event: Extract<AgentEvent, { type: "child.claimed" }>): void;
  /** Shows what is happening; may be lost. */
  show(event: LiveDetail): void;
}

/** A live event without what the scope fills in. */
export type LiveDetail = {
  [K in LiveEvent["kind"]]: Omit<Extract<LiveEvent, { kind: K }>, "v" | "session" | "run" | "agent">;
}[LiveEvent["kind"]];

/** Does one thing to the world and says what came of it; null when the outcome arrives by another way. */
export type Perform<K extends EffectKind> = (effect: EffectOf<K>, scope: EffectScope) => Promise<EntryBody | null>;
