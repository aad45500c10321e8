import type { AnthropicRequest, Block } from "./anthropic-request.ts";
import { Refusal } from "./refusal.ts";
import type { WireContext } from "./wire.ts";

const cacheBreakpointsMax = 4;

/** Consecutive messages of one role are one turn, as the API itself takes them. */
export interface Turn {
  role: "user" | "assistant" | "system";
  blocks: Block[];
}

type Prompt = Pick<AnthropicRequest, "messages" | "tools" | "tool_choice" | "system" | "cache_control">;

/** Rules beyond the schema. Throws a `Refusal` for a request that the API refuses. */
export function checkAnthropic(body: AnthropicRequest, context: WireContext): void {
  const model = context.catalog.find(body.model);
  if (!model) throw new Refusal(404, `model: ${body.model}`);
  if (body.max_tokens > model.outputTokensMax) {
    refuse(
      `max_tokens: ${body.max_tokens} > ${model.outputTokensMax}, which is the maximum allowed number of output tokens for ${body.model}`,
    );
  }
  checkThinkingSettings(body, model.thinking);
  checkPrompt(body);
  checkThoughts(body, turnsOf(body.messages), context);
  const last = body.messages.at(-1);
  if (last?.role === "assistant" && (model.thinking === "adaptive" || isThinking(body))) {
    refuse("This model does not support assistant message prefill. The conversation must end with a user message.");
  }
}

/** The rules that counting tokens has as well. */
export function checkPrompt(body: Prompt): void {
  checkTools(body);
  checkMessages(body);
  const breakpoints = cacheBreakpoints(body);
  if (breakpoints > cacheBreakpointsMax) {
    refuse(`A maximum of ${cacheBreakpointsMax} blocks with cache_control may be provided. Found ${breakpoints}.`);
  }
}

export function turnsOf(messages: AnthropicRequest["messages"]): Turn[] {
  const turns: Turn[] = [];
  for (const { role, content } of messages) {
    const blocks: Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }
  return turns;
}

export function isThinking({ thinking }: Pick<AnthropicRequest, "thinking">): boolean {
  return thinking?.type === "enabled" || thinking?.type === "adaptive";
}

function checkThinkingSettings(body: AnthropicRequest, supports: "none" | "manual" | "adaptive"): void {
  const { thinking, max_tokens, tool_choice } = body;
  const sampling = (["temperature", "top_p", "top_k"] as const).filter((name) => body[name] !== undefined);
  if (supports === "adaptive") {
    if (thinking?.type === "enabled") {
      refuse(
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      );
    }
    if (sampling[0]) refuse(`\`${sampling[0]}\` is deprecated for this model.`);
  }
  if (!isThinking(body)) return;
  if (supports === "none") refuse("thinking: this model does not support thinking");
  if (supports === "manual" && thinking?.type === "adaptive")
    refuse("adaptive thinking is not supported on this model");
  if (thinking?.type === "enabled" && thinking.budget_tokens >= max_tokens) {
    refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (body.temperature !== undefined && body.temperature !== 1) {
    refuse("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.");
  }
  if (body.top_k !== undefined) refuse("`top_k` must be unset when thinking is enabled or in adaptive mode.");
  if (body.top_p !== undefined && body.top_p < 0.95) {
    refuse("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.");
  }
  if (tool_choice?.type === "any" || tool_choice?.type === "tool") {
    refuse("Thinking may not be enabled when tool_choice forces tool use.");
  }
}

function checkTools({ tools = [], tool_choice, messages }: Prompt): void {
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) refuse("tools: Tool names must be unique.");
  if (tool_choice && tools.length === 0)
    refuse("tool_choice: tool_choice may only be specified while providing tools.");
  if (tool_choice?.type === "tool" && !names.includes(tool_choice.name)) {
    refuse(`Tool '${tool_choice.name}' not found in provided tools`);
  }
  const uses = messages.some(
    ({ content }) =>
      typeof content !== "string" && content.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (uses && tools.length === 0) {
    refuse("Requests which have `tool_use` or `tool_result` blocks in `messages` must define tools.");
  }
}

const blocksOf: Record<Turn["role"], readonly Block["type"][]> = {
  user: ["text", "image", "document", "tool_result"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking"],
  system: ["text"],
};

function checkMessages({ messages, system }: Prompt): void {
  if (messages.length === 0) refuse("messages: at least one message is required");
  if (messages[0]?.role !== "user") refuse('messages: first message must use the "user" role');
  if (Array.isArray(system) && system.some(({ text }) => text === ""))
    refuse("system: text content blocks must be non-empty");
  for (const [i, { role, content }] of messages.entries()) {
    const isFinalAssistant = role === "assistant" && i === messages.length - 1;
    if (content.length === 0 && !isFinalAssistant) {
      refuse(`messages.${i}: all messages must have non-empty content except for the optional final assistant message`);
    }
    if (role === "system" && messages[i - 1]?.role !== "user") {
      refuse(`messages.${i}: a message of role 'system' must come right after one of role 'user'`);
    }
    if (typeof content !== "string") checkBlocks(content, role, i);
    if (isFinalAssistant) checkPrefill(content);
  }
  checkCalls(messages);
}

function checkBlocks(blocks: readonly Block[], role: Turn["role"], i: number): void {
  for (const [k, block] of blocks.entries()) {
    const at = `messages.${i}.content.${k}`;
    if (!blocksOf[role].includes(block.type)) {
      refuse(`${at}: \`${block.type}\` blocks are not permitted in \`${role}\` messages`);
    }
    if (block.type === "text" && block.text === "") {
      if (block.cache_control) refuse(`${at}: cache_control cannot be set for empty text blocks`);
      refuse("messages: text content blocks must be non-empty");
    }
    if (block.type === "text" && block.text.trim() === "") {
      refuse("messages: text content blocks must contain non-whitespace text");
    }
  }
}

function checkPrefill(content: string | readonly Block[]): void {
  const last = typeof content === "string" ? content : content.at(-1);
  const text = typeof last === "string" ? last : last?.type === "text" ? last.text : "";
  if (/\s$/.test(text)) refuse("messages: final assistant content cannot end with trailing whitespace");
}

/** Every call has one result, first thing in the very next turn, and every result has its call. */
function checkCalls(messages: AnthropicRequest["messages"]): void {
  const turns = turnsOf(messages);
  const seen = new Set<string>();
  for (const [i, { role, blocks }] of turns.entries()) {
    if (role === "assistant") {
      for (const block of blocks) {
        if (block.type !== "tool_use") continue;
        if (seen.has(block.id)) refuse(`messages.${i}: \`tool_use\` ids must be unique`);
        seen.add(block.id);
      }
      checkAnswered(blocks, turns[i + 1], i);
    }
    if (role === "user") checkResults(blocks, turns[i - 1], i);
  }
}

function checkAnswered(blocks: readonly Block[], next: Turn | undefined, i: number): void {
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  if (calls.length === 0) return;
  const leading = next?.blocks.slice(0, next.blocks.findIndex(({ type }) => type !== "tool_result") >>> 0) ?? [];
  const answered = leading.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
  const missing = calls.filter((id) => !answered.includes(id));
  if (missing.length === 0) return;
  refuse(
    `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkResults(blocks: readonly Block[], before: Turn | undefined, i: number): void {
  const calls = new Set(before?.blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])));
  const answered = new Set<string>();
  for (const [k, block] of blocks.entries()) {
    if (block.type !== "tool_result") continue;
    if (!calls.has(block.tool_use_id)) {
      refuse(
        `messages.${i}.content.${k}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (answered.has(block.tool_use_id)) {
      refuse(
        `messages.${i}.content.${k}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${block.tool_use_id}`,
      );
    }
    answered.add(block.tool_use_id);
  }
}

/** Thoughts come back as they were; within a loop of tools none may be missing. */
function checkThoughts(body: AnthropicRequest, turns: readonly Turn[], { signatures: seal }: WireContext): void {
  for (const [i, { role, blocks }] of turns.entries()) {
    if (role !== "assistant") continue;
    for (const [k, block] of blocks.entries()) {
      const at = `messages.${i}.content.${k}`;
      if (block.type === "thinking" && block.signature !== seal.of(body.model, block.thinking)) {
        refuse(`${at}: Invalid \`signature\` in \`thinking\` block`);
      }
      if (block.type === "redacted_thinking" && !block.data.endsWith(seal.of(body.model, "redacted"))) {
        refuse(`${at}: Invalid \`data\` in \`redacted_thinking\` block`);
      }
    }
  }
  if (isThinking(body)) checkLoop(body, turns, seal);
}

/** The turns since the last words of a user: one loop of calls and results. */
function checkLoop({ thinking }: AnthropicRequest, turns: readonly Turn[], seal: WireContext["signatures"]): void {
  const begin = turns.findLastIndex(
    ({ role, blocks }) => role === "user" && !blocks.some(({ type }) => type === "tool_result"),
  );
  for (const [i, { role, blocks }] of turns.entries()) {
    if (i < begin || role !== "assistant") continue;
    const call = blocks.find((block) => block.type === "tool_use");
    if (call?.type !== "tool_use") continue;
    const [first] = blocks;
    const sealed =
      first?.type === "thinking" ? first.signature : first?.type === "redacted_thinking" ? first.data : null;
    const wanted = seal.before(call.id);
    if (sealed === null && (wanted !== undefined || thinking?.type === "enabled")) {
      refuse(
        `messages.${i}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
      );
    }
    if (sealed !== null && wanted !== undefined && sealed !== wanted) {
      refuse(
        `messages.${i}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
      );
    }
  }
}

function cacheBreakpoints({ messages, tools = [], system, cache_control }: Prompt): number {
  const marked = [
    ...tools,
    ...(Array.isArray(system) ? system : []),
    ...messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)),
    { cache_control },
  ];
  return marked.filter((block) => "cache_control" in block && block.cache_control).length;
}

function refuse(message: string): never {
  throw new Refusal(400, message);
}
