import type { Effect, EffectKind, EntryBody } from "@troupe/core";
import { verifyAll } from "../../verifiers/verifier.ts";
import { assessIntent } from "./assess-intent.ts";
import { callModel } from "./call-model.ts";
import { callTool } from "./call-tool.ts";
import type { EffectScope, Perform } from "./effect.ts";
import { runChild } from "./run-child.ts";

/** The deadline counts only the time in which a host held the run; a backoff starts anew after a restart. */
const startTimer: Perform<"startTimer"> = async ({ timer, delayMs }, scope) => {
  const { clock } = scope.world;
  const gone = timer === "deadline" ? clock.now() - scope.openedAt - scope.pausedMs : 0;
  const fired = Promise.withResolvers<boolean>();
  const cancel = clock.after(Math.max(0, delayMs - gone), () => fired.resolve(true));
  scope.signal.addEventListener("abort", () => fired.resolve(false), { once: true });
  const hasFired = await fired.promise;
  cancel();
  return hasFired ? { kind: "timer.fired", timer } : null;
};

const verify: Perform<"verify"> = async ({ round, verifiers, response }, { world, request }) => {
  const subject = { response, workspace: request.workspace.path };
  return { kind: "verify.finished", round, failures: await verifyAll(world.verifiers, verifiers, subject) };
};

const settle: Perform<"settle"> = async ({ response }) => ({ kind: "run.settled", response });

/** The answer comes through the session's inbox, from whoever gives it. */
const awaitApproval: Perform<"awaitApproval"> = async () => null;

const performers: { [K in EffectKind]: Perform<K> } = {
  assessIntent,
  awaitApproval,
  callModel,
  callTool,
  runChild,
  startTimer,
  verify,
  settle,
};

export function perform(effect: Effect, scope: EffectScope): Promise<EntryBody | null> {
  const act = performers[effect.kind] as Perform<typeof effect.kind>;
  return act(effect as never, scope);
}

/** Whether an effect is work, for which its run needs a slot; the others only wait. */
export function isWork(kind: EffectKind): boolean {
  return kind === "assessIntent" || kind === "callModel" || kind === "callTool" || kind === "verify";
}
