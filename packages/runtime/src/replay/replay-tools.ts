import type { RunRequest } from "@troupe/core";
import { type Entry, type RunError, type ToolContext, type ToolHost, ToolOutcome, type ToolSpec } from "@troupe/core";
import { isDelegate } from "@troupe/core/internal";
import { misfits } from "../verifiers/output-schema.ts";
import type { Verifiers } from "../verifiers/verifier.ts";
import type { Recording } from "./recording.ts";

export interface ReplayToolsOptions {
  recording: Recording;
  run: string;
  /** The tools that there are. @default those that the run was opened with */
  specs: readonly ToolSpec[] | null;
  /** Hears of a call that the record has no outcome of: it has none now either, and waits to be stopped. */
  onUnanswered(call: { tool: string; key: string }): void;
}

/** Tools that touch nothing: what a call came to, and whether a person was asked first, is read from the record. */
export function createReplayTools({ recording, run, specs, onUnanswered }: ReplayToolsOptions): ToolHost {
  const answerTo = (context: ToolContext): Entry | undefined => recording.answerTo(run, `tool/${keyOf(context)}`);
  return {
    specs: () => specs ?? toolsOf(recording.entriesOf(run)),
    assess(_call, context) {
      const answer = answerTo(context);
      if (answer?.kind !== "approval.requested") return { decision: "allow", risk: "low", reason: "as recorded" };
      const { risk, reason } = answer.approval;
      return { decision: "ask", risk, reason };
    },
    async run(call, context) {
      const key = keyOf(context);
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
      const key = keyOf(context);
      const started = recording
        .entriesOf(run)
        .findLast((entry) => entry.kind === "tool.started" && `${entry.step}/${entry.call}` === key);
      return started?.kind === "tool.started" ? started.plan : null;
    },
    // Whether it had happened or was run, the outcome is the recorded one.
    verify: async () => null,
  };
}

function toolsOf([opened]: readonly Entry[]): ToolSpec[] {
  return opened?.kind === "run.opened" ? opened.pin.tools.filter(({ name }) => !isDelegate(name)) : [];
}

/** The call within its run: `step/call`. */
function keyOf({ run, idempotencyKey }: ToolContext): string {
  return idempotencyKey.slice(run.length + 1);
}

/** A file that goes along with a request: `step/call/item/place`. */
function isContextFile(key: string): boolean {
  return key.split("/").length === 4;
}

const unreadable = /^the context file .+? cannot be passed on: (.*)$/s;

/**
 * What files said is recorded in the child's request alone, and put in there as it stands; that one could not be read,
 * in the child's settlement.
 */
function contextFile(entries: readonly Entry[], key: string): ToolOutcome {
  const [step, call, item, place] = key.split("/").map(Number);
  const settled = entries.find(
    (entry) =>
      entry.kind === "child.settled" &&
      entry.step === step &&
      entry.call === call &&
      entry.item === item &&
      place === 0,
  );
  const error = settled?.kind === "child.settled" ? settled.response.error : null;
  const message = error && unreadable.exec(error.message)?.[1];
  return ToolOutcome.parse({ output: "", error: message ? ({ ...error, message } as RunError) : null });
}

/**
 * Verifiers that check nothing: what was found the last time is found again. That an answer does not fit its schema is
 * found out anew, and not by these.
 */
export function createReplayVerifiers(recording: Recording, { run }: Pick<RunRequest, "run">): Verifiers {
  const [opened] = recording.entriesOf(run);
  if (opened?.kind !== "run.opened") return {};
  const { request, pin } = opened;
  const schema = request.outputSchema ?? pin.definition.outputSchema;
  const names = pin.definition.verifiers.map(({ name }) => name);
  let round = 0;
  return Object.fromEntries(
    names.map((name, place) => [
      name,
      async ({ response }) => {
        if (place > 0) return [];
        round += 1;
        const answer = recording.answerTo(run, `verify/${round}`);
        if (answer?.kind !== "verify.finished") return [];
        const ofSchema = schema ? misfits(response.details, schema).length : 0;
        return answer.failures.slice(0, answer.failures.length - ofSchema);
      },
    ]),
  );
}
