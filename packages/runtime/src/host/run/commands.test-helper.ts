import type { Entry, InboxItem, RunRequest } from "@troupe/core";
import { expect } from "vitest";
import { readFeed } from "../../replay/recording.ts";
import { replaySession } from "../../replay/replay-session.ts";
import { type ActorHost, createActorHost } from "../actor-host.ts";
import {
  createTestDeps,
  delegate,
  endsWith,
  entriesOnce,
  rootRequest,
  type Script,
  type TestDeps,
  toolCall,
} from "../host-deps.test-helper.ts";

export const run = "0198a000-0000-7000-8000-000000000001";
export const request = rootRequest({ run });
export const { session } = request;
export const agents = [
  { id: "main", subagents: { allow: ["helper", "other"] } },
  { id: "helper", subagents: { allow: ["tester"] } },
  { id: "tester" },
  { id: "other" },
];
const hosts: ActorHost[] = [];
const depsOfEach: TestDeps[] = [];

export async function startHost(deps: TestDeps): Promise<ActorHost> {
  const host = createActorHost({ deps, capacity: 4 });
  hosts.push(host);
  depsOfEach.push(deps);
  await host.start();
  return host;
}

/** Stops every host that a test has started. Each session replays the same from its record alone. */
export async function stopHosts(): Promise<void> {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
  for (const journal of new Set(depsOfEach.splice(0).map((deps) => deps.journal))) {
    const from = await readFeed(journal);
    for (const session of new Set(from.map((item) => item.session))) {
      expect((await replaySession({ session, from })).divergence).toBeNull();
    }
  }
}

/** The next process on the same journal. */
export function afterRestart(before: TestDeps, script: Script): TestDeps {
  return createTestDeps({ agents, script, keep: before });
}

export const head = { v: 1 as const, at: 1, session };
export const by = "a person";

export function answerTo(entries: readonly Entry[], approved: boolean, scope: "once" | "run" = "once"): InboxItem {
  const asked = entries.findLast((entry) => entry.kind === "approval.requested");
  if (asked?.kind !== "approval.requested") throw new Error("no approval was requested");
  return {
    ...head,
    kind: "approval.answered",
    run: asked.run,
    approval: asked.approval.id,
    approved,
    scope,
    reason: null,
    by,
  };
}

export const allowed = { decision: "allow" as const, risk: "low" as const, reason: "allowed" };

export const kinds = (entries: readonly Entry[]): string[] => entries.map(({ kind }) => kind);

/** The one child that the root has planned by now. */
export async function childOf(deps: TestDeps, parent: Pick<RunRequest, "run"> = request, place = 0) {
  const entries = await entriesOnce(deps, { session, run: parent.run }, (all) =>
    all.some((entry) => entry.kind === "calls.planned" && entry.children.length > place),
  );
  const planned = entries.find((entry) => entry.kind === "calls.planned");
  if (planned?.kind !== "calls.planned") throw new Error("no child was planned");
  return { session, run: planned.children[place]?.run ?? "" };
}

/** main deploys, then says what it was told. */
export const deploying: Script = ({ origin, messages }) =>
  origin.step === 1 ? { calls: [toolCall("deploy", { to: "prod" })] } : { text: messages.at(-1)?.text ?? "" };

/** main asks helper, which deploys. */
export const delegating: Script = (question, signal) => {
  const { agent, step } = question.origin;
  if (agent !== "main") return deploying(question, signal);
  return step === 1 ? { calls: [delegate("helper", "deploy it")] } : { text: "all done" };
};

/** The response of the run under test, once it has settled. */
export async function answered(deps: TestDeps) {
  const settled = await entriesOnce(deps, request, endsWith("run.settled"));
  const last = settled.at(-1);
  if (last?.kind !== "run.settled") throw new Error("not settled");
  return last.response;
}
