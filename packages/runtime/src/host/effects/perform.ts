import type { EntryBody } from "@troupe/core";
import type { CollectedFiles, Effect, EffectKind } from "@troupe/core/internal";
import { askApproval } from "./ask-approval.ts";
import { assessIntent } from "./assess-intent.ts";
import { callModel } from "./call-model.ts";
import { callTool } from "./call-tool.ts";
import { cancelChild } from "./cancel-child.ts";
import { compact } from "./compact.ts";
import type { EffectScope, Perform } from "./effect.ts";
import { runChild } from "./run-child.ts";
import { startTimer } from "./start-timer.ts";
import { summarise } from "./summarise.ts";
import { verify } from "./verify.ts";

/** Of an effect for which the machine has said all there is to say: what has to be written down. */
export function factOf(effect: Effect): EntryBody | null {
  switch (effect.kind) {
    case "planCalls": {
      const { step, children, refused } = effect;
      return { kind: "calls.planned", step, children: [...children], refused: [...refused] };
    }
    case "trim": {
      const { step, results, tokensBefore, tokensAfter } = effect;
      return { kind: "context.trimmed", step, results: [...results], tokensBefore, tokensAfter };
    }
    case "dropChild": {
      const { step, call, item, attempt, response } = effect;
      return { kind: "child.settled", step, call, item, attempt, response };
    }
    default:
      return null;
  }
}

const writeDown = async (effect: Effect): Promise<EntryBody | null> => factOf(effect);

/** What the run leaves in a folder of its own is known only now. */
const settle: Perform<"settle"> = async ({ response }, scope) => {
  const { artifacts, warnings } = await scope.bring();
  if (artifacts.length + warnings.length === 0) return { kind: "run.settled", response };
  const whole = {
    ...response,
    artifacts: withArtifacts(response.artifacts, artifacts),
    warnings: [...new Set([...response.warnings, ...warnings])],
  };
  return { kind: "run.settled", response: whole };
};

const performers: { [K in EffectKind]: Perform<K> } = {
  assessIntent,
  askApproval,
  callModel,
  planCalls: writeDown,
  summarise,
  trim: writeDown,
  compact,
  callTool,
  runChild,
  cancelChild,
  dropChild: writeDown,
  startTimer,
  verify,
  settle,
};

export function perform(effect: Effect, scope: EffectScope): Promise<EntryBody | null> {
  const act = performers[effect.kind] as Perform<typeof effect.kind>;
  return act(effect as never, scope);
}

const work: ReadonlySet<EffectKind> = new Set([
  "assessIntent",
  "callModel",
  "summarise",
  "compact",
  "callTool",
  "verify",
]);

function withArtifacts(known: Artifacts, added: Artifacts): Artifacts {
  return [...known, ...added.filter(({ name, ref }) => !known.some((one) => one.name === name && one.ref === ref))];
}

type Artifacts = CollectedFiles["artifacts"];

/** Whether an effect needs the run's folder as its journal says that it is. */
export function needsFolder(kind: EffectKind): boolean {
  return isWork(kind) || kind === "runChild";
}

/** Whether an effect is work, for which its run needs a slot; the others only wait or write. */
export function isWork(kind: EffectKind): boolean {
  return work.has(kind);
}
