import type { Effect, EffectKind, EntryBody } from "@troupe/core";
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

const settle: Perform<"settle"> = async ({ response }) => ({ kind: "run.settled", response });

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

/** Whether an effect is work, for which its run needs a slot; the others only wait or write. */
export function isWork(kind: EffectKind): boolean {
  return work.has(kind);
}
