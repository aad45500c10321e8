import type { AgentDefinition, RunRequest } from "@troupe/core";
import { type AgentListing, isActive, listAgents, matchTrigger, type PromptFacts } from "@troupe/core/internal";

const taskCharactersMax = 4_000;

type FindAgent = (id: string) => AgentDefinition | undefined;
type OutputSchema = AgentDefinition["outputSchema"];

/**
 * Renders the system prompt of a run: the agent's own prompt, the date and workspace, and the agents that it may delegate
 * to. A sub-agent also gets its role, its task, the form of its answer and its limits.
 */
export function renderPrompt(
  definition: AgentDefinition,
  request: RunRequest,
  facts: PromptFacts,
  find: FindAgent,
): string {
  const isChild = request.depth > 0;
  return [
    ownPrompt(definition, request),
    workspaceSection(request, facts),
    ...(isChild ? [roleSection(definition, request, facts), taskSection(request)] : []),
    ...answerSection(request.depth, request.outputSchema ?? definition.outputSchema),
    ...(isChild ? [limitsSection(request, facts)] : []),
    ...delegatingSection(request, facts, find),
    ...requiredSection(definition, request, facts),
  ].join("\n\n");
}

/** An agent with `promptFrom: parent` uses its own prompt if it has no parent. */
function ownPrompt(definition: AgentDefinition, request: RunRequest): string {
  return parentPromptOf(definition, request) ?? definition.prompt;
}

function parentPromptOf({ promptFrom }: AgentDefinition, { parentPrompt }: RunRequest): string | null {
  return promptFrom === "parent" ? parentPrompt : null;
}

function workspaceSection(request: RunRequest, facts: PromptFacts): string {
  return [
    "## Where you work",
    "",
    `Date: ${new Date(facts.now).toISOString().slice(0, 10)}`,
    ...workspaceLines(request),
  ].join("\n");
}

/** An own folder has a different path on every host, and can move during the run. Relative paths stay valid. */
function workspaceLines({ workspace: { path, mode = "shared" } }: RunRequest): string[] {
  const session = path.replace(/[\r\n]/g, " ");
  switch (mode) {
    case "shared":
      return [`CURRENT_SESSION_WORKSPACE: ${session}`, "", "Relative paths start at this folder; stay inside it."];
    case "isolated":
      return [
        "CURRENT_SESSION_WORKSPACE: .",
        "",
        "You work in a folder of your own, with only what you were given. Use relative paths: it may",
        "move to another machine with you. The requester gets each file that you leave in it.",
      ];
    case "worktree":
      return [
        "CURRENT_SESSION_WORKSPACE: .",
        "",
        `You work in a git worktree of ${session}, on a branch of your own: others change other copies. Use relative paths.`,
        "The requester gets the branch; uncommitted changes are committed when you end.",
      ];
  }
}

function roleSection(definition: AgentDefinition, request: RunRequest, { limits }: PromptFacts): string {
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
      `- Attempt: ${request.attempt}. An earlier attempt failed; check the changes that it left before you begin.`,
    );
  }
  if (parentPromptOf(definition, request) !== null) {
    lines.push(
      "",
      "The words at the beginning are your parent's own: you are to work as it would, on the one task below. Where they",
      "differ from what follows here, this holds: it is your parent that you answer, not the user.",
    );
  }
  return lines.join("\n");
}

function taskSection(request: RunRequest): string {
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

const answerRules = `You get one message and give one answer; you cannot ask back. Where the task leaves something open, take the most
likely reading and name it; where data is missing, say which. Your last message, without tool calls, is the answer.`;

/**
 * The form of a sub-agent's answer. Core reads findings, warnings, suggestions and confidence below their headings.
 */
const sectionedAnswer = `## Your answer

${answerRules}
Write it in Markdown under these headings, by exactly these names, and leave out any that would stand alone:

- \`## Summary\`: the outcome in a few sentences, at most 500 characters.
- \`## Details\`: your work and its result, with paths, figures and evidence, and everything else that your role reports.
- \`## Findings\`: a list of what was found out, the most important first, each with where it was seen.
- \`## Files\`: a list of the files that you created, and of the files that you modified.
- \`## Warnings\`: a list of what failed, was skipped, or is uncertain.
- \`## Suggestions\`: a list of what should be done next.
- \`## Confidence\`: one number from 0 to 1: how likely it is that your result is right.`;

/** The section on the answer. A root without a schema has none: it answers a user in free form. */
function answerSection(depth: number, schema: OutputSchema): string[] {
  if (schema !== null) return [jsonAnswer(schema, depth)];
  return depth > 0 ? [sectionedAnswer] : [];
}

function jsonAnswer(schema: NonNullable<OutputSchema>, depth: number): string {
  return [
    "## Your answer",
    "",
    depth > 0 ? answerRules : "Your last message, without tool calls, is the answer.",
    "It has to be one JSON value that fits this JSON Schema, with no word before or after it:",
    "",
    ...fenced("schema", JSON.stringify(schema, null, 2)),
    "",
    "It is checked. Put uncertain facts into fields that allow them; never invent a value to fill a field.",
  ].join("\n");
}

function limitsSection(request: RunRequest, { limits, budget }: PromptFacts): string {
  const timeMs = Math.min(limits.maxDurationMs, request.remainingMs ?? limits.maxDurationMs);
  const tokens = lowerOf(limits.maxTokens, budget.tokens);
  const costUsd = lowerOf(limits.maxCostUsd, budget.costUsd);
  const { maxContextTokens } = limits;
  return [
    "## Your limits",
    "",
    `- Iterations: ${limits.maxIterations} (one is a reply of yours and the tool calls in it)`,
    `- Tool calls: ${lowerOf(limits.maxToolCalls, budget.toolCalls)}`,
    `- Time: ${formatDuration(timeMs)}`,
    ...(tokens === null ? [] : [`- Tokens: ${tokens}, read and written, over all iterations`]),
    ...(costUsd === null ? [] : [`- Cost: ${Number(costUsd.toPrecision(4))} US dollars`]),
    ...(maxContextTokens === null ? [] : [`- Conversation: ${maxContextTokens} tokens; read no more than you need`]),
    "",
    "Stop before a limit stops you: an answer that says what is missing is worth more than work cut off.",
  ].join("\n");
}

/** The agents that a run may delegate to, and advice. A sub-agent without targets learns that it cannot delegate. */
function delegatingSection(request: RunRequest, facts: PromptFacts, find: FindAgent): string[] {
  const targets = canDelegate(request, facts) ? facts.targets : [];
  if (targets.length > 0) {
    const list = facts.agentList ?? listOf(targets, find);
    return [["## Delegating", "", ...targetList(list), "", ...advice(facts)].join("\n")];
  }
  return request.depth > 0 ? ["## Delegating\n\nYou cannot delegate: do the whole task yourself."] : [];
}

/** The delegation that the words of the request make mandatory. The machine holds the run to it. */
function requiredSection(
  { triggers = [] }: AgentDefinition,
  request: RunRequest,
  { targets, tools: given }: PromptFacts,
): string[] {
  if (request.spawn) return [spawnedSection(request.spawn.agent)];
  const tools = given ?? triggers.flatMap(({ after }) => after.map((name) => ({ name })));
  const active = triggers.filter((trigger) => isActive(trigger, { targets, tools }));
  const found = request.depth === 0 ? matchTrigger(active, request.task) : null;
  if (!found) return [];
  const { agent, after } = found.trigger;
  const search = after.length === 0 ? "" : ` First search with ${after.join(" or ")}.`;
  return [
    [
      "## Required delegation",
      "",
      `The request says “${found.phrase}”, so **${agent}** has to do this work. Your own answer is refused until it has.`,
      `${search.trimStart()} Pass the results, their addresses and CURRENT_SESSION_WORKSPACE on in the task.`.trimStart(),
    ].join("\n"),
  ];
}

/** The user chose the agent, and it has the task before the model reads this. */
function spawnedSection(agent: string): string {
  return [
    "## Delegated by the user",
    "",
    `The user's request begins with the command /spawn, so **${agent}** has done its task already.`,
    "Answer the user with the result of that delegation, and say so if it failed. Do not do the work again.",
  ].join("\n");
}

function canDelegate({ depth }: RunRequest, { limits, budget }: PromptFacts): boolean {
  return depth < limits.maxDepth && budget.spawns !== 0;
}

function listOf(targets: readonly string[], find: FindAgent): AgentListing {
  return listAgents(targets.map((id) => ({ id, description: find(id)?.description ?? "" })));
}

function targetList({ text, isShortened }: AgentListing): string[] {
  const search = isShortened ? " `find_agent` searches their full descriptions." : "";
  return [`You may delegate to these agents.${search}`, "", text];
}

function advice({ limits, budget }: PromptFacts): string[] {
  return [
    "Delegate work over many files, or work that needs a fresh look. Do the work yourself if it is a question, one file or a",
    "few minutes of work, and whatever needs the user: an agent cannot ask the user.",
    "",
    "- Task: the goal and its reason, the exact paths, the known facts, and the parts to leave unchanged. One task is one outcome;",
    "  `success_criteria` says how to tell that it is reached.",
    `- Order: ${orderAdvice(limits.maxConcurrent)}`,
    "  In a batch, `after` names the tasks whose results a task needs. Never let two agents write the same file at once.",
    "- Context: `task_only` passes on nothing of your conversation, `summary` the gist, `full` all of it, which costs its",
    "  tokens again. Left out, the agent's own choice holds. Files go in `context_files`.",
    ...(budget.spawns === null
      ? []
      : [`- Number: ${runCount(budget.spawns)} below you in all, those of your agents and repeats included.`]),
    "",
    "A result is a claim: check it before you build on it. If it failed, find out why, and ask differently.",
  ];
}

function orderAdvice(concurrent: number): string {
  const one = "one `delegate` for each task, or one `delegate_batch` for all.";
  return concurrent === 1
    ? `${one} They run one after the other.`
    : `${one} Calls of one turn run at the same time, ${concurrent} at most.`;
}

function runCount(count: number): string {
  return count === 1 ? "1 run may be started" : `${count} runs may be started`;
}

/** Puts a text between tags. The text cannot contain the closing tag. */
function fenced(tag: string, text: string): string[] {
  return [`<${tag}>`, text.replaceAll(`</${tag}>`, `< /${tag}>`), `</${tag}>`];
}

function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  // Half of a surrogate pair is not valid text.
  return `${text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function formatDuration(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.floor(ms / 1_000))} s`;
  const seconds = Math.floor((ms % 60_000) / 1_000);
  return seconds === 0 ? `${Math.floor(ms / 60_000)} min` : `${Math.floor(ms / 60_000)} min ${seconds} s`;
}

/** The lower of two limits. Null means unlimited. */
function lowerOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
