import { reveal } from "./reveal.ts";

/** One part of a call's arguments, as somebody who has to decide reads it. */
export interface ArgumentBlock {
  /** The argument's name; `null` for all that has no block of its own. */
  name: string | null;
  text: string;
}

/** What a call is about, by the usual names of it, most telling first. */
const leads = ["command", "cmd", "script", "path", "file_path", "filePath", "file", "filename", "url", "uri"];

/**
 * A call's arguments for reading: the command or path first, then texts of several lines as they are, then the rest as
 * formatted JSON. Nothing is left out, and what cannot be seen is made visible (see `reveal`).
 *
 * @example
 * readArguments({ timeout: 5, command: "ls" }); // [{ name: "command", text: "ls" }, { name: null, text: '{\n  "timeout": 5\n}' }]
 */
export function readArguments(args: unknown): ArgumentBlock[] {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return args === null ? [] : [asJson(args)];
  const entries = Object.entries(args);
  const lead = leads.find((name) => entries.some(([key, value]) => key === name && isWords(value)));
  const blocks: ArgumentBlock[] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of entries) {
    if (key === lead) blocks.unshift({ name: reveal(key), text: reveal(String(value)) });
    else if (typeof value === "string" && value.includes("\n")) blocks.push({ name: reveal(key), text: reveal(value) });
    else rest.push([key, value]);
  }
  return rest.length === 0 ? blocks : [...blocks, asJson(Object.fromEntries(rest))];
}

/** The first words of what a call is about, for a row that has one line. */
export function argumentsLine(args: unknown): string {
  const [first] = readArguments(args);
  if (!first) return "";
  return first.name === null ? first.text.replaceAll(/\s+/g, " ") : first.text;
}

function isWords(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function asJson(value: unknown): ArgumentBlock {
  return { name: null, text: reveal(JSON.stringify(value, null, 2)) };
}
