import type { Message } from "@troupe/core";
import type { Scenario, ScenarioQuestion } from "@troupe/models";
import type { WireRequest } from "./wire.ts";

/** The fields that select a scenario answer, except the messages. */
export type Identity = Pick<ScenarioQuestion, "agent" | "task" | "attempt" | "depth" | "step"> & {
  continued: boolean;
  purpose: NonNullable<ScenarioQuestion["purpose"]>;
};

/** System prompts of requests outside the conversation. */
const asides: readonly { purpose: "intent" | "summary"; system: RegExp }[] = [
  { purpose: "summary", system: /^You are given (a|the) conversation / },
  { purpose: "intent", system: /^Before doing anything, assess the request below/ },
];

/** Messages that a run adds with the user role. No task begins with them. */
const notice =
  /^(Your reply was empty\.|Your result was checked and does not hold|To make room, the conversation|This is your last turn:)/;
const ending = /^The turn before this one ended without an answer/;

/**
 * Finds the calling agent and its position from the text of the request alone, because real models get no more. A
 * sub-agent's prompt states its position in the tree; a root's prompt does not, so a root is `rootAgent`.
 */
export function identify(request: WireRequest, scenario: Scenario, rootAgent: string): Identity {
  const { system, messages } = request;
  const purpose = asides.find((aside) => aside.system.test(system))?.purpose ?? "turn";
  if (purpose !== "turn") {
    const first = messages[0]?.text ?? "";
    const task = purpose === "summary" ? first.replace(/^User: /, "") : first;
    const agent = agentWith(purpose, scenario, rootAgent);
    return { agent, task, attempt: 1, depth: null, step: 1, continued: false, purpose };
  }
  const place = /^## Your place\n\n((?:- .*\n?)+)/m.exec(system)?.[1] ?? "";
  const [, agent = rootAgent] = /^- Role: .*\(([^()]+)\)$/m.exec(place) ?? [];
  const [, depth = "0"] = /^- Depth: (\d+) of/m.exec(place) ?? [];
  const [, attempt = "1"] = /^- Attempt: (\d+)\./m.exec(place) ?? [];
  const begin = requestAt(messages);
  return {
    agent,
    task: taskOf(messages[begin]?.text ?? ""),
    attempt: Number(attempt),
    depth: Number(depth),
    step: messages.slice(begin).filter(({ role }) => role === "assistant").length + 1,
    continued: begin > 0,
    purpose,
  };
}

/**
 * Index of the current turn's request in the session. The previous turn ended with text and no calls, or with the
 * reason why there are none.
 */
function requestAt(messages: readonly Message[]): number {
  const at = messages.findLastIndex(({ role, text }, i) => {
    const before = messages[i - 1];
    if (role !== "user" || !before || notice.test(text) || ending.test(text)) return false;
    return before.role === "assistant" ? before.calls.length === 0 : before.role === "user" && ending.test(before.text);
  });
  return Math.max(0, at);
}

/** The task in the opening message, without the sections after it. */
function taskOf(opening: string): string {
  return opening.split(/\n\n(?:Success criteria: |Context:\n)/, 1)[0] ?? opening;
}

/**
 * Requests outside the conversation do not name their agent: it is the root, or the first agent with such an answer.
 */
function agentWith(purpose: "intent" | "summary", { agents }: Scenario, rootAgent: string): string {
  const has = (agent: string) => agents[agent]?.some((script) => script[purpose] !== undefined);
  return has(rootAgent) ? rootAgent : (Object.keys(agents).find(has) ?? rootAgent);
}
