import type {
  HandledAnswer,
  HandledIntent,
  HandledRequest,
  HandlerState,
  HandlerStep,
  RequestHandler,
} from "@troupe/core";
import { RunFailure } from "@troupe/core/tool";
import { z } from "zod";
import { errorOf, errorPlan } from "../base/call-failure.ts";
import { type CallWork, calls, nextTurn, type PlannedTurn, withJsonOutput } from "../base/request-work.ts";
import { countOf, listOf, oneLine, quoted } from "../base/wording.ts";
import type { OfficeScope } from "../domains/office-scope.ts";
import { addressesOf, dataText, notDone, outcomeOf, type PartOutcome } from "./domain-result.ts";
import { PlannedPart, planParts } from "./plan-parts.ts";
import { splitRequest } from "./request-parts.ts";

const delegate = "delegate";

/**
 * The master of the office: splits a request into single messages for the domain agents, delegates independent ones at the same
 * time, and answers once, with the successful and the failed parts.
 */
export function officeHandler(scope: OfficeScope): RequestHandler {
  return {
    name: "office",
    assess: async (request) => assessParts(request),
    next: async (state) => nextStep(state, await scope.shared.timeZone(state.request)),
  };
}

function assessParts(request: HandledRequest): HandledIntent | null {
  const found = splitRequest(request.task);
  const planned = found && planParts(found);
  if (!planned) return null;
  const parts = planned.map((part) => ({ ...part, agent: agentOf(part.domain, request) ?? "" }));
  const missing = parts.filter(({ agent }) => agent === "").map(({ domain }) => domain);
  const message =
    missing.length > 0
      ? `the run may not delegate to an agent for ${listOf([...new Set(missing)])}; add it to subagents.allow of the agent`
      : `the agent may not call ${delegate}; add agents to subagents.allow`;
  const isRefused = missing.length > 0 || !request.tools.includes(delegate);
  return {
    tools: [delegate],
    params: { parts },
    // Every domain agent assesses the risk of its own part.
    risk: "low",
    expectedFormat: "One answer with the outcome of each part.",
    successCriteria: parts.map(({ text }) => `Done: ${quoted(text)}.`).join(" "),
    errorPlan: ["a part that fails does not stop the others, and the answer names it", ...errorPlan],
    notes: parts.map(({ domain, text, after }, i) => {
      const needs = after.length === 0 ? "" : `, after ${listOf(after.map((each) => `part ${each + 1}`))}`;
      return `Part ${i + 1} is for ${domain}${needs}: ${quoted(text)}.`;
    }),
    ...(isRefused
      ? { problem: { type: "permission", message, tool: delegate, recoverable: false, retryAfterMs: null } }
      : {}),
  };
}

/** The agent of a domain: its id is the domain, or ends with it, such as `office_email`. */
function agentOf(domain: string, { agents }: HandledRequest): string | undefined {
  return (
    agents.find((id) => id === `office_${domain}`) ?? agents.find((id) => id === domain || id.endsWith(`_${domain}`))
  );
}

const Params = z.object({ parts: z.array(PlannedPart) });

function nextStep({ intent, results, turnsLeft }: HandlerState, timeZone: string): HandlerStep {
  try {
    const { parts } = Params.parse(intent.context.params);
    // The work ends with the outcomes, before they become an answer.
    let outcomes: PartOutcome[] = [];
    const work = (function* (): Generator<PlannedTurn, string, typeof results> {
      outcomes = yield* delegateParts(parts);
      return "";
    })();
    const turn = nextTurn(work, results.map(withJsonOutput), turnsLeft);
    return turn.kind === "calls" ? turn : endOf(outcomes, timeZone);
  } catch (thrown) {
    return { kind: "failure", error: errorOf(thrown, delegate) };
  }
}

/** Delegates all parts that are ready in one turn, until none is left. */
function* delegateParts(parts: readonly PlannedPart[]): CallWork<PartOutcome[]> {
  const outcomes = new Map<number, PartOutcome>();
  while (outcomes.size < parts.length) {
    const ready = [...parts.entries()].filter(
      ([i, { after }]) => !outcomes.has(i) && after.every((each) => outcomes.has(each)),
    );
    const begun: { index: number; part: PlannedPart; task: string }[] = [];
    for (const [index, part] of ready) {
      const { task, problem } = messageOf(part, outcomes);
      if (problem === null) begun.push({ index, part, task });
      else outcomes.set(index, notDone(part, problem));
    }
    if (begun.length > 0) yield* runParts(begun, outcomes);
  }
  return parts.flatMap((_, i) => outcomes.get(i) ?? []);
}

function* runParts(
  begun: readonly { index: number; part: PlannedPart; task: string }[],
  outcomes: Map<number, PartOutcome>,
): CallWork<void> {
  const planned = begun.map(({ part, task }) => ({ tool: delegate, args: { agent: part.agent, task } }));
  try {
    const agents = listOf([...new Set(begun.map(({ part }) => part.domain))]);
    const results = yield* calls.callAll(planned, `Delegates ${countOf(begun.length, "part")} to ${agents}.`);
    for (const [i, { index, part }] of begun.entries()) {
      const result = results[i];
      outcomes.set(index, result ? outcomeOf(part, result) : notDone(part, "the delegation has no result"));
    }
  } catch (thrown) {
    // No turn is left: the parts before are still an answer.
    if (!(thrown instanceof RunFailure)) throw thrown;
    for (const { index, part } of begun) outcomes.set(index, notDone(part, thrown.message));
  }
}

/** The message for an agent, with the found people and the outcome of other parts. `problem` says why it cannot be sent. */
function messageOf(
  { message, after }: PlannedPart,
  outcomes: ReadonlyMap<number, PartOutcome>,
): { task: string; problem: string | null } {
  const needed = after.flatMap((index) => outcomes.get(index) ?? []);
  const done = needed.filter(({ error }) => error === null);
  if (message.includes("{people}")) {
    const failed = needed.find(({ error }) => error !== null);
    if (failed) return { task: "", problem: `it needs ${quoted(failed.part.text)}, which failed` };
    const addresses = done.flatMap(addressesOf);
    if (addresses.length === 0) return { task: "", problem: "no address was found for it" };
    return { task: message.replace("{people}", () => listOf(addresses)), problem: null };
  }
  if (!message.includes("{outcome}")) return { task: message, problem: null };
  const failed = needed.find(({ error }) => error !== null);
  if (failed) return { task: "", problem: `it tells the outcome of ${quoted(failed.part.text)}, which failed` };
  return { task: message.replace("{outcome}", () => outcomeText(done)), problem: null };
}

const outcomeCharactersMax = 1_000;

/** The outcome of parts. A search that another part has used is left out: its addresses are not for everyone. */
function outcomeText(done: readonly PartOutcome[]): string {
  const changes = done.filter(({ part }) => part.domain !== "contacts");
  const told = changes.length > 0 ? changes : done;
  return oneLine(told.map(({ summary }) => summary).join(" "), outcomeCharactersMax);
}

/** One answer for all parts. It is a failure only if no part worked. */
function endOf(outcomes: readonly PartOutcome[], timeZone: string): HandlerStep {
  const failed = outcomes.flatMap((outcome) => (outcome.error ? [{ ...outcome, error: outcome.error }] : []));
  const done = outcomes.filter(({ error }) => error === null);
  const [first] = failed;
  if (done.length === 0 && first) return { kind: "failure", error: { ...first.error, message: failureText(failed) } };
  const answer: HandledAnswer = {
    summary: summaryOf(done, failed),
    details: detailsOf(outcomes, timeZone),
    assumptions: [...new Set(outcomes.flatMap(({ assumptions }) => assumptions))],
    missing: [
      ...done.flatMap(({ missing }) => missing),
      ...failed.map(({ part, summary }) => `Not done: ${quoted(part.text)}: ${sentence(summary)}`),
    ],
    confidence: confidenceOf(outcomes, done),
  };
  return { kind: "answer", answer };
}

function failureText(failed: readonly PartOutcome[]): string {
  if (failed.length === 1) return failed[0]?.summary ?? "";
  return failed.map(({ part, summary }) => `${quoted(part.text)}: ${sentence(summary)}`).join(" ");
}

/** The first sentence of each part, and the failed parts. */
function summaryOf(done: readonly PartOutcome[], failed: readonly PartOutcome[]): string {
  if (failed.length === 0 && done.length === 1) return done[0]?.summary ?? "";
  const total = done.length + failed.length;
  const worked =
    failed.length === 0 ? "" : `${done.length} of ${total} parts ${done.length === 1 ? "is" : "are"} done. `;
  const outcomes = done.map(({ summary }) => sentence(firstSentence(summary))).join(" ");
  const problems = failed.map(
    ({ part, summary }) => `Not done: ${quoted(part.text)}, because ${sentence(summary.split("; ")[0] ?? "")}`,
  );
  return [`${worked}${outcomes}`, ...problems].join(" ");
}

function firstSentence(text: string): string {
  return /^.+?[.!?](?=\s+[\p{Lu}“])/su.exec(text)?.[0] ?? text;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The data of the parts as lists. */
function detailsOf(outcomes: readonly PartOutcome[], timeZone: string): string {
  const texts = outcomes.map((outcome) => ({ outcome, text: outcome.error ? "" : dataText(outcome, timeZone) }));
  const shown = texts.filter(({ text }) => text !== "");
  if (outcomes.length === 1) return shown[0]?.text ?? "";
  return shown.map(({ outcome, text }) => `${oneLine(outcome.summary, 300)}\n\n${text}`).join("\n\n");
}

/** An answer is as sure as its least sure part, and worth less without some of its parts. */
function confidenceOf(outcomes: readonly PartOutcome[], done: readonly PartOutcome[]): number {
  const least = Math.min(1, ...done.map(({ confidence }) => confidence));
  return Math.round(least * (done.length / outcomes.length) * 100) / 100;
}
