import { stripVTControlCharacters } from "node:util";

/** C0 without tab and newline, DEL, C1, and what reorders text for the eye (bidi overrides and isolates). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is what this is for
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of an agent, a model or a file, made harmless for a terminal: no escape sequence and no control character is
 * left but tab and newline. All text that is not ours goes through this before it is shown.
 */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replace(unsafe, "");
}

/** The same in one line: white space of any kind and length becomes one space. */
export function cleanLine(text: string): string {
  return cleanText(text.replaceAll("\r", " ")).replace(/\s+/g, " ").trim();
}

/** All that does not show by itself, or shows as something else: controls, format characters, line separators. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * JSON for a person who has to decide by it. Nothing is left out, and nothing can hide: what does not show by itself
 * is written as an escape.
 */
export function visibleJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(invisible, (character) => (character === "\n" ? character : escapeAll(character)));
}

function escapeAll(character: string): string {
  return character.split("").map(escapeUnit).join("");
}

/** One line of JSON that a terminal can be shown: C1 controls and DEL, which JSON leaves alone, are escaped as well. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
