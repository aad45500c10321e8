import { ContextMode } from "../protocol/agent.ts";
import type { ModelReply } from "../protocol/model.ts";
import type { RunRequest, SpawnCommand } from "../protocol/request.ts";

/** The command at the beginning of a task that starts a sub-agent. */
export const spawnCommand = "/spawn";

/** The form of the command, for help and errors. */
export const spawnUsage = `${spawnCommand} AGENT [--context full|summary|task_only] TASK`;

/** The command as the user wrote it, with the agent's name as written; or the part that is missing. */
export type ReadSpawn = SpawnCommand | { problem: string };

/**
 * Reads a task that begins with `/spawn`; null for every other text, also for one with `/spawn` within it.
 *
 * @example
 * readSpawnCommand("/spawn researcher Find the licences"); // { agent: "researcher", task: "Find the licences" }
 * readSpawnCommand("explain /spawn"); // null
 */
export function readSpawnCommand(text: string): ReadSpawn | null {
  const [command, agent, ...rest] = splitWords(text, 2);
  if (command !== spawnCommand) return null;
  if (agent === undefined) return { problem: `${spawnCommand} needs an agent and a task` };
  const { context, task } = contextIn(rest[0] ?? "");
  const mode = SpawnContext.optional().safeParse(context);
  if (!mode.success) {
    const modes = SpawnContext.options.join(", ");
    return { problem: `${JSON.stringify(context)} is not a context for ${spawnCommand}; choose one of: ${modes}` };
  }
  if (task === "") return { problem: `${spawnCommand} ${agent} needs a task for the agent` };
  return { agent, task, ...(mode.data === undefined ? {} : { context: mode.data }) };
}

/** A person names no files here, so `selective` would pass nothing on. */
const SpawnContext = ContextMode.exclude(["selective"]);

/** The first words, and the text behind them as it is. */
function splitWords(text: string, count: number): string[] {
  const words: string[] = [];
  let rest = text.trim();
  while (words.length < count && rest !== "") {
    const [word = ""] = /^\S+/.exec(rest) ?? [];
    words.push(word);
    rest = rest.slice(word.length).trimStart();
  }
  return rest === "" ? words : [...words, rest];
}

/** The option before the task. Every other text with dashes belongs to the task. */
function contextIn(text: string): { context?: string; task: string } {
  const found = /^--context(?:=|\s+|$)(\S*)\s*/.exec(text);
  if (!found) return { task: text };
  const [option, context = ""] = found;
  return { context: context === "full_history" ? "full" : context, task: text.slice(option.length) };
}

/** Recorded as the model of the reply: no model was called for it. */
export const spawnModel = "command/spawn";

/**
 * The first reply of a run whose request begins with `/spawn`, in place of a model: the delegation. It is a call like those
 * of a model, so grants, limits and budgets hold.
 */
export function spawnReply({ agent, task, context }: SpawnCommand, request: Pick<RunRequest, "context">): ModelReply {
  const whole = request.context ? `${task}\n\nContext:\n${request.context}` : task;
  const args = { agent, task: whole, ...(context === undefined ? {} : { context }) };
  return {
    text: "",
    calls: [{ id: "spawn-1", name: "delegate", args, problem: null }],
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 },
    stopReason: "tool_calls",
    model: spawnModel,
  };
}
