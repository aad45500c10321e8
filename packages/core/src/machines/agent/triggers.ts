import type { Trigger } from "../../protocol/agent.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { AgentContext } from "./context.ts";
import { type RequiredDelegation, spawnDelegation } from "./spawn.ts";

/** Words that a `*` of a phrase can stand for. */
const wildcardWordsMax = 4;

/**
 * Finds the first trigger that a request matches, and the phrase that matched. A phrase matches whole words, in any case;
 * between its words there can be spaces or hyphens, and `*` stands for up to four words. A word within a path, the name of a
 * file or an identifier does not count.
 *
 * @example
 * const triggers = [{ words: ["report", "in-depth"], agent: "report-creation-expert", after: ["web_search"] }];
 * matchTrigger(triggers, "An In Depth look at tides")?.phrase; // "in-depth"
 * matchTrigger(triggers, "The reporter called"); // null
 */
export function matchTrigger(triggers: readonly Trigger[], request: string): RequiredDelegation | null {
  for (const trigger of triggers) {
    const phrase = trigger.words.find((words) => patternOf(words).test(request));
    if (phrase !== undefined) return { trigger, phrase };
  }
  return null;
}

function patternOf(phrase: string): RegExp {
  const words = phrase.trim().split(/[\s-]+/u);
  const between = "[\\s-]+";
  const parts = words.map((word, i) => {
    const isLast = i === words.length - 1;
    if (word === "*") return `(?:[^\\s-]+${between}){0,${wildcardWordsMax}}`;
    return `${word.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&")}${isLast ? "" : between}`;
  });
  return new RegExp(`${notWithinName.before}${parts.join("")}${notWithinName.after}`, "iu");
}

const notWithinName = {
  before: "(?<![\\p{L}\\p{N}_/\\\\@]|[\\p{L}\\p{N}]\\.)",
  // A slash between two words can mean "or".
  after: "(?![\\p{L}\\p{N}_\\\\]|\\.[\\p{L}\\p{N}]|/(?:\\s|$|\\S*\\.\\p{L}))",
} as const;

/** Whether a trigger can hold: its agent can be asked, and one of the tools that it needs first works here. */
export function isActive(
  { agent, after }: Pick<Trigger, "agent" | "after">,
  { targets, tools }: { targets: readonly string[]; tools: readonly Pick<ToolSpec, "name" | "unready">[] },
): boolean {
  const works = (name: string): boolean => tools.some((tool) => tool.name === name && tool.unready === undefined);
  return targets.includes(agent) && (after.length === 0 || after.some(works));
}

/** The delegation that the request of a root run makes mandatory. Null if there is none, or no trigger for it is active. */
export function requiredDelegation({ request, pin }: Pick<AgentContext, "request" | "pin">): RequiredDelegation | null {
  if (request.depth > 0) return null;
  const spawned = spawnDelegation({ request });
  if (spawned) return spawned;
  const { definition, targets, grant, tools } = pin;
  const specs = new Map(tools.map((tool) => [tool.name, tool]));
  const reach = { targets: targets.map(({ id }) => id), tools: grant.tools.map((name) => specs.get(name) ?? { name }) };
  const active = (definition.triggers ?? []).filter((trigger) => isActive(trigger, reach));
  return matchTrigger(active, request.task);
}

/** The mandatory delegation that no child has carried out yet. */
export function owedDelegation(context: AgentContext): RequiredDelegation | null {
  const required = requiredDelegation(context);
  // The first child of a `/spawn` is the required one. An alternative agent may have ended in its place.
  if (context.request.spawn && context.delegatedTo.length > 0) return null;
  return required && !context.delegatedTo.includes(required.trigger.agent) ? required : null;
}

/** Why the mandatory delegation may not start yet: its search is missing. Null if it may, and for other agents. */
export function missingSearch(context: AgentContext, agent: string): string | null {
  const trigger = requiredDelegation(context)?.trigger;
  if (trigger?.agent !== agent) return null;
  const tools = trigger.after.filter((tool) => context.pin.grant.tools.includes(tool));
  if (tools.length === 0 || tools.some((tool) => context.usage.toolsUsed.includes(tool))) return null;
  return `first call ${tools.join(" or ")}, and pass the results and their addresses on in the task of ${agent}`;
}

/** The reminder for a model that answers without the mandatory delegation. */
export function delegationReminder({ trigger: { agent }, phrase }: RequiredDelegation): string {
  return `The request says “${phrase}”, so ${agent} has to do this work, and it was not asked. Delegate the task to it, with the results and addresses that you found.`;
}
