import { inlineBytesMax, type ToolCall } from "@troupe/core";

/** How deep arguments may be nested: far deeper, whoever goes into them by recursion falls over. */
const depthMax = 100;

/**
 * The arguments of a call, from the text that a model wrote for them. Whatever is wrong with it becomes the call's
 * problem, which the model reads as the result of its call: it is no reason to lose the rest of the reply.
 */
export function readToolArguments(text: string): Pick<ToolCall, "args" | "problem"> {
  if (text.trim() === "") return { args: {}, problem: null };
  const bytes = Buffer.byteLength(text);
  if (bytes > inlineBytesMax) {
    return refused(`its arguments have ${bytes} bytes; at most ${inlineBytesMax} are allowed: split the work`);
  }
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch (error) {
    return refused(`its arguments are not JSON: ${(error as Error).message.toWellFormed()}`);
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return refused(`its arguments are ${kindOf(args)}; they must be an object of JSON`);
  }
  const problem = problemWithin(args);
  return problem === null ? { args: args as ToolCall["args"], problem: null } : refused(problem);
}

function refused(problem: string): Pick<ToolCall, "args" | "problem"> {
  return { args: null, problem };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** Goes from level to level, so that no depth is too much for it. */
function problemWithin(args: object): string | null {
  let level: unknown[] = [args];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return `its arguments are more than ${depthMax} levels deep: say it flatter`;
    for (const value of level) {
      const problem = problemOf(value);
      if (problem !== null) return problem;
    }
    level = level.flatMap((value) => (isBranch(value) ? Object.values(value) : []));
  }
  return null;
}

/** Of the value alone, not of what is in it. */
function problemOf(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : brokenText;
  const keys = isBranch(value) ? Object.keys(value) : [];
  if (keys.includes("__proto__")) return 'its arguments have a key "__proto__", which no tool takes';
  return keys.every((key) => key.isWellFormed()) ? null : brokenText;
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** It would not survive being stored, and no model's API takes it back. */
const brokenText = "its arguments have half of a character (a lone surrogate): write the character whole";
