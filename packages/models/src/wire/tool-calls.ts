import { createHash } from "node:crypto";
import type { Json, ToolCall, ToolSpec } from "@troupe/core";
import { inlineBytesMax } from "@troupe/core/internal";

const apiName = /^[a-zA-Z0-9_-]{1,64}$/;
const hashCharacters = 8;

/**
 * A tool's name in the form that the vendors' APIs accept. A name that they refuse is shortened and gets a hash, so that
 * two names never collide. The result is deterministic.
 */
export function wireNameOf(name: string): string {
  if (apiName.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashCharacters);
  const stem = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64 - hashCharacters - 1);
  return `${stem}_${hash}`;
}

/** The names of these tools, by their wire names. */
export function namesByWire(tools: readonly ToolSpec[]): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name }) => [wireNameOf(name), name]));
}

/** Longer arguments are refused: large content belongs in a file. */
export const argumentsCharactersMax = inlineBytesMax;

/**
 * Parses the arguments of a call as the model wrote them. Invalid arguments become a `problem`, which the model reads as
 * the error of this one call; the rest of its reply stays valid. Never throws.
 *
 * @example
 * readArguments('{"path":"a.md"}'); // { args: { path: "a.md" }, problem: null }
 * readArguments('{"path":'); // { args: null, problem: "its arguments are not valid JSON, …" }
 */
export function readArguments(text: string): Pick<ToolCall, "args" | "problem"> {
  if (text.trim() === "") return { args: {}, problem: null };
  if (text.length > argumentsCharactersMax) {
    return refused(
      `have ${text.length} characters; the limit is ${argumentsCharactersMax}: split the work, or write it to a file`,
    );
  }
  let args: Json;
  try {
    args = JSON.parse(text);
  } catch {
    return refused(`are not valid JSON, perhaps cut off: ${excerpt(text)}`);
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return refused(`must be one JSON object, not ${kindOf(args)}: ${excerpt(text)}`);
  }
  const problem = problemIn(args);
  return problem ? refused(problem) : { args, problem: null };
}

function refused(reason: string): Pick<ToolCall, "args" | "problem"> {
  return { args: null, problem: `its arguments ${reason}` };
}

/** Recursive code overflows its stack on arguments that are nested far deeper. */
const depthMax = 100;

/** Visits level by level, so that the depth of the arguments cannot overflow the stack here. */
function problemIn(args: Json): string | null {
  let level: Json[] = [args];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return `are more than ${depthMax} levels deep: use fewer levels`;
    for (const value of level) {
      const problem = problemOf(value);
      if (problem !== null) return problem;
    }
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return null;
}

/** The problem of this value alone, without its children. */
function problemOf(value: Json): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : loneSurrogate;
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.includes("__proto__")) return "have a key `__proto__`, which no tool accepts: remove it";
  return keys.every((key) => key.isWellFormed()) ? null : loneSurrogate;
}

const loneSurrogate = "contain half a character (a lone surrogate): write the whole character";

function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

const excerptCharactersMax = 80;

function excerpt(text: string): string {
  return JSON.stringify(
    (text.length > excerptCharactersMax ? `${text.slice(0, excerptCharactersMax)}…` : text).toWellFormed(),
  );
}
