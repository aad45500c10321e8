import type { AgentDefinition, PromptFacts, RunRequest } from "@troupe/core";

const taskCharactersMax = 4_000;
const descriptionCharactersMax = 300;

/**
 * The system prompt of a run: the agent's own words, where and when it works, what it may delegate, and, for a
 * sub-agent, its place in the tree, its task, its limits and the answer that is expected.
 */
export function renderPrompt(
  definition: AgentDefinition,
  request: RunRequest,
  facts: PromptFacts,
  find: (id: string) => AgentDefinition | undefined,
): string {
  const { limits } = facts;
  const targets = request.depth < limits.maxDepth ? facts.targets : [];
  const sections = [definition.prompt, situation(request, facts)];
  if (request.depth > 0)
    sections.push(place(definition, request, facts), assignment(request), answer, caps(request, facts));
  sections.push(...delegation(request, targets, find));
  return sections.join("\n\n");
}

function situation(request: RunRequest, facts: PromptFacts): string {
  return [
    "## Where you work",
    "",
    `Date: ${new Date(facts.now).toISOString().slice(0, 10)}`,
    `CURRENT_SESSION_WORKSPACE: ${request.workspace.path.replace(/[\r\n]/g, " ")}`,
    "",
    "Relative paths start at this folder; stay inside it.",
  ].join("\n");
}

function place(definition: AgentDefinition, request: RunRequest, { limits }: PromptFacts): string {
  const lines = [
    "## Your place",
    "",
    `- Role: ${onOneLine(definition.name)} (${definition.id})`,
    `- Depth: ${request.depth} of ${limits.maxDepth}`,
    `- Asked by: ${request.parent?.agent ?? request.chain.at(-1) ?? "the user"}`,
  ];
  if (request.attempt > 1) {
    lines.push(
      `- Attempt: ${request.attempt}. An earlier one failed; look at what it may have left behind before you begin.`,
    );
  }
  return lines.join("\n");
}

function assignment(request: RunRequest): string {
  const lines = ["## Your task", "", ...fenced("task", cut(request.task.trim(), taskCharactersMax)), ""];
  if (request.successCriteria) {
    lines.push(
      "It counts as done when this holds:",
      "",
      ...fenced("criteria", cut(request.successCriteria.trim(), taskCharactersMax)),
    );
  } else {
    lines.push("No criteria were given: decide what a careful reader of the task would check, and check it.");
  }
  return lines.join("\n");
}

const answer = `## Your answer

You get one message and give one answer; you cannot ask back. Where the task leaves something open, take the most
likely reading and name it. Your last message, without tool calls, is the answer. Give it these parts:

- Summary: the outcome in a few sentences, at most 500 characters.
- Details: what was done or found, with paths, figures and evidence.
- Files: which were created and which were modified; none, if none.
- Warnings: what failed, was skipped, or is uncertain.
- Suggestions: what should be done next, if anything.`;

function caps(request: RunRequest, { limits }: PromptFacts): string {
  const timeMs = Math.min(limits.maxDurationMs, request.remainingMs ?? limits.maxDurationMs);
  return [
    "## Your limits",
    "",
    `- Iterations: ${limits.maxIterations} (one is a reply of yours and the tool calls in it)`,
    `- Tool calls: ${limits.maxToolCalls}`,
    `- Time: ${duration(timeMs)}`,
    "",
    "Stop before a limit stops you: an answer that says what is missing is worth more than work cut off.",
  ].join("\n");
}

function delegation(
  request: RunRequest,
  targets: readonly string[],
  find: (id: string) => AgentDefinition | undefined,
): string[] {
  if (targets.length === 0) {
    return request.depth > 0 ? ["## Delegating\n\nYou cannot delegate: do the whole task yourself."] : [];
  }
  const list = targets.map((id) => {
    const description = find(id)?.description;
    return description ? `- ${id}: ${cut(onOneLine(description), descriptionCharactersMax)}` : `- ${id}`;
  });
  const head = "With the delegate tool you may hand work to these agents. Each sees only what you write to it.";
  return [["## Delegating", "", head, "", ...list].join("\n")];
}

/** Marks where others' words begin and end, whatever they contain. */
function fenced(tag: string, text: string): string[] {
  return [`<${tag}>`, text.replaceAll(`</${tag}>`, `< /${tag}>`), `</${tag}>`];
}

function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  // Not within a surrogate pair: half of one is no text.
  return `${text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function duration(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.floor(ms / 1_000))} s`;
  const seconds = Math.floor((ms % 60_000) / 1_000);
  return seconds === 0 ? `${Math.floor(ms / 60_000)} min` : `${Math.floor(ms / 60_000)} min ${seconds} s`;
}
