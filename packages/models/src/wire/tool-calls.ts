import type { Json, ToolCall } from "@troupe/core";
import { inlineBytesMax } from "@troupe/core/internal";

/** The longest arguments that are looked into: what is larger belongs into a file. */
export const argumentsCharactersMax = inlineBytesMax;

/**
 * A call's arguments as a model wrote them. What is no object of JSON is not kept but named: the model reads the problem
 * as its tool's error, and the rest of its reply stays what it is. Never throws.
 *
 * @example
 * readArguments('{"path":"a.md"}'); // { args: { path: "a.md" }, problem: null }
 * readArguments('{"path":'); // { args: null, problem: "its arguments are no JSON: …" }
 */
export function readArguments(text: string): Pick<ToolCall, "args" | "problem"> {
  if (text.trim() === "") return { args: {}, problem: null };
  if (text.length > argumentsCharactersMax) {
    return refused(
      `have ${text.length} characters; at most ${argumentsCharactersMax} are allowed: split the work, or write it to a file`,
    );
  }
  let args: Json;
  try {
    args = JSON.parse(text);
  } catch {
    return refused(`are no JSON, perhaps cut off: ${shown(text)}`);
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return refused(`have to be one object of JSON, not ${kindOf(args)}: ${shown(text)}`);
  }
  const flaw = flawIn(args);
  return flaw ? refused(flaw) : { args, problem: null };
}

function refused(why: string): Pick<ToolCall, "args" | "problem"> {
  return { args: null, problem: `its arguments ${why}` };
}

/** How deep arguments may be nested: far deeper, whoever goes into them by recursion falls over. */
const depthMax = 100;

/** Goes from level to level, so that no depth is too much for it. */
function flawIn(args: Json): string | null {
  let level: Json[] = [args];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return `are more than ${depthMax} levels deep: say it flatter`;
    for (const value of level) {
      const flaw = flawOf(value);
      if (flaw !== null) return flaw;
    }
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return null;
}

/** Of the value alone, not of what is in it. */
function flawOf(value: Json): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : halved;
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.includes("__proto__")) return "have a key `__proto__`, which no tool takes: leave it out";
  return keys.every((key) => key.isWellFormed()) ? null : halved;
}

const halved = "have half a character in them (a lone surrogate): write it whole";

function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** How much of broken arguments their writer is shown. */
const shownCharactersMax = 80;

function shown(text: string): string {
  return JSON.stringify(
    (text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text).toWellFormed(),
  );
}
