import type { AgentDefinition, RunRequest } from "@troupe/core";
import type { PromptFacts } from "@troupe/core/internal";
import { answerSection } from "./prompt-answer.ts";
import { delegatingSection } from "./prompt-delegating.ts";
import { cut, duration, fenced, lesser, onOneLine } from "./prompt-text.ts";

const taskCharactersMax = 4_000;

/**
 * The system prompt of a run: the agent's own words, where and when it works, whom it may delegate to, and, for a
 * sub-agent, its place in the tree, its task, the answer that is expected and its limits.
 */
export function renderPrompt(
  definition: AgentDefinition,
  request: RunRequest,
  facts: PromptFacts,
  find: (id: string) => AgentDefinition | undefined,
): string {
  const isChild = request.depth > 0;
  return [
    wordsOf(definition, request),
    situation(request, facts),
    ...(isChild ? [place(definition, request, facts), assignment(request)] : []),
    ...answerSection(request.depth, request.outputSchema ?? definition.outputSchema),
    ...(isChild ? [caps(request, facts)] : []),
    ...delegatingSection(request, facts, find),
  ].join("\n\n");
}

/** An agent that works with its parent's prompt has one of its own for when nobody delegated to it. */
function wordsOf(definition: AgentDefinition, request: RunRequest): string {
  return borrowedWords(definition, request) ?? definition.prompt;
}

function borrowedWords({ promptFrom }: AgentDefinition, { parentPrompt }: RunRequest): string | null {
  return promptFrom === "parent" ? parentPrompt : null;
}

function situation(request: RunRequest, facts: PromptFacts): string {
  return [
    "## Where you work",
    "",
    `Date: ${new Date(facts.now).toISOString().slice(0, 10)}`,
    ...folderWords(request),
  ].join("\n");
}

/** Where its own folder is differs from host to host, and may change while it works: relative paths go with it. */
function folderWords({ workspace: { path, mode = "shared" } }: RunRequest): string[] {
  const session = path.replace(/[\r\n]/g, " ");
  switch (mode) {
    case "shared":
      return [`CURRENT_SESSION_WORKSPACE: ${session}`, "", "Relative paths start at this folder; stay inside it."];
    case "isolated":
      return [
        "CURRENT_SESSION_WORKSPACE: .",
        "",
        "You work in a folder of your own. At first nothing is in it but what you were given. Use relative paths: it may",
        "move to another machine with you. Whoever asked gets each file that you leave in it.",
      ];
    case "worktree":
      return [
        "CURRENT_SESSION_WORKSPACE: .",
        "",
        `You work in a git worktree of ${session}, on a branch of your own: others change other copies. Use relative paths.`,
        "Whoever asked gets the branch; what you leave uncommitted is committed when you end.",
      ];
  }
}

function place(definition: AgentDefinition, request: RunRequest, { limits }: PromptFacts): string {
  const lines = [
    "## Your place",
    "",
    `- Role: ${onOneLine(definition.name)} (${definition.id})`,
    `- Depth: ${request.depth} of ${limits.maxDepth}`,
    `- Asked by: ${request.parent?.agent ?? request.chain.at(-1) ?? "the user"}`,
  ];
  if (definition.domain !== null) lines.push(`- Domain: ${definition.domain}`);
  if (request.attempt > 1) {
    lines.push(
      `- Attempt: ${request.attempt}. An earlier one failed; look at what it may have left behind before you begin.`,
    );
  }
  if (borrowedWords(definition, request) !== null) {
    lines.push(
      "",
      "The words at the beginning are your parent's own: you are to work as it would, on the one task below. Where they",
      "differ from what follows here, this holds: it is your parent that you answer, not the user.",
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
  lines.push(
    "",
    "Your message has it in full, and with it whatever results, files and conversation you are to know of.",
  );
  return lines.join("\n");
}

function caps(request: RunRequest, { limits, budget }: PromptFacts): string {
  const timeMs = Math.min(limits.maxDurationMs, request.remainingMs ?? limits.maxDurationMs);
  const tokens = lesser(limits.maxTokens, budget.tokens);
  const costUsd = lesser(limits.maxCostUsd, budget.costUsd);
  const { maxContextTokens } = limits;
  return [
    "## Your limits",
    "",
    `- Iterations: ${limits.maxIterations} (one is a reply of yours and the tool calls in it)`,
    `- Tool calls: ${lesser(limits.maxToolCalls, budget.toolCalls)}`,
    `- Time: ${duration(timeMs)}`,
    ...(tokens === null ? [] : [`- Tokens: ${tokens}, read and written, over all iterations`]),
    ...(costUsd === null ? [] : [`- Cost: ${Number(costUsd.toPrecision(4))} US dollars`]),
    ...(maxContextTokens === null ? [] : [`- Conversation: ${maxContextTokens} tokens; read no more than you need`]),
    "",
    "Stop before a limit stops you: an answer that says what is missing is worth more than work cut off.",
  ].join("\n");
}
