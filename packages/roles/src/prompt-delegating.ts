import type { AgentDefinition, RunRequest } from "@troupe/core";
import type { PromptFacts } from "@troupe/core/internal";
import { cut, onOneLine } from "./prompt-text.ts";

const descriptionCharactersMax = 300;

type Find = (id: string) => AgentDefinition | undefined;

/** Whom a run may delegate to, and how to do it well; a sub-agent that may not is told so. */
export function delegatingSection(request: RunRequest, facts: PromptFacts, find: Find): string[] {
  const targets = canDelegate(request, facts) ? facts.targets : [];
  if (targets.length > 0) return [["## Delegating", "", ...listOf(targets, find), "", ...advice(facts)].join("\n")];
  return request.depth > 0 ? ["## Delegating\n\nYou cannot delegate: do the whole task yourself."] : [];
}

function canDelegate({ depth }: RunRequest, { limits, budget }: PromptFacts): boolean {
  return depth < limits.maxDepth && budget.spawns !== 0;
}

function listOf(targets: readonly string[], find: Find): string[] {
  const lines = targets.map((id) => {
    const description = find(id)?.description;
    return description ? `- ${id}: ${cut(onOneLine(description), descriptionCharactersMax)}` : `- ${id}`;
  });
  return ["With the delegate tool you may hand work to these agents:", "", ...lines];
}

function advice({ limits, budget }: PromptFacts): string[] {
  return [
    "Delegate what one of them is made for: work over many files, or that wants a fresh look. Do yourself what is a",
    "question, one file or a few minutes of work, and whatever needs the user: an agent cannot ask anybody.",
    "",
    "- Task: without `context` it is all that the agent sees. Name the goal and its reason, the exact paths, what is",
    "  already known, what must not change. One task is one outcome; say in `success_criteria` how to tell that it is",
    "  reached.",
    `- Order: ${orderOf(limits.maxConcurrent)}`,
    "  A task that needs the results of others says so in `after`, within one call with `tasks`: they come along with",
    "  its message. Never let two agents write the same file at once.",
    "- Context: `context` says how much of your conversation goes along: `task_only` nothing, `summary` the gist, `full`",
    "  all of it, which costs its tokens again. Left out, the agent's own choice holds. Files go in `context_files`.",
    ...(budget.spawns === null
      ? []
      : [`- Number: ${runs(budget.spawns)} below you in all, those of your agents and repeats included.`]),
    "",
    "The result is a claim until you have looked: check it before you build on it. If it failed, find out why before you",
    "ask again, and ask differently.",
  ];
}

function orderOf(concurrent: number): string {
  const one = "one call for each task, or one call with all of them in `tasks`.";
  return concurrent === 1
    ? `${one} They run one after the other, as you asked for them.`
    : `${one} Calls of one turn run at the same time, ${concurrent} at most; the rest wait for a place.`;
}

function runs(count: number): string {
  return count === 1 ? "1 run may be started" : `${count} runs may be started`;
}
