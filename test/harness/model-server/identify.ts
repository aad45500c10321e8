import type { Message } from "@troupe/core";
import type { Scenario, ScenarioQuestion } from "@troupe/models";
import type { WireRequest } from "./wire.ts";

/** What a request is asked for: all that an answer is found by, but the words themselves. */
export type Identity = Pick<ScenarioQuestion, "agent" | "task" | "attempt" | "depth" | "step"> & {
  continued: boolean;
  purpose: NonNullable<ScenarioQuestion["purpose"]>;
};

/** How the questions beside a conversation begin. */
const asides: readonly { purpose: "intent" | "summary"; system: RegExp }[] = [
  { purpose: "summary", system: /^You are given (a|the) conversation / },
  { purpose: "intent", system: /^Before doing anything, assess the request below/ },
];

/** What a run says to its model as if it were the user: no request begins with it. */
const notice =
  /^(Your reply was empty\.|Your result was checked and does not hold|To make room, the conversation|This is your last turn:)/;
const ending = /^The turn before this one ended without an answer/;

/**
 * Who asks, and where it stands, found in the words of the request alone: real models are told no more. A sub-agent's
 * prompt has its place in the tree; a root's has none, so that it is `rootAgent`.
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

/** Where the request of this turn of the session stands: a run ends with words and no calls, or it says why there are none. */
function requestAt(messages: readonly Message[]): number {
  const at = messages.findLastIndex(({ role, text }, i) => {
    const before = messages[i - 1];
    if (role !== "user" || !before || notice.test(text) || ending.test(text)) return false;
    return before.role === "assistant" ? before.calls.length === 0 : before.role === "user" && ending.test(before.text);
  });
  return Math.max(0, at);
}

/** The opening message without what follows the task in it. */
function taskOf(opening: string): string {
  return opening.split(/\n\n(?:Success criteria: |Context:\n)/, 1)[0] ?? opening;
}

/** Whoever asks beside a conversation does not say who it is: the root, or the first that has an answer. */
function agentWith(purpose: "intent" | "summary", { agents }: Scenario, rootAgent: string): string {
  const has = (agent: string) => agents[agent]?.some((script) => script[purpose] !== undefined);
  return has(rootAgent) ? rootAgent : (Object.keys(agents).find(has) ?? rootAgent);
}
