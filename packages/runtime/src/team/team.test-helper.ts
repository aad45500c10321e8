import type { Entry } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { type ActorHost, createActorHost } from "../host/actor-host.ts";
import { createTestDeps, type Script, type TestAgent, type TestDeps } from "../host/host-deps.test-helper.ts";
import type { TeamOptions } from "./options.ts";
import { createTeam, type Team } from "./team.ts";

export interface TestTeam {
  team: Team;
  deps: TestDeps;
  host: ActorHost;
  /** The opening entry of a run. */
  opened(spawned: { session: string; run: string }): Promise<Entry & { kind: "run.opened" }>;
}

const running: TestTeam[] = [];

export const agents: TestAgent[] = [
  { id: "a" },
  { id: "b", model: "other/model", temperature: 0.9 },
  { id: "lead", subagents: { allow: ["a"] } },
  { id: "retired", disabled: true },
];

/** Starts a team and a host; `prepare` can change the ports before the host starts. */
export async function startTeam(
  script: Script,
  options: Partial<TeamOptions> = {},
  prepare: (deps: TestDeps) => void = () => {},
): Promise<TestTeam> {
  const deps = createTestDeps({ agents, script });
  prepare(deps);
  const host = createActorHost({ deps });
  await host.start();
  const ids = createCountingIds();
  const team = createTeam({ deps, ids, model: "test/model", workspace: import.meta.dirname, ...options });
  const opened: TestTeam["opened"] = async ({ session, run }) => {
    const [text = ""] = await deps.journal.readRun(session, run);
    const entry = openEntry(text);
    if (entry.kind !== "run.opened") throw new Error(`run ${run} begins with ${entry.kind}`);
    return entry;
  };
  const started = { team, deps, host, opened };
  running.push(started);
  return started;
}

export async function stopTeams(): Promise<void> {
  for (const { team, host } of running.splice(0)) {
    await team.close({ graceMs: 50 });
    await host.stop({ graceMs: 50 });
  }
}

export const done: Script = ({ origin }) => ({ text: `${origin.agent} did ${origin.task}` });

/** A model that does not reply until the gate opens or the call is aborted. */
export function createGate() {
  const open = Promise.withResolvers<void>();
  const asked: string[] = [];
  const hoped: { count: number; come: () => void }[] = [];
  const script: Script = async ({ origin }, signal) => {
    asked.push(origin.task);
    for (const { count, come } of hoped) if (asked.length >= count) come();
    await Promise.race([open.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    return { text: `${origin.agent} did ${origin.task}` };
  };
  return {
    script,
    /** Tasks whose agents have asked it something. */
    asked,
    open: () => open.resolve(),
    /** Resolves when so many have asked. */
    reached(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      hoped.push({ count, come: resolve });
      if (asked.length >= count) resolve();
      return promise;
    },
  };
}
