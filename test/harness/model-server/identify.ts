import type { Scenario, ScenarioQuestion } from "@troupe/runtime";
import type { WireRequest } from "./wire.ts";

/** What a request is asked for: all that an answer is found by, but the words themselves. */
export type Identity = Pick<ScenarioQuestion, "agent" | "task" | "attempt" | "depth" | "step"> & {
  purpose: NonNullable<ScenarioQuestion["purpose"]>;
};

/** How the questions beside a conversation begin. */
const asides: readonly { purpose: "intent" | "summary"; system: RegExp }[] = [
  { purpose: "summary", system: /^You are given (a|the) conversation between a user and an agent/ },
  { purpose: "intent", system: /^Before doing anything, assess the request below/ },
];

/**
 * Who asks, and where it stands, found in the words of the request alone: real models are told no more. A sub-agent's
 * prompt has its place in the tree; a root's has none, so that it is `rootAgent`.
 */
export function identify(request: WireRequest, scenario: Scenario, rootAgent: string): Identity {
  const { system, messages } = request;
  const purpose = asides.find((aside) => aside.system.test(system))?.purpose ?? "turn";
  const first = messages.find(({ role }) => role === "user")?.text ?? "";
  if (purpose !== "turn") {
    const task = purpose === "summary" ? first.replace(/^User: /, "") : first;
    return { agent: agentWith(purpose, scenario, rootAgent), task, attempt: 1, depth: null, step: 1, purpose };
  }
  const place = /^## Your place\n\n((?:- .*\n?)+)/m.exec(system)?.[1] ?? "";
  const [, agent = rootAgent] = /^- Role: .*\(([^()]+)\)$/m.exec(place) ?? [];
  const [, depth = "0"] = /^- Depth: (\d+) of/m.exec(place) ?? [];
  const [, attempt = "1"] = /^- Attempt: (\d+)\./m.exec(place) ?? [];
  const step = messages.filter(({ role }) => role === "assistant").length + 1;
  return { agent, task: taskOf(first), attempt: Number(attempt), depth: Number(depth), step, purpose };
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
