import { reveal } from "./format.ts";

/** One part of a call's arguments, formatted for a person who must decide. */
export interface ArgumentBlock {
  /** The name of the argument; `null` for the block of the other arguments. */
  name: string | null;
  text: string;
}

/** Common names of the main argument, most important first. */
const mainNames = ["command", "cmd", "script", "path", "file_path", "filePath", "file", "filename", "url", "uri"];

/**
 * Formats the arguments of a call: first the command or path, then texts with several lines, then the rest as JSON. It
 * leaves nothing out and makes invisible characters visible (see `reveal`).
 *
 * @example
 * formatArguments({ timeout: 5, command: "ls" }); // [{ name: "command", text: "ls" }, { name: null, text: '{\n  "timeout": 5\n}' }]
 */
export function formatArguments(args: unknown): ArgumentBlock[] {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return args === null ? [] : [jsonBlock(args)];
  const entries = Object.entries(args);
  const mainName = mainNames.find((name) => entries.some(([key, value]) => key === name && isText(value)));
  const blocks: ArgumentBlock[] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of entries) {
    if (key === mainName) blocks.unshift({ name: reveal(key), text: reveal(String(value)) });
    else if (typeof value === "string" && value.includes("\n")) blocks.push({ name: reveal(key), text: reveal(value) });
    else rest.push([key, value]);
  }
  return rest.length === 0 ? blocks : [...blocks, jsonBlock(Object.fromEntries(rest))];
}

/** The first block of the arguments, for a row with one line. */
export function argumentsLine(args: unknown): string {
  const [first] = formatArguments(args);
  if (!first) return "";
  return first.name === null ? first.text.replaceAll(/\s+/g, " ") : first.text;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function jsonBlock(value: unknown): ArgumentBlock {
  return { name: null, text: reveal(JSON.stringify(value, null, 2)) };
}
