import type { Effect, EffectKind, EntryBody } from "@troupe/core";
import type { Brought } from "../../folders/run-folder.ts";
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

/** The machine has said all there is to say: it only has to be written down. */
const planCalls: Perform<"planCalls"> = async ({ step, children, refused }) => ({
  kind: "calls.planned",
  step,
  children: [...children],
  refused: [...refused],
});

const trim: Perform<"trim"> = async ({ step, results, tokensBefore, tokensAfter }) => ({
  kind: "context.trimmed",
  step,
  results: [...results],
  tokensBefore,
  tokensAfter,
});

const dropChild: Perform<"dropChild"> = async ({ step, call, item, attempt, response }) => ({
  kind: "child.settled",
  step,
  call,
  item,
  attempt,
  response,
});

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
  planCalls,
  summarise,
  trim,
  compact,
  callTool,
  runChild,
  cancelChild,
  dropChild,
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

type Artifacts = Brought["artifacts"];

/** Whether an effect needs the run's folder as its journal says that it is. */
export function needsFolder(kind: EffectKind): boolean {
  return isWork(kind) || kind === "runChild";
}

/** Whether an effect is work, for which its run needs a slot; the others only wait or write. */
export function isWork(kind: EffectKind): boolean {
  return work.has(kind);
}
