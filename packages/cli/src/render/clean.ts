import { stripVTControlCharacters } from "node:util";

/** C0 except tab and newline, DEL, C1, and characters that reorder text (bidi marks, overrides and isolates). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes text of an agent, a model or a file safe for a terminal: removes escape sequences and all control characters except
 * tab and newline. All text from outside troupe passes through it before display.
 */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replace(unsafe, "");
}

/** The same in one line: every run of white space becomes one space. */
export function cleanLine(text: string): string {
  return cleanText(text.replaceAll("\r", " ")).replace(/\s+/g, " ").trim();
}

/** Characters that are invisible or look like others: controls, format characters, line separators. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * JSON for a person who decides about it. It is complete, and invisible characters are written as escapes.
 */
export function visibleJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(invisible, (character) => (character === "\n" ? character : escapeAll(character)));
}

function escapeAll(character: string): string {
  return character.split("").map(escapeUnit).join("");
}

/** One line of JSON that is safe for a terminal: it also escapes C1 controls and DEL, which JSON does not. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
