import type { EntryBody } from "@troupe/core";
import type { CollectedFiles, Effect, EffectKind } from "@troupe/core/internal";
import { askApproval } from "./ask-approval.ts";
import { assessIntent } from "./assess-intent.ts";
import { callModel } from "./call-model.ts";
import { callTool } from "./call-tool.ts";
import { cancelChild } from "./cancel-child.ts";
import { checkChildren } from "./check-children.ts";
import { compact } from "./compact.ts";
import type { EffectScope, Perform } from "./effect.ts";
import { runChild } from "./run-child.ts";
import { startTimer } from "./start-timer.ts";
import { summarise } from "./summarise.ts";
import { verify } from "./verify.ts";

export function perform(effect: Effect, scope: EffectScope): Promise<EntryBody | null> {
  const act = performers[effect.kind] as Perform<typeof effect.kind>;
  return act(effect as never, scope);
}

/** The outcome of an effect that needs no I/O, because the effect itself has all its content. Null for any other. */
export function immediateEntry(effect: Effect): EntryBody | null {
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

const recordEntry = async (effect: Effect): Promise<EntryBody | null> => immediateEntry(effect);

/** Adds the files from the run's own folder to the response. They are known only at the end. */
const settle: Perform<"settle"> = async ({ response }, scope) => {
  const { artifacts, warnings } = await scope.collect();
  if (artifacts.length + warnings.length === 0) return { kind: "run.settled", response };
  const complete = {
    ...response,
    artifacts: mergeArtifacts(response.artifacts, artifacts),
    warnings: [...new Set([...response.warnings, ...warnings])],
  };
  return { kind: "run.settled", response: complete };
};

type Artifacts = CollectedFiles["artifacts"];

function mergeArtifacts(known: Artifacts, added: Artifacts): Artifacts {
  return [...known, ...added.filter(({ name, ref }) => !known.some((one) => one.name === name && one.ref === ref))];
}

const performers: { [K in EffectKind]: Perform<K> } = {
  assessIntent,
  askApproval,
  callModel,
  planCalls: recordEntry,
  summarise,
  trim: recordEntry,
  compact,
  callTool,
  runChild,
  cancelChild,
  dropChild: recordEntry,
  startTimer,
  checkChildren,
  verify,
  settle,
};
