import type { EntryBody, LiveEvent, RunRequest } from "@troupe/core";
import type { RunSpec } from "@troupe/core/internal";
import { sharedFolder } from "@troupe/core/internal";
import { createSimulatedClock, type SimulatedClock } from "@troupe/core/memory";
import { resolveRunSpec } from "../claim/run-spec.ts";
import { createTestDeps, rootRequest, type TestDeps } from "../host-deps.test-helper.ts";
import { type RunDeps, readOpenRuns } from "../run-deps.ts";
import type { EffectScope, LiveDetail } from "./effect.ts";

export const run = "0198a000-0000-7000-8000-000000000001";

type DepsOptions = Parameters<typeof createTestDeps>[0];

/** An effect's view of a run, with a record of everything that the effect did. */
export interface TestScope extends EffectScope {
  deps: TestDeps & RunDeps;
  clock: SimulatedClock;
  recorded: EntryBody[];
  shown: LiveDetail[];
  hints: Parameters<EffectScope["hint"]>[0][];
  /** Stops the effect. */
  stop(): void;
}

/** The scope of a run of `main` with ports in memory and a clock that a test moves. */
export async function createScope(
  options: Partial<DepsOptions> & {
    request?: Partial<RunRequest>;
    pin?: Partial<RunSpec>;
    scope?: Omit<Partial<EffectScope>, "deps">;
  } = {},
): Promise<TestScope> {
  const clock = createSimulatedClock(1_000_000);
  const inMemory = createTestDeps({ agents: [{ id: "main" }], script: () => ({ text: "done" }), ...options });
  const deps = Object.assign(inMemory, {
    clock,
    openRunsOf: (session: string) => readOpenRuns(inMemory.journal, session),
  });
  const request = rootRequest({ run, ...options.request });
  const spec = { ...(await resolveRunSpec(deps, request, await deps.agentSource.load(null))), ...options.pin };
  const stop = new AbortController();
  const [recorded, shown, hints]: [EntryBody[], LiveDetail[], TestScope["hints"]] = [[], [], []];
  return {
    deps,
    clock,
    request,
    pin: spec,
    openedAt: clock.now(),
    folder: sharedFolder(request.workspace.path),
    collect: async () => ({ artifacts: [], warnings: [] }),
    now: () => clock.now(),
    signal: stop.signal,
    resumed: false,
    startedCall: () => null,
    wasWaiting: () => false,
    isHeld: () => true,
    record: async (body) => void recorded.push(body),
    noteProgress() {},
    hint: (event) => void hints.push(event),
    publish: (detail) => void shown.push(detail),
    recorded,
    shown,
    hints,
    stop: () => stop.abort(),
    ...options.scope,
  };
}

/** Runs everything that needs no time to pass. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A live event of some run, as its host would send it. */
export function liveOf(request: RunRequest, detail: LiveDetail): LiveEvent {
  const { session, run: id, agent } = request;
  return { v: 1, session, run: id, agent, ...detail } as LiveEvent;
}
