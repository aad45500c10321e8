import {
  type Entry,
  type RunError,
  type RunRequest,
  type ToolContext,
  type ToolHost,
  ToolOutcome,
  type ToolSpec,
} from "@troupe/core";
import { isDelegationTool } from "@troupe/core/internal";
import { misfits } from "../verifiers/output-schema.ts";
import type { Verifiers } from "../verifiers/verifier.ts";
import type { Recording } from "./recording.ts";

export interface ReplayToolsOptions {
  recording: Recording;
  run: string;
  /** The tools of the replay; null for the tools that were pinned when the run opened. */
  specs: readonly ToolSpec[] | null;
  /** Called for a tool call that was not recorded. The call stays open until it is aborted. */
  onUnanswered(call: { tool: string; key: string }): void;
}

/** A tool host that runs nothing. Outcomes and approvals come from the recording. */
export function createReplayTools({ recording, run, specs, onUnanswered }: ReplayToolsOptions): ToolHost {
  const answerTo = (context: ToolContext): Entry | undefined => recording.answerTo(run, `tool/${callKeyOf(context)}`);
  return {
    specs: () => specs ?? toolsOf(recording.entriesOf(run)),
    assess(_call, context) {
      const answer = answerTo(context);
      if (answer?.kind !== "approval.requested") return { decision: "allow", risk: "low", reason: "as recorded" };
      const { risk, reason } = answer.approval;
      return { decision: "ask", risk, reason };
    },
    async reachOf(_call, context) {
      const answer = answerTo(context);
      if (answer?.kind !== "approval.requested" || answer.approval.covers === undefined) return null;
      return { covers: answer.approval.covers };
    },
    async examine(_call, context) {
      const answer = answerTo(context);
      // The recording knows whether a person was asked again, and about which files.
      if (answer?.kind !== "approval.requested") return { decision: "allow", risk: "low", reason: "as recorded" };
      const { risk, reason, covers, losses, bound, preview } = answer.approval;
      const state = { ...(losses ? { losses } : {}), ...(bound ? { bound } : {}), ...(preview ? { preview } : {}) };
      return { decision: "ask", risk, reason, ...(covers ? { covers } : {}), ...state };
    },
    async run(call, context) {
      const key = callKeyOf(context);
      if (isContextFile(key)) return contextFile(recording.entriesOf(run), key);
      const answer = answerTo(context);
      if (answer?.kind === "tool.finished") return answer.outcome;
      onUnanswered({ tool: call.name, key });
      await new Promise<void>((resolve) => {
        if (context.signal.aborted) resolve();
        context.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      return ToolOutcome.parse({ output: "" });
    },
    async plan(_call, context) {
      const key = callKeyOf(context);
      const started = recording
        .entriesOf(run)
        .findLast((entry) => entry.kind === "tool.started" && `${entry.step}/${entry.call}` === key);
      return started?.kind === "tool.started" ? started.plan : null;
    },
    // The recorded outcome counts, even if the recorded host verified the call instead of running it.
    verify: async () => null,
  };
}

function toolsOf([opened]: readonly Entry[]): ToolSpec[] {
  return opened?.kind === "run.opened" ? opened.pin.tools.filter(({ name }) => !isDelegationTool(name)) : [];
}

/** The key of a call within its run: `step/call`. */
function callKeyOf({ run, idempotencyKey }: ToolContext): string {
  return idempotencyKey.slice(run.length + 1);
}

/** Whether the key names a context file of a child request: `step/call/item/index`. */
function isContextFile(key: string): boolean {
  return key.split("/").length === 4;
}

const unreadable = /^the context file .+? cannot be passed on: (.*)$/s;

/**
 * The content of a context file was recorded only in the child's request, where `withRecordedFiles` restores it. Here
 * only a failed read matters, which was recorded in the child's settlement.
 */
function contextFile(entries: readonly Entry[], key: string): ToolOutcome {
  const [step, call, item, index] = key.split("/").map(Number);
  const settled = entries.find(
    (entry) =>
      entry.kind === "child.settled" &&
      entry.step === step &&
      entry.call === call &&
      entry.item === item &&
      index === 0,
  );
  const error = settled?.kind === "child.settled" ? settled.response.error : null;
  const message = error && unreadable.exec(error.message)?.[1];
  return ToolOutcome.parse({ output: "", error: message ? ({ ...error, message } as RunError) : null });
}

/**
 * Verifiers that return the recorded failures. The check of the answer against its schema runs anew, so its failures are
 * left out here.
 */
export function createReplayVerifiers(recording: Recording, { run }: Pick<RunRequest, "run">): Verifiers {
  const [opened] = recording.entriesOf(run);
  if (opened?.kind !== "run.opened") return {};
  const { request, pin } = opened;
  const schema = request.outputSchema ?? pin.definition.outputSchema;
  const names = [...pin.definition.verifiers, ...(pin.definition.childVerifiers ?? [])].map(({ name }) => name);
  const told = new Set<string>();
  /** The failures of a round have no names, so the first verifier of the round returns all of them. */
  const ofRound = (key: string, text: string): string[] => {
    const answer = recording.answerTo(run, key);
    if (answer?.kind !== "verify.finished" || told.has(key)) return [];
    told.add(key);
    const schemaFailures = schema ? misfits(text, schema).length : 0;
    return answer.failures.slice(0, answer.failures.length - schemaFailures);
  };
  const ofChild = (key: string, child: string, name: string): string[] => {
    const answer = recording.answerTo(run, key);
    if (answer?.kind !== "children.checked") return [];
    return answer.results.find((result) => result.child === child && result.verifier === name)?.failures ?? [];
  };
  const verifierOf =
    (name: string): Verifiers[string] =>
    async ({ response, answer, key }) =>
      key.startsWith("check/") ? ofChild(key, response.runId, name) : ofRound(key, answer);
  return Object.fromEntries(names.map((name) => [name, verifierOf(name)]));
}
